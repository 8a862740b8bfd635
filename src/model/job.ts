import { z } from 'zod'
import type { Wallet } from '../core/hex.ts'
import { Micro } from '../core/money.ts'
import { JsonObject, serviceTypes } from './service.ts'

/** Job status (decisions §8). */
export const jobStatuses = [
  'created',
  'dispatched',
  'in_progress',
  'completed',
  'verified',
  'released',
  'failed',
  'cancelled',
  'expired',
  'disputed',
  'refunded',
] as const

export type JobStatus = (typeof jobStatuses)[number]

export const paymentMethods = ['x402', 'balance', 'subscription'] as const
export const escrowStatuses = ['none', 'held', 'released', 'refunded', 'split'] as const
export const disputeCategories = ['not_delivered', 'wrong_deliverable', 'quality', 'other'] as const
export const rulings = ['release', 'refund', 'split'] as const
export type Ruling = (typeof rulings)[number]

/** What happens to a job by itself when its time comes (decisions §8); `remind`: a dispute that waits for the operator. */
export const jobDueEvents = ['expire', 'verify', 'release', 'resolve', 'remind'] as const
export type JobDueEvent = (typeof jobDueEvents)[number]

/** Who took the delivery as good: the buyer, time or kind of service, or a ruling. */
export const Verification = z.strictObject({
  by: z.enum(['buyer', 'auto', 'ruling']),
  rating: z.int().nullable(),
  comment: z.string().nullable(),
  at: z.int(),
})
export type Verification = z.infer<typeof Verification>

/** What a buyer found wrong. `recorded`: it came when no money was held any more, and moves none. */
export const Dispute = z.strictObject({
  status: z.enum(['open', 'resolved', 'recorded']),
  reason: z.string(),
  category: z.enum(disputeCategories),
  /** Ids of files. */
  evidence: z.array(z.string()),
  opened_at: z.int(),
  resolution: z.enum(rulings).nullable(),
  /** What a split gave back to the buyer. */
  buyer_amount: Micro.nullable(),
  resolved_by: z.enum(['admin', 'system']).nullable(),
  resolution_reason: z.string().nullable(),
  resolved_at: z.int().nullable(),
  /** How it ends by itself unless the operator decides before, as it was set when it was opened; null: it waits. */
  by_default: z
    .strictObject({ outcome: z.enum(rulings), at: z.int() })
    .nullable()
    .exactOptional(),
})
export type Dispute = z.infer<typeof Dispute>

/** Stored form of a job: money in micro-USDC, times in epoch milliseconds of the business clock. */
export const JobRow = z.strictObject({
  id: z.string(),
  version: z.int(),
  service_id: z.string(),
  service_name: z.string(),
  /** As they were when it was bought: what a delivery is checked against, and whether it is verified by itself. */
  service_type: z.enum(serviceTypes),
  /** null: delivered with the purchase. */
  deliverable_schema: JsonObject.nullable(),
  buyer_wallet: z.string() as unknown as z.ZodType<Wallet>, // lower-case by construction
  buyer_id: z.string().nullable(),
  provider_id: z.string(),
  thread_id: z.string(),
  posting_id: z.string().nullable(),
  /** Bought under a subscription: nothing was paid for it, and it says nothing about reputation. */
  subscription_id: z.string().exactOptional(),
  receipt_id: z.string(),
  payment_id: z.string(),
  payment_method: z.enum(paymentMethods),
  transaction: z.string().nullable(),
  status: z.enum(jobStatuses),
  input: JsonObject,
  /** Empty where they are large: then they stand in a row of their own. */
  deliverables: z.array(z.json()),
  deliverables_apart: z.boolean(),
  notes: z.string(),
  amount: Micro,
  fee: Micro,
  provider_amount: Micro,
  escrow_status: z.enum(escrowStatuses),
  held_at: z.int().nullable(),
  /** True while something is due by itself: such rows are what the escrow monitor walks. */
  open: z.boolean(),
  next_event: z.enum(jobDueEvents).nullable(),
  next_event_at: z.int().nullable(),
  verification: Verification.nullable(),
  dispute: Dispute.nullable(),
  /** SHA-256 of an anonymous buyer's access token, hex. */
  access_token_hash: z.string().nullable(),
  timeline: z.array(z.strictObject({ at: z.int(), event: z.string(), detail: z.string() })),
  created_at: z.int(),
  dispatched_at: z.int().nullable(),
  completed_at: z.int().nullable(),
  deadline_at: z.int().nullable(),
  /** How long it was said to take, as a duration; null where that named no time. */
  estimate_ms: z.int().nullable(),
  /** When nothing more could happen to its money, and who brought that about. */
  ended_at: z.int().nullable(),
  ended_by: z.enum(['buyer', 'provider', 'admin', 'system']).nullable(),
})
export type JobRow = z.infer<typeof JobRow>

/** Deliverables of one job that are too large to be rewritten with every change of it. */
export const DeliverablesRow = z.strictObject({
  /** Id of the job. */
  id: z.string(),
  version: z.int(),
  /** JSON text of the array. */
  text: z.string(),
})
export type DeliverablesRow = z.infer<typeof DeliverablesRow>
