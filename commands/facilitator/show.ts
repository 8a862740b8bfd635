import { defineCommand } from '../../src/cli/command.ts'
import { serversOf } from '../../src/cli/nouns/facilitator.ts'
import * as z from '../../src/cli/params.ts'
import { bold, cyan, green, yellow } from '../../src/text/text.ts'

const packages = ['@x402/express', 'x402-express'] as const

export const command = defineCommand({
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
    codeOnly: z.boolean().default(false).meta({ description: 'print only the server code' }),
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
    // Made again, of what may be shown: as one text of the answer its lines would be joined.
    const code = serversOf(data)[data.server].trimEnd()
    if (data.code_only) return io.line(code)
    if (!data.enabled) {
      io.line(`${yellow('!')} it is off   ${cyan(io.hint('souk restart --facilitator on'))}`)
      io.line(`  a server that settles here once it is on (${data.server}):`)
    } else {
      io.line(`${green('✓')} ${bold(data.url)}   x402 v1 and v2 on ${data.network} (${data.caip2})`)
      io.line(
        `  keys      ${data.keyless ? 'none needed on this machine' : 'the API key of a participant, as Authorization: Bearer'}`,
      )
      if (!data.keyless) {
        io.line(`  pays      the wallet of the key${data.pay_to.map((wallet) => `, ${wallet}`).join('')}`)
        io.line(`  bounds    from $${data.min_value}, ${data.daily_gas} gas a key and day`)
      }
      io.line(`  settled   ${data.total}   ${cyan(io.hint('souk facilitator list'))}`)
      for (const { seller, network, asset, count } of data.wrong_tokens) {
        io.line(
          `${yellow('!')} ${seller} asked ${count} times to settle ${asset} on ${network}: not the token of this chain`,
        )
      }
      io.line(`  server    ${data.server}:`)
    }
    io.line('')
    io.line(code)
  },
})
