import { z } from 'zod'
import { Micro, StoredWallet } from '../../../src/core/codecs.ts'
import { billingPeriods, PlanVersion, planStatuses, SaleTerms } from '../../../src/model/service.ts'
import { subscriptionDueEvents, subscriptionStatuses } from '../../../src/model/words.ts'
import { insertParties, moveParties } from '../../kernel/parties.ts'
import { partiesOf } from '../../kernel/rows.ts'
import { type AnyCollection, type Draft, defineCollection, stored, type Tx } from '../../store/port.ts'

export const subscriptionParties = partiesOf('subscription_parties')

/** A stored plan (decisions §9): services of one provider for a price per period. */
export const plans = defineCollection('plans', {
  schema: z.strictObject({
    ...stored,
    provider_id: z.string(),
    name: z.string(),
    description: z.string(),
    ...PlanVersion.shape,
    /** The plan's previous version; a buyer can subscribe to it until `until` (wall time). */
    previous: z.strictObject({ version: PlanVersion, until: z.int() }).exactOptional(),
    status: z.enum(planStatuses),
    created_at: z.int(),
    updated_at: z.int(),
  }),
  indexes: [
    { name: 'newest', fields: ['status', 'created_at'], order: 'desc' },
    { name: 'provider', fields: ['provider_id', 'status', 'created_at'], order: 'desc' },
  ],
})
export type PlanRow = z.infer<typeof plans.schema>

/**
 * A stored subscription: its terms as bought, which do not follow plan changes, and its paid period. Money in
 * micro-USDC, times in epoch milliseconds of business time.
 */
export const subscriptions = defineCollection('subscriptions', {
  schema: z.strictObject({
    ...stored,
    plan_id: z.string(),
    plan_name: z.string(),
    provider_id: z.string(),
    buyer_wallet: StoredWallet,
    participant_id: z.string(),
    status: z.enum(subscriptionStatuses),
    /** False once the subscription has ended. */
    live: z.boolean(),
    cancel_at_period_end: z.boolean(),
    billing_period: z.enum(billingPeriods),
    /** Price per period: the sum of `provider_amount` and `fee`. */
    amount: Micro,
    provider_amount: Micro,
    fee: Micro,
    /** Services that the subscriber agreed to; a renewal charges for exactly these services. */
    service_ids: z.array(z.string()),
    /** Time from which periods are counted. `period_number` is the number of the current period, from 0. */
    anchor_at: z.int(),
    period_number: z.int(),
    current_period_start: z.int(),
    current_period_end: z.int(),
    /** The pauses up to this time have extended the period; absent if none has. */
    pauses_until: z.int().exactOptional(),
    /** Whether the subscription was paused when its period ended. If so, the next period starts at its charge. */
    lapsed: z.boolean(),
    charges: z.int(),
    /** Number of failed charges of the due period. `past_due_since` is the time of the first failure. */
    failures: z.int(),
    past_due_since: z.int().nullable(),
    next_event: z.enum(subscriptionDueEvents).nullable(),
    next_event_at: z.int().nullable(),
    /** Payment method of the first period; all later periods are charged to the balance. */
    payment_method: z.enum(['x402', 'balance']),
    transaction: z.string().nullable(),
    receipt_id: z.string(),
    created_at: z.int(),
    updated_at: z.int(),
    paused_at: z.int().nullable(),
    canceled_at: z.int().nullable(),
    ended_at: z.int().nullable(),
  }),
  indexes: [
    { name: 'due', fields: ['next_event', 'next_event_at'], where: { field: 'live', equals: true } },
    { name: 'live', fields: ['buyer_wallet', 'plan_id'], unique: true, where: { field: 'live', equals: true } },
    { name: 'plan', fields: ['plan_id'], where: { field: 'live', equals: true } },
    { name: 'newest', fields: ['live', 'created_at'], order: 'desc' },
  ],
})
export type SubscriptionRow = z.infer<typeof subscriptions.schema>

/** A service that a live subscription covers; read by purchases, and before a listing is removed. */
export const coverage = defineCollection('coverage', {
  schema: z.strictObject({
    /** `<subscription id>:<service id>`. */
    ...stored,
    subscription_id: z.string(),
    service_id: z.string(),
    buyer_wallet: StoredWallet,
    until: z.int(),
    /** Terms when the period was paid; absent in old rows. */
    terms: SaleTerms.exactOptional(),
  }),
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

/** Replaces a subscription that this transaction has locked. */
export async function putSubscription(t: Tx, draft: Draft<SubscriptionRow>): Promise<SubscriptionRow> {
  const subscription = await t.table(subscriptions).put(draft)
  await moveParties(t, subscriptionParties, { subject: subscription, at: subscription.created_at })
  return subscription
}

/**
 * Part of a paid period in which the provider was suspended. The operator sees a suggested adjustment in the
 * subscriber's favour. The row stays open until the operator decides.
 */
export const unservedPeriods = defineCollection('unserved_periods', {
  schema: z.strictObject({
    /** `<subscription id>:<start of the period>`. */
    ...stored,
    subscription_id: z.string(),
    provider_id: z.string(),
    /** Participant who receives the adjustment. */
    participant_id: z.string(),
    /** Price of the whole period. */
    paid: Micro,
    period_start: z.int(),
    period_end: z.int(),
    /** Milliseconds without service, up to the last reinstatement. `since` is when the current suspension began. */
    lost_ms: z.int(),
    since: z.int().nullable(),
    open: z.boolean(),
    opened_at: z.int(),
  }),
  indexes: [
    { name: 'open', fields: ['opened_at'], where: { field: 'open', equals: true } },
    { name: 'running', fields: ['provider_id'], where: { field: 'open', equals: true } },
  ],
})
export type UnservedPeriodRow = z.infer<typeof unservedPeriods.schema>

export const subscriptionCollections: readonly AnyCollection[] = [
  plans,
  subscriptions,
  coverage,
  unservedPeriods,
  subscriptionParties,
]
