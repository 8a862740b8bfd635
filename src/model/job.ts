import { z } from 'zod'
import { Micro } from '../core/codecs.ts'

/** In which a job waits for its provider. */
export const workingJobStatuses = ['created', 'dispatched', 'in_progress'] as const

/** Job status (decisions §8). */
export const jobStatuses = [
  ...workingJobStatuses,
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
/** What the contract may know of a job's money. */
export const escrowStates = ['none', 'held', 'released', 'refunded', 'split', 'timed_out', 'withdrawn'] as const

/** The same as a job's record has it; `unused`: it ended before any money was put in. */
export const dealStates = [...escrowStates, 'unused'] as const

/** What is asked of the contract for a job; `drop`: it ended before any money was put in, and nothing is asked. */
export const dealActs = [
  'deposit',
  'drop',
  'extend',
  'markDelivered',
  'markDisputed',
  'release',
  'refund',
  'resolve',
  'emergencyWithdraw',
] as const

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
