import { z } from 'zod'
import { Micro, StoredWallet } from '../../../src/core/codecs.ts'
import { billingPeriods, PlanVersion, planStatuses, SaleTerms } from '../../../src/model/service.ts'
import { subscriptionDueEvents, subscriptionStatuses } from '../../../src/model/words.ts'
import { insertParties, moveParties } from '../../kernel/parties.ts'
import { partiesOf } from '../../kernel/rows.ts'
import { type AnyCollection, type Draft, defineCollection, type Tx } from '../../store/port.ts'
/** Stored form of a plan (decisions §9): services of one provider for a price a period. */
export const PlanRow = z.strictObject({
  id: z.string(),
  version: z.int(),
  provider_id: z.string(),
  name: z.string(),
  description: z.string(),
  ...PlanVersion.shape,
  /** The one before, and until when (wall time) it can still be subscribed to; absent where nothing was edited. */
  previous: z.strictObject({ version: PlanVersion, until: z.int() }).exactOptional(),
  status: z.enum(planStatuses),
  created_at: z.int(),
  updated_at: z.int(),
})
export type PlanRow = z.infer<typeof PlanRow>

/**
 * Stored form of a subscription: the terms as they were bought, which no change of the plan touches, and the
 * period that is paid for. Money in micro-USDC, times in epoch milliseconds of the business clock.
 */
export const SubscriptionRow = z.strictObject({
  id: z.string(),
  version: z.int(),
  plan_id: z.string(),
  plan_name: z.string(),
  provider_id: z.string(),
  buyer_wallet: StoredWallet,
  participant_id: z.string(),
  status: z.enum(subscriptionStatuses),
  /** False once it ended. */
  live: z.boolean(),
  cancel_at_period_end: z.boolean(),
  billing_period: z.enum(billingPeriods),
  /** What each period costs, what the provider gets of it, what is kept. */
  amount: Micro,
  provider_amount: Micro,
  fee: Micro,
  /** Services that were agreed to: a renewal charges for these, or not at all. */
  service_ids: z.array(z.string()),
  /** Periods count from here, and the current one has this number, from 0. */
  anchor_at: z.int(),
  period_number: z.int(),
  current_period_start: z.int(),
  current_period_end: z.int(),
  /** Until when pauses of the platform were given back; absent where none was. */
  pauses_until: z.int().exactOptional(),
  /** It was paused when its period ended: the next one begins when it is charged. */
  lapsed: z.boolean(),
  /** Periods that were paid for. */
  charges: z.int(),
  /** Failed attempts to charge the period that is due, and when the first one was. */
  failures: z.int(),
  past_due_since: z.int().nullable(),
  next_event: z.enum(subscriptionDueEvents).nullable(),
  next_event_at: z.int().nullable(),
  /** How the first period was paid; all others come from the balance. */
  payment_method: z.enum(['x402', 'balance']),
  transaction: z.string().nullable(),
  receipt_id: z.string(),
  created_at: z.int(),
  updated_at: z.int(),
  paused_at: z.int().nullable(),
  canceled_at: z.int().nullable(),
  ended_at: z.int().nullable(),
})
export type SubscriptionRow = z.infer<typeof SubscriptionRow>

/** A service that a live subscription pays for: what a purchase, and the removal of a listing, look up. */
export const CoverageRow = z.strictObject({
  /** `<subscription id>:<service id>`. */
  id: z.string(),
  version: z.int(),
  subscription_id: z.string(),
  service_id: z.string(),
  buyer_wallet: StoredWallet,
  /** End of the period that is paid for. */
  until: z.int(),
  /** Of the service when that period was paid; absent in rows of before it was kept. */
  terms: SaleTerms.exactOptional(),
})
export type CoverageRow = z.infer<typeof CoverageRow>

export const subscriptionParties = partiesOf('subscription_parties')

export const plans = defineCollection('plans', {
  schema: PlanRow,
  key: 'id',
  indexes: [
    { name: 'newest', fields: ['status', 'created_at'], order: 'desc' },
    { name: 'provider', fields: ['provider_id', 'status', 'created_at'], order: 'desc' },
  ],
})

export const subscriptions = defineCollection('subscriptions', {
  schema: SubscriptionRow,
  key: 'id',
  indexes: [
    { name: 'due', fields: ['next_event', 'next_event_at'], where: { field: 'live', equals: true } },
    { name: 'live', fields: ['buyer_wallet', 'plan_id'], unique: true, where: { field: 'live', equals: true } },
    { name: 'plan', fields: ['plan_id'], where: { field: 'live', equals: true } },
    { name: 'newest', fields: ['live', 'created_at'], order: 'desc' },
  ],
})

export const coverage = defineCollection('coverage', {
  schema: CoverageRow,
  key: 'id',
  indexes: [
    { name: 'own', fields: ['buyer_wallet', 'service_id', 'until'], order: 'desc' },
    { name: 'service', fields: ['service_id', 'until'], order: 'desc' },
    { name: 'subscription', fields: ['subscription_id'] },
  ],
})

export async function insertSubscription(t: Tx, draft: Draft<SubscriptionRow>): Promise<SubscriptionRow> {
  const subscription = await t.table(subscriptions).insert(draft)
  await insertParties(t, subscriptionParties, { subject: subscription, at: subscription.created_at })
  return subscription
}

/** Replaces a subscription that this transaction holds. */
export async function putSubscription(t: Tx, draft: Draft<SubscriptionRow>): Promise<SubscriptionRow> {
  const subscription = await t.table(subscriptions).put(draft)
  await moveParties(t, subscriptionParties, { subject: subscription, at: subscription.created_at })
  return subscription
}

/**
 * Part of a paid period in which its provider was suspended: the subscriber had nothing for it. Offers the operator an
 * adjustment (`oper → bal`); open until it is decided.
 */
export const UnservedPeriodRow = z.strictObject({
  /** `<subscription id>:<start of the period>`. */
  id: z.string(),
  version: z.int(),
  subscription_id: z.string(),
  provider_id: z.string(),
  /** Whose balance the adjustment would go to. */
  participant_id: z.string(),
  /** What the whole period cost. */
  paid: Micro,
  period_start: z.int(),
  period_end: z.int(),
  /** Business time without service, up to the last reinstatement; and since when it goes on, null while it does not. */
  lost_ms: z.int(),
  since: z.int().nullable(),
  open: z.boolean(),
  opened_at: z.int(),
})
export type UnservedPeriodRow = z.infer<typeof UnservedPeriodRow>

/** What the operator is asked to make good. */
export const unservedPeriods = defineCollection('unserved_periods', {
  schema: UnservedPeriodRow,
  key: 'id',
  indexes: [
    { name: 'open', fields: ['opened_at'], where: { field: 'open', equals: true } },
    { name: 'running', fields: ['provider_id'], where: { field: 'open', equals: true } },
  ],
})

export const subscriptionCollections: readonly AnyCollection[] = [
  plans,
  subscriptions,
  coverage,
  unservedPeriods,
  subscriptionParties,
]
