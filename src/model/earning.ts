import { z } from 'zod'
import { Micro } from '../core/money.ts'
import { type EntryKind, entryKinds } from './ledger.ts'

/** What somebody earned by: an own sale, or the fee of one whose buyer (agent) or provider it referred. */
export const earningRoles = ['sale', 'agent', 'provider'] as const
export type EarningRole = (typeof earningRoles)[number]

/** One earning of a participant; written with the transaction of the books that it is a line of. */
export const EarningRow = z.strictObject({
  /** Id of the transaction and role. */
  id: z.string(),
  version: z.int(),
  owner_id: z.string(),
  role: z.enum(earningRoles),
  stream: z.enum(['sales', 'referrals']),
  /** Number of the transaction in the books. */
  seq: z.int(),
  kind: z.enum(Object.keys(entryKinds) as EntryKind[]),
  transaction_id: z.string(),
  amount: Micro,
  /** All that the owner ever earned in this role, this one included. */
  total_after: Micro,
  /** Who was referred, where it is registered. */
  referred_id: z.string().nullable(),
  /** All that the owner ever earned by this one, this one included. */
  referred_total_after: Micro,
  ref_kind: z.string(),
  ref_id: z.string(),
  at: z.int(),
})
export type EarningRow = z.infer<typeof EarningRow>
