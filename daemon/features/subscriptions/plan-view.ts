import type { z } from 'zod'
import { Plan, Subscription } from '../../../src/api/sections/plans.ts'
import { pick } from '../../../src/core/record.ts'
import { shownStatus } from '../../kernel/participant.ts'
import { type ParticipantRow, participants } from '../../kernel/rows.ts'
import type { ReadTx } from '../../store/port.ts'
import { type Split, split } from '../ledger/split.ts'
import { services } from '../listings/rows.ts'
import { hasAccess } from './next.ts'
import { type PlanRow, type SubscriptionRow, subscriptions } from './rows.ts'

export function planSplit(plan: Pick<PlanRow, 'price'>, provider: Pick<ParticipantRow, 'first_party'>): Split {
  return split(provider.first_party ? 'first_party' : 'third_party', plan.price)
}

/** Provider of an existing plan or listing. */
export async function providerOf(t: ReadTx, row: { readonly id: string; readonly provider_id: string }) {
  const provider = await t.table(participants).get(row.provider_id)
  if (!provider) throw new Error(`${row.id} has no provider`)
  return provider
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
