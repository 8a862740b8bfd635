import { z } from 'zod'
import { Micro } from '../core/money.ts'
import { historyTypes } from './ledger.ts'

/** One line of a participant's balance with what it left behind (decisions §4, balance history). */
export const HistoryRow = z.strictObject({
  /** `<transaction id>:<participant id>`. */
  key: z.string(),
  version: z.int(),
  transaction_id: z.string(),
  participant_id: z.string(),
  /** Number of the transaction in the books. */
  seq: z.int(),
  type: z.enum(historyTypes),
  /** Signed. */
  amount: Micro,
  balance_after: Micro,
  ref_kind: z.string(),
  ref_id: z.string(),
  at: z.int(),
})
export type HistoryRow = z.infer<typeof HistoryRow>
