import { MINUTE_MS } from '../../../src/core/time.ts'
import { defineCron, idleUnderCutover } from '../../crons/cron.ts'
import { everyMinute } from '../../crons/schedule.ts'
import type { Context } from '../../kernel/context.ts'
import { hasMoneyIn } from '../ledger/rows.ts'
import { runPayouts } from '../payouts/payouts.ts'
import { payouts } from '../payouts/rows.ts'
import { catchUp } from './catch-up.ts'
import { coverLosses, payAllWithheld } from './reversed.ts'
import { payments } from './rows.ts'
import { recoverPayments } from './settle.ts'

/** Maximum payouts read to find the next attempt. If all of these are overdue, later attempts are not found. */
const PAYOUTS_LOOKED_AT = 100

/**
 * Ends unfinished payments: releases, fulfils or refunds those that have no active request. Also sends refunds. Runs
 * even while paid activity is paused.
 */
export const autoRefund = defineCron({
  name: 'auto-refund',
  schedule: everyMinute,
  deadlineMs: 2 * MINUTE_MS,
  inHealth: true,
  async run({ ctx, signal }) {
    const hasWork = (await hasOpenPayments(ctx)) || (await hasMoneyIn(ctx, ['hold', 'rfd', 'out', 'blk']))
    await recoverPayments(ctx)
    await catchUp(ctx)
    // Refunds owed to payers are paid before the marketplace's own losses are covered.
    await payAllWithheld(ctx)
    await coverLosses(ctx)
    if (!signal.aborted) await runPayouts(ctx)
    return hasWork ? undefined : idleUnderCutover(ctx)
  },
  nextDue: nextPayout,
})

/** Next time when a payout is tried or reviewed; null if none. When the clock is moved, it stops at this time. */
async function nextPayout(ctx: Context, from: number): Promise<number | null> {
  const table = ctx.store.table(payouts)
  const times: number[] = []
  for (const index of ['due', 'blocked']) {
    const { rows } = await table.page(index, [], { limit: PAYOUTS_LOOKED_AT })
    const next = rows.find((row) => row.next_attempt_at !== null && row.next_attempt_at >= from)
    if (next?.next_attempt_at) times.push(next.next_attempt_at)
  }
  return times.length === 0 ? null : Math.min(...times)
}

export async function hasOpenPayments(ctx: Context): Promise<boolean> {
  return (await ctx.store.table(payments).count('open', [])) > 0
}
