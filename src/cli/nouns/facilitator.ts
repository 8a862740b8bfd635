import type { WireAnswer } from '../../api/endpoint/define.ts'
import type { Api } from '../../api/index.ts'

export type FacilitatorFacts = Pick<
  WireAnswer<Api['listFacilitatedSettlements']>,
  'url' | 'keyless' | 'network' | 'caip2' | 'asset'
>

/** A server of each published generation that settles here, whole: it runs as it stands. */
export function serversOf(facts: FacilitatorFacts) {
  return { '@x402/express': expressServer(facts), 'x402-express': earlierServer(facts) }
}

const SERVED = `app.get('/hello', (_req, res) => res.json({ hello: 'paid' }))

const listener = app.listen(Number(process.env.PORT ?? 4021), () => {
  console.log(\`http://localhost:\${listener.address().port}/hello costs one cent\`)
})
`

const KEY = `const key = { Authorization: \`Bearer \${process.env.SOUK_API_KEY}\` } // of your registration there
const createAuthHeaders = async () => ({ verify: key, settle: key, supported: key, bazaar: key, list: key })
`

function expressServer({ url, keyless, caip2, asset }: FacilitatorFacts): string {
  const { address, name, version } = asset
  return `// npm install express@5 @x402/express@2.27.0 @x402/core@2.27.0 @x402/evm@2.27.0
import { HTTPFacilitatorClient } from '@x402/core/server'
import { ExactEvmScheme } from '@x402/evm/exact/server'
import { paymentMiddleware, x402ResourceServer } from '@x402/express'
import express from 'express'

${keyless ? '' : KEY}const facilitator = new HTTPFacilitatorClient({ url: '${url}'${keyless ? '' : ', createAuthHeaders'} })
const server = new x402ResourceServer(facilitator).register('${caip2}', new ExactEvmScheme())
const payTo = process.env.PAY_TO // your wallet
const price = { amount: '10000', asset: '${address}', extra: { name: '${name}', version: '${version}' } }

const app = express()
app.use(
  paymentMiddleware(
    { 'GET /hello': { accepts: { scheme: 'exact', network: '${caip2}', payTo, price }, description: 'A greeting' } },
    server,
  ),
)
${SERVED}`
}

function earlierServer({ url, keyless, network, asset }: FacilitatorFacts): string {
  const { address, name, version, decimals } = asset
  return `// npm install express@4 x402-express@1.2.0
import express from 'express'
import { paymentMiddleware } from 'x402-express'

${keyless ? '' : KEY}const facilitator = { url: '${url}'${keyless ? '' : ', createAuthHeaders'} }
const payTo = process.env.PAY_TO // your wallet
const asset = { address: '${address}', decimals: ${decimals}, eip712: { name: '${name}', version: '${version}' } }
const price = { amount: '10000', asset }

const app = express()
app.use(
  paymentMiddleware(payTo, { 'GET /hello': { price, network: '${network}', config: { description: 'A greeting' } } }, facilitator),
)
${SERVED}`
}
