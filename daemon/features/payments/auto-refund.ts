import { MINUTE_MS } from '../../../src/core/time.ts'
import { defineCron, idleUnderCutover } from '../../crons/cron.ts'
import { everyMinute } from '../../crons/schedule.ts'
import type { Context } from '../../kernel/context.ts'
import { hasMoneyIn } from '../ledger/rows.ts'
import { runPayouts } from '../payouts/payouts.ts'
import { payouts } from '../payouts/rows.ts'
import { coverLosses, payAllWithheld } from './reversed.ts'
import { payments } from './rows.ts'
import { recoverPayments } from './settle.ts'

/** Payouts ahead of the next one that may be overdue, before a moved clock no longer stops for it. */
const PAYOUTS_LOOKED_AT = 100

/**
 * Ends what was paid and not finished: releases, fulfils or gives back open payments that no request
 * works on, and pays refunds out. Goes on while paid activity is paused.
 */
export const autoRefund = defineCron({
  name: 'auto-refund',
  schedule: everyMinute,
  deadlineMs: 2 * MINUTE_MS,
  inHealth: true,
  async run({ ctx, signal }) {
    const hasWork = await isUnresolved(ctx)
    await recoverPayments(ctx)
    // What others are owed goes before what the marketplace has lost.
    await payAllWithheld(ctx)
    await coverLosses(ctx)
    if (!signal.aborted) await runPayouts(ctx)
    return hasWork ? undefined : idleUnderCutover(ctx)
  },
  nextDue: nextPayout,
})

async function isUnresolved(ctx: Context): Promise<boolean> {
  return (await hasOpenPayments(ctx)) || (await hasMoneyIn(ctx, ['hold', 'rfd', 'out', 'blk']))
}

/** Attempts that were put off, and looks at blocked ones; a moved clock stops at each. */
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
