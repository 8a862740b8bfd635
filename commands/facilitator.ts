import type { WireAnswer } from '../src/api/index.ts'
import { defineCommand } from '../src/cli/command.ts'
import { listCommand } from '../src/cli/nouns/lists.ts'
import { type Column, printRows } from '../src/cli/output.ts'
import * as z from '../src/cli/params.ts'
import { facilitatedStates } from '../src/model/payment.ts'
import * as column from '../src/nouns/columns.ts'
import { listing } from '../src/nouns/noun.ts'
import { bold, cyan, green, yellow } from '../src/text/text.ts'

const settlements = listing({
  list: 'listFacilitatedSettlements',
  rows: 'settlements',
  none: 'none',
  columns: [
    column.time('CREATED', ({ created_at: at }) => at),
    column.money('AMOUNT', ({ amount }) => `$${amount}`, { plain: ({ amount }) => amount }),
    column.word('STATE', ({ state }) => state),
    column.word('SELLER', ({ seller }) => seller, { drop: 1 }),
    column.word('TO', ({ pay_to: to }) => to, { drop: 4 }),
    column.word('FROM', ({ payer }) => payer, { drop: 3 }),
    column.name('FOR', ({ resource }) => resource, { drop: 2 }),
    column.word('TRANSACTION', ({ transaction }) => transaction, { drop: 5 }),
  ],
})

export const facilitatorList = listCommand(settlements, {
  name: 'facilitator list',
  summary: 'list settlements made for other servers, newest first',
  description:
    'States: sent (waiting for the chain), settled (money moved, server not informed yet), handing (informing the server), handed (server informed). Needs the admin key of the instance.',
  options: { state: z.choice(facilitatedStates, { description: 'only in this state', value: 'state' }) },
  examples: ['souk facilitator list', 'souk facilitator list --state settled --json'],
})

const sellersColumns: readonly Column<WireAnswer<'listFacilitatedSettlements'>['today'][number]>[] = [
  { title: 'SELLER', value: ({ seller }) => seller },
  { title: 'SETTLED', value: ({ settlements }) => String(settlements), align: 'right' },
  { title: 'GAS', value: ({ gas }) => String(gas), align: 'right' },
]

export const facilitatorSellers = defineCommand({
  name: 'facilitator sellers',
  summary: 'list the settlements of each API key today, busiest key first',
  description:
    'Each key belongs to a registered participant. To replace a key, its participant rotates it; to block it, suspend the participant. Needs the admin key of the instance.',
  examples: ['souk facilitator sellers', 'souk facilitator sellers --json'],
  async run(context) {
    const { today, daily_gas } = await (await context.session()).call('listFacilitatedSettlements', {
      query: { limit: '1' },
    })
    return { sellers: today, daily_gas }
  },
  rows: ({ sellers }) => sellers,
  columns: sellersColumns,
  view({ sellers, daily_gas: most }, io) {
    printRows(io, sellersColumns, sellers)
    io.note(sellers.length === 0 ? 'no settlements today (UTC)' : `limit per key: ${most} gas a day (UTC)`)
  },
})

const packages = ['@x402/express', 'x402-express'] as const

export const facilitatorShow = defineCommand({
  name: 'facilitator show',
  summary: 'print the server code that uses this facilitator',
  description:
    'A facilitator verifies and settles x402 payments for other servers. Needs the admin key of the instance.',
  isDefault: true,
  options: z.object({
    server: z
      .enum(packages)
      .default('@x402/express')
      .meta({ description: 'package that the server uses', value: 'package' }),
    codeOnly: z.flag({ description: 'print only the server code' }),
  }),
  examples: ['souk facilitator', 'souk facilitator show --server x402-express --code-only', 'souk facilitator --json'],
  async run(context) {
    const { server, codeOnly } = context.options
    const page = await (await context.session()).call('listFacilitatedSettlements', { query: { limit: '1' } })
    const { settlements: _, limit: __, offset: ___, total, ...facts } = page
    return {
      ...facts,
      total,
      server,
      code: serversOf(facts)[server],
      ...(codeOnly ? { code_only: true as const } : {}),
    }
  },
  view(data, io) {
    // Generates the code again, because the lines of the text in the response were joined for display.
    const code = serversOf(data)[data.server].trimEnd()
    if (data.code_only) return io.line(code)
    if (!data.enabled) {
      io.line(`${yellow('!')} the facilitator is off   ${cyan(io.hint('souk restart --facilitator on'))}`)
      io.line(`  example server for this facilitator (${data.server}):`)
    } else {
      io.line(`${green('✓')} ${bold(data.url)}   x402 v1 and v2 on ${data.network} (${data.caip2})`)
      io.line(
        `  keys      ${data.keyless ? 'none needed on this machine' : 'the API key of a participant, as Authorization: Bearer'}`,
      )
      if (!data.keyless) {
        io.line(`  pays      the wallet of the key${data.pay_to.map((wallet) => `, ${wallet}`).join('')}`)
        io.line(`  limits    at least $${data.min_value}, ${data.daily_gas} gas per key and day`)
      }
      io.line(`  settled   ${data.total}   ${cyan(io.hint('souk facilitator list'))}`)
      for (const { seller, network, asset, count } of data.wrong_tokens) {
        io.line(
          `${yellow('!')} ${seller} requested settlement of ${asset} on ${network} ${count} times, but this chain uses another token`,
        )
      }
      io.line(`  server    ${data.server}:`)
    }
    io.line('')
    io.line(code)
  },
})

export type FacilitatorFacts = Pick<
  WireAnswer<'listFacilitatedSettlements'>,
  'url' | 'keyless' | 'network' | 'caip2' | 'asset'
>

/** Complete example servers, one for each generation of the published x402 package. */
export function serversOf(facts: FacilitatorFacts) {
  return { '@x402/express': expressServer(facts), 'x402-express': earlierServer(facts) }
}

/** Quotes untrusted text as a string literal, so that it cannot end the literal or the line, or hide characters. */
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
