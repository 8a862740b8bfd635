import { z } from 'zod'
import type { Wallet } from '../core/hex.ts'
import { Micro } from '../core/money.ts'

/** Life of a payout (decisions §4): money that leaves through the chain; `needs_operator`: nothing here can sign it. */
export const payoutStates = ['created', 'needs_operator', 'signed', 'sent', 'confirmed', 'failed'] as const

/**
 * Why it is paid: a refund goes on while paid activity is paused, all others wait. A `withdrawal` takes from the
 * payee's own balance; `referral` money is paid out where its owner asked for that, else such a row only says that it
 * is kept from a sanctioned wallet.
 */
export const payoutKinds = ['refund', 'settlement', 'splitter', 'referral', 'withdrawal'] as const
export type PayoutKind = (typeof payoutKinds)[number]

/** A payout row is written with the postings that put its money aside in `out:<id>`. */
export const PayoutRow = z.strictObject({
  id: z.string(),
  version: z.int(),
  kind: z.enum(payoutKinds),
  wallet: z.string() as unknown as z.ZodType<Wallet>, // lower-case by construction
  amount: Micro,
  /** Account that the money waited in, and goes back to if the payout fails. */
  source: z.string(),
  ref_kind: z.string(),
  ref_id: z.string(),
  /** Last transaction of the books when its money was set aside: what its source had gained until then is in it. */
  covers: z.int(),
  status: z.enum(payoutStates),
  /** Until confirmed or failed; a wallet has one open payout at most. */
  open: z.boolean(),
  /** Failed, and the money waits in `blk:<wallet>` until the wallet may be paid. */
  blocked: z.boolean(),
  /** The order as it was fixed before it was first sent: every later attempt sends it again. */
  bytes: z.string().nullable(),
  /** SHA-256 of `bytes`, hex. */
  hash: z.string().nullable(),
  attempts: z.int(),
  last_error: z.string().nullable(),
  /** Business time of the next attempt, or of the next look at a blocked one; null when it is over. */
  next_attempt_at: z.int().nullable(),
  transaction: z.string().nullable(),
  created_at: z.int(),
  updated_at: z.int(),
})
export type PayoutRow = z.infer<typeof PayoutRow>
