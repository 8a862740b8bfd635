import type { WireAnswer } from '../src/api/index.ts'
import { defineCommand } from '../src/cli/command.ts'
import { usage } from '../src/cli/exit.ts'
import type { Io } from '../src/cli/io.ts'
import { type Column, printRows } from '../src/cli/output.ts'
import * as z from '../src/cli/params.ts'
import { isAddress } from '../src/core/hex.ts'
import { bold, green, red } from '../src/text/text.ts'

type Screened = {
  readonly wallet: string
  readonly sanctioned: boolean
  readonly listed: boolean
  readonly manual: boolean
  readonly reason: string | null
}

const columns: readonly Column<Screened>[] = [
  {
    title: 'VERDICT',
    value: ({ sanctioned }) => (sanctioned ? `${red('✗')} sanctioned` : `${green('✓')} clear`),
    plain: ({ sanctioned }) => sanctioned,
  },
  { title: 'WALLET', value: ({ wallet }) => wallet },
  {
    title: 'BY',
    value: ({ listed, manual }) => [listed ? 'list' : '', manual ? 'hand' : ''].filter(Boolean).join(', ') || null,
    drop: 1,
  },
  { title: 'WHY', value: ({ reason }) => reason, flexible: true, drop: 2 },
]

export const complianceScreen = defineCommand({
  name: 'compliance screen',
  summary: 'check wallets against the sanctions list',
  description: 'Needs the admin key of the instance. Wallets are sent to that instance only.',
  args: z.object({ wallets: z.array(z.string()).min(1).meta({ description: 'wallet addresses to check' }) }),
  options: z.object({ exitStatus: z.flag({ description: 'exit with code 12 if a wallet is sanctioned' }) }),
  examples: [
    'souk compliance screen 0x00000000000000000000000000000000000000aa',
    'souk compliance screen 0x00000000000000000000000000000000000000aa 0x00000000000000000000000000000000000000bb --json',
  ],
  async run(context) {
    const wallets = context.args.wallets
    const stranger = wallets.find((wallet) => !isAddress(wallet))
    if (stranger !== undefined) throw usage(`An address is 0x and 40 hex digits; you gave "${stranger}".`)
    const session = await context.session()
    const screened: Screened[] = []
    for (const wallet of wallets) {
      const { wallets: found } = await session.call('listSanctions', { query: { wallet } })
      const [row] = found
      screened.push({
        wallet,
        sanctioned: row !== undefined,
        listed: row?.listed ?? false,
        manual: row?.manual ?? false,
        reason: row?.reason ?? null,
      })
    }
    if (context.options.exitStatus && screened.some(({ sanctioned }) => sanctioned)) context.exit('compliance')
    return { screened }
  },
  rows: ({ screened }) => screened,
  columns,
  view: ({ screened }, io) => printRows(io, columns, screened),
})

type Health = WireAnswer<'getHealth'>

export const complianceShow = defineCommand({
  name: 'compliance show',
  summary: 'show the sanctions list and refused requests',
  isDefault: true,
  options: z.object({ exitStatus: z.flag({ description: 'exit with code 11 if the list is stale or was rejected' }) }),
  examples: ['souk compliance', 'souk compliance show --exit-status --json'],
  async run(context) {
    const { compliance, launch } = await (await context.session()).call('getHealth', {})
    const { sdn } = compliance
    if (context.options.exitStatus && (sdn.stale || sdn.last_status !== 'ok')) context.exit('check_failed')
    return { sdn, gate_refusals_24h: launch.gate_refusals_24h, shelved_410_24h: launch.shelved_410_24h }
  },
  view({ sdn, gate_refusals_24h: refusals, shelved_410_24h: shelved }, io) {
    viewList(io, sdn)
    io.line(bold('Refused in the last 24 hours'))
    const counts = Object.entries(refusals)
    for (const [reason, count] of counts) io.line(`  ${reason}   ${count}`)
    for (const [area, callers] of Object.entries(shelved)) {
      const sum = Object.values(callers).reduce((total, count) => total + count, 0)
      if (sum > 0) io.line(`  410 ${area}   ${sum}`)
    }
    if (counts.length === 0) io.note('  nothing')
  },
})

function viewList(io: Io, sdn: Health['compliance']['sdn']): void {
  const isGood = !sdn.stale && sdn.last_status === 'ok'
  io.line(`${isGood ? green('✓') : red('✗')} ${bold(sdn.source)}   ${sdn.last_status}${sdn.stale ? '   stale' : ''}`)
  io.line(`  published     ${sdn.ofac_publish_date ?? '—'}`)
  io.line(`  last checked  ${sdn.last_checked ?? 'never'}`)
  io.line(`  last changed  ${sdn.last_updated ?? 'never'}   ${sdn.added} new`)
  io.line(`  wallets       ${sdn.total}: ${sdn.ofac_evm_count} on the list, ${sdn.manual_only} only added by hand`)
}
