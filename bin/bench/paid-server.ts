import { type FacilitatorClient, x402ResourceServer } from '@x402/core/server'
import { ExactEvmScheme } from '@x402/evm/exact/server'
import express from 'express'
import { load as outside } from '../../fixtures/outside/load.ts'

export const NETWORK = 'eip155:8453'
const AMOUNT = '1000'

type Offered = { readonly asset: string; readonly payTo: string; readonly answer: unknown }

/** The published x402 server with one paid route, as its documentation builds it. */
export async function paidServer(
  client: FacilitatorClient,
  { asset, payTo, answer }: Offered,
): Promise<express.Express> {
  const { paymentMiddleware } = await outside('@x402/express')
  const price = { asset, amount: AMOUNT, extra: { name: 'USD Coin', version: '2' } }
  const accepts = { scheme: 'exact', price, network: NETWORK, payTo } as const
  const resources = new x402ResourceServer(client).register(NETWORK, new ExactEvmScheme())
  const app = express()
  app.use(paymentMiddleware({ 'GET /paid': { accepts, description: 'one fixed answer' } }, resources))
  app.get('/paid', (_req, res) => {
    res.json(answer)
  })
  return app
}
