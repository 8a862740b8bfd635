import { z } from 'zod'
import { Micro } from '../core/codecs.ts'
import { SignedSale } from '../core/offer-receipt.ts'

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

export const jobWords: Readonly<Record<JobStatus, string>> = {
  created: 'new',
  dispatched: 'sent',
  in_progress: 'at work',
  completed: 'delivered',
  verified: 'verified',
  released: 'paid',
  failed: 'failed',
  expired: 'expired',
  cancelled: 'cancelled',
  disputed: 'disputed',
  refunded: 'refunded',
}
/** Word for a job in progress that is past its promised time. */
export const LATE_WORD = 'overdue'

export const paymentMethods = ['x402', 'balance', 'subscription'] as const
export const escrowStatuses = ['none', 'held', 'released', 'refunded', 'split'] as const
/** States of a job's money in the escrow contract on the chain. */
export const escrowStates = ['none', 'held', 'released', 'refunded', 'split', 'timed_out', 'withdrawn'] as const

/** States of a deal, the on-chain escrow of one job. `unused`: the job ended before a deposit. */
export const dealStates = [...escrowStates, 'unused'] as const

/** Actions on the escrow contract. `drop` sends nothing, since the job ended before a deposit. */
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
/** Rulings as text. */
export const endings: Readonly<Record<Ruling, string>> = {
  release: 'the provider is paid',
  refund: 'the buyer is refunded',
  split: 'the payment is split in half',
}

/** Automatic job events (decisions §8); `remind`: a dispute waits for the operator. */
export const jobDueEvents = ['expire', 'verify', 'release', 'resolve', 'remind'] as const
export type JobDueEvent = (typeof jobDueEvents)[number]

/** Who verified a delivery: the buyer, a ruling, or `auto` (after a time, or immediately for some service types). */
export const Verification = z.strictObject({
  by: z.enum(['buyer', 'auto', 'ruling']),
  rating: z.int().nullable(),
  comment: z.string().nullable(),
  at: z.int(),
})
export type Verification = z.infer<typeof Verification>

/** A dispute. `recorded`: no money was held any more when the dispute was opened. */
export const Dispute = z.strictObject({
  status: z.enum(['open', 'resolved', 'recorded']),
  reason: z.string(),
  category: z.enum(disputeCategories),
  /** File ids. */
  evidence: z.array(z.string()),
  /** The buyer's offer and receipt, signed by this marketplace. */
  proof: SignedSale.exactOptional(),
  opened_at: z.int(),
  resolution: z.enum(rulings).nullable(),
  /** Buyer's part of a split. */
  buyer_amount: Micro.nullable(),
  resolved_by: z.enum(['admin', 'system']).nullable(),
  resolution_reason: z.string().nullable(),
  resolved_at: z.int().nullable(),
  /** Ruling that takes effect by default, fixed when the dispute opens; null if there is none. */
  by_default: z
    .strictObject({ outcome: z.enum(rulings), at: z.int() })
    .nullable()
    .exactOptional(),
})
export type Dispute = z.infer<typeof Dispute>
