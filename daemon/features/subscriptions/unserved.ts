import { AppError, notFound } from '../../../src/core/error.ts'
import { type Usdc, usdc } from '../../../src/core/money.ts'
import { emit } from '../../events/event-log.ts'
import { everyRow } from '../../store/each-page.ts'
import type { Draw, Tx } from '../../store/port.ts'
import { plans, type SubscriptionRow, subscriptions, type UnservedPeriodRow, unservedPeriods } from './rows.ts'

const PAGE_ROWS = 1_000

/** Suggested adjustment: the part of the price for the unserved time, rounded down. @param now - business time */
export function adjustmentOf(row: UnservedPeriodRow, now: number): Usdc {
  const { paid, period_start: start, period_end: end } = row
  return usdc((paid * BigInt(lostAt(row, now))) / BigInt(end - start))
}

function lostAt({ lost_ms, since, period_end: end }: UnservedPeriodRow, now: number): number {
  return since === null ? lost_ms : lost_ms + Math.max(0, Math.min(now, end) - since)
}

type Settled = { readonly id: string; readonly participantId: string; readonly now: number }

/**
 * Marks an unserved period as compensated. If the suspension continues in this period, counts the lost time from zero.
 * @throws AppError 404 for an unknown period, 409 if it was already compensated
 */
export async function settleUnserved(t: Tx, { id, participantId, now }: Settled): Promise<void> {
  const row = await t.table(unservedPeriods).getForUpdate(id)
  if (row?.participant_id !== participantId) throw notFound('The unserved period')
  if (!row.open) throw new AppError('conflict', 'This period was compensated already.')
  await t.table(unservedPeriods).put({ ...row, ...afterSettling(row, now) })
}

export function afterSettling({ since, period_end }: UnservedPeriodRow, now: number) {
  const goesOn = since !== null && now < period_end
  return { lost_ms: 0, since: goesOn ? now : null, open: goesOn }
}

/**
 * Records, for each subscriber, the part of a paid period in which the provider is suspended, so that an adjustment is
 * suggested. Call it in the transaction that suspends or reinstates the provider.
 */
export async function followUnserved(
  t: Tx,
  draw: Draw,
  { providerId, isSuspended, now }: { providerId: string; isSuspended: boolean; now: number },
): Promise<void> {
  if (!isSuspended) return endRunning(t, providerId, now)
  for (const plan of await everyRow(t.table(plans), { index: 'provider', prefix: [providerId], limit: PAGE_ROWS })) {
    for (const row of await everyRow(t.table(subscriptions), { index: 'plan', prefix: [plan.id], limit: PAGE_ROWS })) {
      if (now < row.current_period_end) await begin(t, draw, { row, now })
    }
  }
}

async function begin(t: Tx, draw: Draw, { row, now }: { row: SubscriptionRow; now: number }): Promise<void> {
  const id = `${row.id}:${row.current_period_start}`
  const locked = await t.table(unservedPeriods).getForUpdate(id)
  if (locked?.since !== undefined && locked.since !== null) return
  await t.table(unservedPeriods).put({
    id,
    subscription_id: row.id,
    provider_id: row.provider_id,
    participant_id: row.participant_id,
    paid: row.amount,
    period_start: row.current_period_start,
    period_end: row.current_period_end,
    lost_ms: locked?.lost_ms ?? 0,
    since: now,
    open: true,
    opened_at: locked?.opened_at ?? now,
  })
  await emit(t, draw, {
    type: 'subscription.unserved',
    participantId: row.participant_id,
    subject: { kind: 'subscription', id: row.id },
    data: { plan_id: row.plan_id, current_period_end: new Date(row.current_period_end).toISOString() },
    at: now,
  })
}

async function endRunning(t: Tx, providerId: string, now: number): Promise<void> {
  for (const { id } of await everyRow(t.table(unservedPeriods), {
    index: 'running',
    prefix: [providerId],
    limit: PAGE_ROWS,
  })) {
    const row = await t.table(unservedPeriods).getForUpdate(id)
    if (row && row.since !== null) {
      await t.table(unservedPeriods).put({ ...row, lost_ms: lostAt(row, now), since: null })
    }
  }
}
