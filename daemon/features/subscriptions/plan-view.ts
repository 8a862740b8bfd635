import type { z } from 'zod'
import { Plan, Subscription } from '../../../src/api/sections/plans.ts'
import { pick } from '../../../src/core/record.ts'
import { DAY_MS, MINUTE_MS } from '../../../src/core/time.ts'
import type { SubscriptionDueEvent } from '../../../src/model/words.ts'
import { type ParticipantRow, providerOf, shownStatus } from '../../kernel/rows.ts'
import type { ReadTx } from '../../store/port.ts'
import { type Split, split } from '../ledger/legs.ts'
import { services } from '../listings/rows.ts'
import { type PlanRow, type SubscriptionRow, subscriptions } from './rows.ts'

/** When a failed charge is retried, counted from the first failure. If the last retry fails, the subscription ends. */
const RETRIES_MS = [DAY_MS, 2 * DAY_MS, 3 * DAY_MS] as const
/** Minimum time between retries, also after scheduled retries were missed. */
const SHORTEST_RETRY_MS = DAY_MS
/** How long access continues after a period, so that the cron has time to charge the next period. */
export const RENEWAL_GRACE_MS = 15 * MINUTE_MS

export function isLastTry(failures: number): boolean {
  return failures > RETRIES_MS.length
}

type NextSubscriptionEvent = { readonly event: SubscriptionDueEvent; readonly at: number }
type Facts = Pick<
  SubscriptionRow,
  'status' | 'cancel_at_period_end' | 'current_period_end' | 'lapsed' | 'failures' | 'past_due_since'
>

/** The next automatic event of a subscription that was changed at `at`; null if there is none. */
export function nextOf(facts: Facts, at: number): NextSubscriptionEvent | null {
  const { status, cancel_at_period_end: isEnding, current_period_end: end, lapsed } = facts
  switch (status) {
    case 'active':
      if (isEnding) return { event: 'lapse', at: end }
      return { event: 'renew', at: lapsed ? at : end }
    case 'paused':
      return end > at || isEnding ? { event: 'lapse', at: end } : null
    case 'past_due':
      return { event: 'renew', at: retryAt(facts, at) }
    case 'canceled':
    case 'expired':
      return null
  }
}

function retryAt({ failures, past_due_since: since }: Facts, at: number): number {
  const delay = RETRIES_MS[failures - 1] ?? SHORTEST_RETRY_MS
  return Math.max((since ?? at) + delay, at + SHORTEST_RETRY_MS)
}

/** Whether a subscription gives access now: in a paid period, or in the grace time before the next charge. */
export function hasAccess(facts: Omit<Facts, 'failures' | 'past_due_since'>, now: number): boolean {
  const { status, cancel_at_period_end: isEnding, current_period_end: end, lapsed } = facts
  if (status !== 'active' && status !== 'paused') return false
  const isAwaited = status === 'active' && !isEnding && !lapsed
  return now < end + (isAwaited ? RENEWAL_GRACE_MS : 0)
}

export function planSplit(plan: Pick<PlanRow, 'price'>, provider: Pick<ParticipantRow, 'first_party'>): Split {
  return split(provider.first_party ? 'first_party' : 'third_party', plan.price)
}

export async function planView(t: ReadTx, plan: PlanRow): Promise<z.output<typeof Plan>> {
  const provider = await providerOf(t, plan)
  const prices = planSplit(plan, provider)
  const bundled = await t.table(services).getMany(plan.service_ids)
  return {
    ...pick(plan, Plan.shape),
    plan_id: plan.id,
    provider_name: provider.name,
    agent_price: prices.agent,
    provider_net_price: prices.net,
    service_ids: [...plan.service_ids],
    services: bundled.map(({ id, name, status }) => ({ service_id: id, name, status: shownStatus(status) })),
    status: shownStatus(plan.status),
    subscribers: await t.table(subscriptions).count('plan', [plan.id]),
  }
}

/** @param now - business time for access and next charge */
export function subscriptionView(row: SubscriptionRow, now: number): z.output<typeof Subscription> {
  return {
    ...pick(row, Subscription.shape),
    subscription_id: row.id,
    subscriber: { participant_id: row.participant_id, wallet: row.buyer_wallet },
    has_access: hasAccess(row, now),
    service_ids: [...row.service_ids],
    next_charge_at: row.next_event === 'renew' ? row.next_event_at : null,
    failed_charges: row.failures,
    periods_paid: row.charges,
    payment: { method: row.payment_method, transaction: row.transaction },
  }
}
