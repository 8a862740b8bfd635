import { defineCommand } from '../../src/cli/command.ts'
import * as z from '../../src/cli/params.ts'
import { bold, cyan, green, red, yellow } from '../../src/text/text.ts'

const signs = { ok: green('✓'), degraded: yellow('!'), down: red('✗') } as const

const WEI_IN_MICROETHER = 1_000_000_000_000n
const MICROETHER = 1_000_000

/** Rounded down to six decimals, for people; the exact wei is in the JSON. */
const etherOf = (wei: string) => Number(BigInt(wei) / WEI_IN_MICROETHER) / MICROETHER

export const command = defineCommand({
  name: 'chain status',
  summary: 'show chain status: head, nodes, gas key, pending transactions',
  description:
    'While the chain is down, no one is asked to sign; signed transactions continue when it is back. In the sandbox, the chain is a ledger inside the store. Needs the admin key of the instance.',
  isDefault: true,
  options: z.object({
    exitStatus: z
      .boolean()
      .default(false)
      .meta({ description: 'exit with code 11 unless the chain works and the books agree' }),
  }),
  examples: ['souk chain', 'souk chain status --json', 'souk chain status --exit-status'],
  async run(context) {
    const page = await (await context.session()).call('getChain', { query: { limit: '1' } })
    const { transactions: _, limit: __, offset: ___, total: open, ...facts } = page
    if (context.options.exitStatus && (facts.health !== 'ok' || facts.books?.ok === false)) context.exit('check_failed')
    return { ...facts, open }
  },
  view({ mode, network, caip2, health, head, nodes, gas_key: gas, queue, books, faults, ...rest }, io) {
    const age = head === null ? 'no block seen yet' : `block ${head.block}, ${head.age_seconds} s old`
    io.line(`${signs[health]} ${bold(mode)}   ${network} (${caip2})   ${age}`)
    for (const { sentence } of faults) io.line(`  ${yellow('!')} ${sentence}`)
    for (const { node, head: seen, error } of nodes) {
      io.line(`  node      ${node}   ${error === null ? `${green('✓')} at ${seen ?? '—'}` : `${red('✗')} ${error}`}`)
    }
    if (gas !== null) io.line(`  gas key   ${gas.address}   ${etherOf(gas.wei)} ETH, about ${gas.payments} payments`)
    const { waiting, in_flight: flying, oldest_seconds: oldest } = queue
    const since = oldest === null ? '' : `, the oldest for ${oldest} s`
    io.line(`  queue     ${waiting} wait, ${flying} in no block${since}   ${cyan(io.hint('souk chain queue'))}`)
    io.line(`  undone    ${queue.reorged} sent again after a reorganisation, ${queue.reversed} lost permanently`)
    if (books !== null) io.line(`  books     ${books.ok ? green('✓') : red('✗')} ${books.detail}`)
    io.line(`  pays to   ${rest.pay_to}   asset ${rest.asset}`)
  },
})
