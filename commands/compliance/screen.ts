import { defineCommand } from '../../src/cli/command.ts'
import { usage } from '../../src/cli/exit.ts'
import { type Column, printRows } from '../../src/cli/output.ts'
import * as z from '../../src/cli/params.ts'
import { isAddress } from '../../src/core/hex.ts'
import { green, red } from '../../src/text/text.ts'

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

export const command = defineCommand({
  name: 'compliance screen',
  summary: 'check wallets against the sanctions list',
  description: 'Needs the admin key of the instance. Wallets are sent to that instance only.',
  args: z.object({ wallets: z.array(z.string()).min(1).meta({ description: 'wallet addresses to check' }) }),
  options: z.object({
    exitStatus: z.boolean().default(false).meta({ description: 'exit with code 12 if a wallet is sanctioned' }),
  }),
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
