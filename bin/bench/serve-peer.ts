import { x402Facilitator } from '@x402/core/facilitator'
import { type FacilitatorClient, x402ResourceServer } from '@x402/core/server'
import { toFacilitatorEvmSigner } from '@x402/evm'
import { ExactEvmScheme as FacilitatorScheme } from '@x402/evm/exact/facilitator'
import { ExactEvmScheme } from '@x402/evm/exact/server'
import express from 'express'
import { createPublicClient, http } from 'viem'
import { base } from 'viem/chains'
import { load as outside } from '../../fixtures/outside/load.ts'
import { argument, serveHttp } from './serve.ts'

// The published x402 server: it verifies each payment, keeps nothing, and its settlement is a stub.
const { asset, payTo, rpc, answer } = argument<{
  asset: `0x${string}`
  payTo: string
  /** JSON-RPC address of the chain; without one the chain is a few functions in memory. */
  rpc?: string
  answer: unknown
}>()
const NETWORK = 'eip155:8453'
const AMOUNT = '1000'
const STUB_TRANSACTION = `0x${'11'.repeat(32)}`

type Signer = Parameters<typeof toFacilitatorEvmSigner>[0]

const facilitator = new x402Facilitator().register(
  NETWORK,
  new FacilitatorScheme(toFacilitatorEvmSigner(rpc === undefined ? memoryChain() : rpcChain(rpc))),
)
const client: FacilitatorClient = {
  verify: (payload, requirements) => facilitator.verify(payload, requirements),
  settle: async () => ({ success: true, transaction: STUB_TRANSACTION, network: NETWORK }),
  getSupported: async () => facilitator.getSupported() as Awaited<ReturnType<FacilitatorClient['getSupported']>>, // its networks are plain strings
}
const { paymentMiddleware } = await outside('@x402/express')
const price = { asset, amount: AMOUNT, extra: { name: 'USD Coin', version: '2' } }
const accepts = { scheme: 'exact', price, network: NETWORK, payTo } as const
const resources = new x402ResourceServer(client).register(NETWORK, new ExactEvmScheme())
const app = express()
app.use(paymentMiddleware({ 'GET /paid': { accepts, description: 'one fixed answer' } }, resources))
app.get('/paid', (_req, res) => {
  res.json(answer)
})
await serveHttp(app)

function rpcChain(url: string): Signer {
  const chain = createPublicClient({ chain: base, transport: http(url) })
  return { ...memoryChain(), getCode: chain.getCode, readContract: (call) => chain.readContract(call) }
}

function memoryChain(): Signer {
  return {
    address: '0x00000000000000000000000000000000000000aa',
    getCode: async ({ address }) => (address.toLowerCase() === asset.toLowerCase() ? '0x60' : undefined),
    readContract: async () => undefined,
    verifyTypedData: never,
    writeContract: never,
    sendTransaction: never,
    waitForTransactionReceipt: never,
  }
}

/** Verification recovers the signer itself, and settlement is stubbed above. */
async function never(): Promise<never> {
  throw new Error('verification alone does not ask for this')
}
