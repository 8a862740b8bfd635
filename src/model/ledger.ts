import { z } from 'zod'
import { Micro } from '../core/money.ts'

/** One line of a transaction: what an account gains (positive) or gives (negative). */
export const Line = z.strictObject({ account: z.string(), delta: Micro })

/** An append-only transaction of the books; its lines sum to zero (decisions §5). */
export const LedgerRow = z.strictObject({
  id: z.string(),
  version: z.int(),
  kind: z.string(),
  ref_kind: z.string(),
  ref_id: z.string(),
  lines: z.array(Line),
  at: z.int(),
})
export type LedgerRow = z.infer<typeof LedgerRow>

/** Running balance of one account; equals the sum of its lines. */
export const AccountRow = z.strictObject({ id: z.string(), version: z.int(), balance: Micro })
export type AccountRow = z.infer<typeof AccountRow>
