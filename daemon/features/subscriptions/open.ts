import type { Leg } from '../../../src/model/ledger.ts'
import type { ParticipantRow } from '../../kernel/rows.ts'
import type { Draw } from '../../store/draw.ts'
import type { Draft, Tx } from '../../store/port.ts'
import { legsOf } from '../ledger/legs.ts'
import type { PaymentRow } from '../payments/rows.ts'
import { referrersOf } from '../referrals/referrals.ts'
import { notifyParties, settled } from './apply.ts'
import { followCoverage } from './coverage.ts'
import type { PaidPeriod } from './offer.ts'
import { firstPeriod } from './periods.ts'
import { insertSubscription, type PlanRow, type SubscriptionRow } from './rows.ts'

export type Subscribing = PaidPeriod & {
  readonly plan: PlanRow
  readonly subscriber: ParticipantRow
  readonly payment: Pick<PaymentRow, 'method' | 'transaction' | 'receipt_id'>
  /** Ledger account that the price comes from: `ext`, or the hold of a balance payment. */
  readonly source: string
  /** Business time. */
  readonly now: number
}

/**
 * Writes a subscription whose first period is paid. The caller posts the returned ledger legs, which take the price
 * from `source`.
 */
export async function openSubscription(
  t: Tx,
  draw: Draw,
  order: Subscribing,
): Promise<{ readonly subscription: SubscriptionRow; readonly legs: readonly Leg[] }> {
  const { plan, subscriber, payment, source, split, billingPeriod, bundle, now } = order
  const draft: Draft<SubscriptionRow> = {
    id: draw.id('subscription'),
    plan_id: plan.id,
    plan_name: plan.name,
    provider_id: plan.provider_id,
    buyer_wallet: subscriber.wallet,
    participant_id: subscriber.id,
    status: 'active',
    live: true,
    cancel_at_period_end: false,
    billing_period: billingPeriod,
    amount: split.agent,
    provider_amount: split.net,
    fee: split.fee,
    service_ids: [...bundle.keys()],
    ...firstPeriod(billingPeriod, now),
    lapsed: false,
    charges: 1,
    failures: 0,
    past_due_since: null,
    next_event: null,
    next_event_at: null,
    payment_method: payment.method === 'x402' ? 'x402' : 'balance',
    transaction: payment.transaction,
    receipt_id: payment.receipt_id,
    created_at: now,
    updated_at: now,
    paused_at: null,
    canceled_at: null,
    ended_at: null,
  }
  const subscription = await insertSubscription(t, settled(draft, now))
  await followCoverage(t, subscription, bundle)
  await notifyParties(t, draw, { subscription, word: 'created', at: now })
  const { participant_id: participantId, provider_id: providerId } = subscription
  const referrers = await referrersOf(t, { buyer: { participantId }, providerId })
  return { subscription, legs: legsOf.instantSale({ source, providerId: plan.provider_id, split, referrers }) }
}
