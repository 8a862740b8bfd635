import { z } from 'zod'
import { Payout } from '../../../src/api/sections/money.ts'
import { Micro, StoredWallet } from '../../../src/core/codecs.ts'
import { pick } from '../../../src/core/record.ts'
import { payoutKinds, payoutStates } from '../../../src/model/words.ts'
import { type AnyCollection, defineCollection, stored } from '../../store/port.ts'
/** A payout, written with the ledger entry that sets its money aside in `out:<id>`. */
export const PayoutRow = z.strictObject({
  ...stored,
  kind: z.enum(payoutKinds),
  wallet: StoredWallet,
  /** Pay-to address that signed the payout first; absent before that, and in rows of earlier builds. */
  from: StoredWallet.exactOptional(),
  amount: Micro,
  /** Account from which the money was taken. If the payout fails, the money returns there. */
  source: z.string(),
  ref_kind: z.string(),
  ref_id: z.string(),
  /** Number of the last ledger transaction when the money was set aside. */
  covers: z.int(),
  status: z.enum(payoutStates),
  /** True until the payout is confirmed or failed. A wallet has at most one open payout. */
  open: z.boolean(),
  /** True if the payout failed and its money waits in `blk:<wallet>`. */
  blocked: z.boolean(),
  /** The transfer order, fixed before the first attempt. Retries send the same bytes. */
  bytes: z.string().nullable(),
  /** SHA-256 of `bytes`, hex. */
  hash: z.string().nullable(),
  attempts: z.int(),
  last_error: z.string().nullable(),
  /** Business time of the next attempt or review; null when the payout has ended. */
  next_attempt_at: z.int().nullable(),
  transaction: z.string().nullable(),
  /** For a payout that was made after the backup: the part that the books do not owe its wallet yet. */
  advanced: Micro.exactOptional(),
  created_at: z.int(),
  updated_at: z.int(),
})
export type PayoutRow = z.infer<typeof PayoutRow>

export const payouts = defineCollection('payouts', {
  schema: PayoutRow,
  indexes: [
    { name: 'due', fields: ['next_attempt_at'], where: { field: 'open', equals: true } },
    { name: 'open_wallet', fields: ['wallet'], unique: true, where: { field: 'open', equals: true } },
    { name: 'blocked', fields: ['next_attempt_at'], where: { field: 'blocked', equals: true } },
    { name: 'source', fields: ['source', 'created_at'], order: 'desc' },
    { name: 'wallet', fields: ['wallet', 'created_at'], order: 'desc' },
    { name: 'blocked_wallet', fields: ['wallet'], where: { field: 'blocked', equals: true } },
    { name: 'status', fields: ['status', 'created_at'], order: 'desc' },
    { name: 'ref', fields: ['ref_id'] },
    { name: 'newest', fields: ['created_at'], order: 'desc' },
    { name: 'advanced', fields: ['wallet', 'created_at'], where: { field: 'advanced', present: true } },
  ],
})

/** Number of gas actions of one wallet on one day: actions that cost the operator gas. */
const GasDayRow = z.strictObject({
  /** `<day>:<wallet>`. The day is the number of UTC days since the epoch. */
  ...stored,
  day: z.int(),
  acts: z.int(),
  /** Whether the wallet withdrew a whole balance below the minimum on that day. */
  emptied: z.boolean(),
})

export const gasDays = defineCollection('gas_days', { schema: GasDayRow, indexes: [{ name: 'day', fields: ['day'] }] })

export const payoutCollections: readonly AnyCollection[] = [payouts, gasDays]

export function payoutView(row: PayoutRow): z.output<typeof Payout> {
  return { ...pick(row, Payout.shape), payout_id: row.id, reference: { kind: row.ref_kind, id: row.ref_id } }
}
