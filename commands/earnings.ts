import { z } from 'zod'
import type { WireAnswer } from '../src/api/endpoint/define.ts'
import type { Api } from '../src/api/index.ts'
import { type CommandContext, defineCommand } from '../src/cli/command.ts'
import { Duration } from '../src/cli/duration.ts'
import type { Io } from '../src/cli/io.ts'
import { type Column, printRows } from '../src/cli/output.ts'
import * as params from '../src/cli/params.ts'
import { formatAmount, parseAmount, type Usdc, usdc, ZERO } from '../src/core/money.ts'
import { bold } from '../src/text/text.ts'

type Summary = WireAnswer<Api['getEarnings']>
type Settlement = Summary['recent_settlements'][number]

type Period = { readonly since: string | null; readonly until: string; readonly earned: string; readonly sales: Sale[] }

const WHY: Readonly<Record<Summary['waiting'][number]['reason'], string>> = {
  undelivered: 'paid, not delivered yet',
  in_review: 'delivered; the buyer may still dispute it',
  disputed: 'disputed; waiting for the ruling',
  release_due: 'accepted; the next escrow run releases it',
  escrow_paused: 'accepted; the operator has paused escrow',
  scheduled: 'earned; the next settlement pays it in full, without a minimum',
  payout_first: 'earned; waiting for an earlier payout to your wallet',
  on_its_way: 'on its way to your wallet',
  no_key: 'payout created; the marketplace has no key to sign it, and its operator was notified',
  paused: 'earned; the marketplace is paused',
  settlement_paused: 'earned; the operator has paused settlements',
  suspended: 'earned; you are suspended',
  sanctioned: 'withheld: your wallet is on a sanctions list',
  unscreened: 'earned; held because no sanctions list is loaded to check your wallet',
}

const Sale = z.object({
  id: z.string(),
  role: z.string(),
  amount: z.string(),
  reference: z.object({ kind: z.string(), id: z.string() }),
  created_at: z.string(),
})
type Sale = z.output<typeof Sale>
const Start = z.object({ as_of: z.string() })

const columns: readonly Column<Settlement | Sale>[] = [
  { title: 'WHEN', value: ({ created_at }) => created_at },
  { title: 'AMOUNT', value: (row) => `$${amountOf(row)}`, plain: amountOf, align: 'right' },
  { title: 'STATUS', value: (row) => ('status' in row ? row.status : 'earned') },
  { title: 'JOB', value: (row) => ('reference' in row ? row.reference.id : row.job_id), drop: 1 },
  { title: 'TRANSACTION', value: (row) => ('reference' in row ? row.id : row.tx_hash), flexible: true, drop: 2 },
]

const options = params.object({
  period: Duration.optional().meta({
    description: 'list each sale of this period up to now, such as 30d',
    value: 'duration',
  }),
  csv: params.boolean().default(false).meta({ description: 'print each sale as CSV, with a header' }),
})

export const command = defineCommand({
  name: 'earnings',
  heading: 'Money',
  summary: 'show what you earned by selling',
  args: params.object({}),
  options,
  examples: ['souk earnings', 'souk earnings --period 30d --json', 'souk earnings --csv'],
  async run(context): Promise<(Summary & { csv?: never }) | (Period & { csv: boolean })> {
    const { period, csv } = context.options
    if (period !== undefined || csv) return { ...(await salesOf(context)), csv }
    const session = await context.session()
    return session.call('getEarnings', {})
  },
  rows(data): readonly (Settlement | Sale)[] | undefined {
    if ('recent_settlements' in data) return data.recent_settlements
    return data.csv ? undefined : data.sales
  },
  columns,
  view(data, io) {
    if ('recent_settlements' in data) viewSummary(data, io)
    else if (data.csv) viewCsv(data, io)
    else viewPeriod(data, io)
  },
})

function amountOf(row: Settlement | Sale): string | number {
  return 'reference' in row ? row.amount : row.provider_amount_usd
}

function viewSummary(summary: Summary, io: Io) {
  const { settled_usd, pending_usd, held_usd, lifetime_usd, recent_settlements: recent } = summary
  io.line(`earned ${bold(`$${lifetime_usd}`)}   settled $${settled_usd}   pending $${pending_usd}`)
  io.line(`in escrow $${held_usd}`)
  const { next_settlement_at: next, waiting } = summary
  io.line(`next settlement ${next === null ? 'none: no earnings are ready' : bold(next)}`)
  for (const { reason, amount_usd, sales, until } of waiting) {
    const jobs = sales === 0 ? '' : `   ${sales} ${sales === 1 ? 'job' : 'jobs'}`
    const when = until === null || reason === 'scheduled' ? '' : `   until ${until}`
    io.line(`  $${amount_usd} waits: ${WHY[reason]}${jobs}${when}`)
  }
  printRows(io, columns, recent)
  if (recent.length === 0) io.note('nothing was sold yet')
}

function viewPeriod({ since, until, earned, sales }: Period, io: Io): void {
  io.line(`earned ${bold(`$${earned}`)} by ${sales.length} sales   ${since ?? 'ever'} to ${until}`)
  printRows(io, columns, sales)
}

function viewCsv({ sales }: Period, io: Io): void {
  io.line('created_at,amount_usd,reference_kind,reference_id,transaction_id')
  for (const { created_at, amount, reference, id } of sales) {
    io.line([created_at, amount, reference.kind, reference.id, id].join(','))
  }
}

/** Reads the sales from the user's export, since the summary lists only the latest sales. */
async function salesOf(context: CommandContext<unknown, params.output<typeof options>>): Promise<Period> {
  const session = await context.session()
  const { linesOf } = await import('../src/cli/nouns/export-lines.ts')
  const progress = context.io.progress('reading sales')
  const watch = (records: number) => progress.update(`reading sales   ${records} records`)
  const all: Sale[] = []
  let until = ''
  try {
    for await (const { parsed } of linesOf(await session.open('getExport', { query: { only: 'earning' } }), watch)) {
      if (parsed.kind === 'export') until = Start.parse(parsed.record).as_of
      if (parsed.kind === 'earning') all.push(Sale.parse(parsed.record))
    }
  } finally {
    progress.stop()
  }
  const { period } = context.options
  const since = period === undefined ? null : before(until, period)
  const sales = all.filter(({ role, created_at: at }) => role === 'sale' && (since === null || at >= since))
  const earned = sales.reduce<Usdc>((sum, { amount }) => usdc(sum + (parseAmount(amount) ?? ZERO)), ZERO)
  sales.sort((one, other) => other.created_at.localeCompare(one.created_at))
  return { since, until, earned: formatAmount(earned), sales }
}

/** The time that is `ms` milliseconds before `time`, in the format of API times, so that both compare as text. */
function before(time: string, ms: number): string {
  return new Date(Date.parse(time) - ms).toISOString()
}
