import type { WireAnswer } from '../src/api/index.ts'
import { defineCall } from '../src/cli/command.ts'
import type { Io } from '../src/cli/io.ts'
import { type Column, printRows } from '../src/cli/output.ts'
import { bold } from '../src/text/text.ts'

type Summary = WireAnswer<'getEarnings'>
type Settlement = Summary['recent_settlements'][number]

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

const columns: readonly Column<Settlement>[] = [
  { title: 'WHEN', value: ({ created_at }) => created_at },
  {
    title: 'AMOUNT',
    value: (row) => `$${row.provider_amount_usd}`,
    plain: (row) => row.provider_amount_usd,
    align: 'right',
  },
  { title: 'STATUS', value: ({ status }) => status },
  { title: 'JOB', value: ({ job_id }) => job_id, drop: 1 },
  { title: 'TRANSACTION', value: ({ tx_hash }) => tx_hash, flexible: true, drop: 2 },
]

export const command = defineCall({
  name: 'earnings',
  heading: 'Money',
  summary: 'show what you earned by selling',
  description: 'Each sale of a period, with fees and totals: `souk statement`.',
  examples: ['souk earnings', 'souk earnings --json', 'souk statement --month 2026-03 --csv'],
  asks: 'getEarnings',
  rows: ({ recent_settlements }) => recent_settlements,
  columns,
  view: viewSummary,
})

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
