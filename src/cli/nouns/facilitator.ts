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

/**
 * A literal of whatever an instance says, for code that people will run: nothing of it can end the string, break the
 * line, or look like another character.
 */
function quoted(value: string): string {
  const inside = JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")
  return `'${inside.replace(NOT_ASCII, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)}'`
}

const NOT_ASCII = /[^\x20-\x7e]/g

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

${keyless ? '' : KEY}const facilitator = new HTTPFacilitatorClient({ url: ${quoted(url)}${keyless ? '' : ', createAuthHeaders'} })
const server = new x402ResourceServer(facilitator).register(${quoted(caip2)}, new ExactEvmScheme())
const payTo = process.env.PAY_TO // your wallet
const price = { amount: '10000', asset: ${quoted(address)}, extra: { name: ${quoted(name)}, version: ${quoted(version)} } }

const app = express()
app.use(
  paymentMiddleware(
    { 'GET /hello': { accepts: { scheme: 'exact', network: ${quoted(caip2)}, payTo, price }, description: 'A greeting' } },
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

${keyless ? '' : KEY}const facilitator = { url: ${quoted(url)}${keyless ? '' : ', createAuthHeaders'} }
const payTo = process.env.PAY_TO // your wallet
const asset = { address: ${quoted(address)}, decimals: ${Number(decimals)}, eip712: { name: ${quoted(name)}, version: ${quoted(version)} } }
const price = { amount: '10000', asset }

const app = express()
app.use(
  paymentMiddleware(payTo, { 'GET /hello': { price, network: ${quoted(network)}, config: { description: 'A greeting' } } }, facilitator),
)
${SERVED}`
}
