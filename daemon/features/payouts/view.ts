import type { z } from 'zod'
import type { Payout } from '../../../src/api/sections/money.ts'
import type { PayoutRow } from './rows.ts'

export function payoutView(row: PayoutRow): z.output<typeof Payout> {
  return {
    id: row.id,
    payout_id: row.id,
    kind: row.kind,
    wallet: row.wallet,
    amount: row.amount,
    status: row.status,
    blocked: row.blocked,
    reference: { kind: row.ref_kind, id: row.ref_id },
    attempts: row.attempts,
    last_error: row.last_error,
    next_attempt_at: row.next_attempt_at,
    transaction: row.transaction,
    created_at: row.created_at,
    updated_at: row.updated_at,
  }
}
