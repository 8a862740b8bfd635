import { z } from 'zod'
import type { Wallet } from '../core/hex.ts'
import { Micro } from '../core/money.ts'
import { billingPeriods } from './plan.ts'
import { SaleTerms } from './service.ts'

/** Subscription status (decisions §9). */
export const subscriptionStatuses = ['active', 'paused', 'past_due', 'canceled', 'expired'] as const
export type SubscriptionStatus = (typeof subscriptionStatuses)[number]

/** What happens to a subscription by itself: it is charged for its next period, or its paid period runs out. */
export const subscriptionDueEvents = ['renew', 'lapse'] as const
export type SubscriptionDueEvent = (typeof subscriptionDueEvents)[number]

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
  buyer_wallet: z.string() as unknown as z.ZodType<Wallet>, // lower-case by construction
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
  buyer_wallet: z.string() as unknown as z.ZodType<Wallet>, // lower-case by construction
  /** End of the period that is paid for. */
  until: z.int(),
  /** Of the service when that period was paid; absent in rows of before it was kept. */
  terms: SaleTerms.exactOptional(),
})
export type CoverageRow = z.infer<typeof CoverageRow>
