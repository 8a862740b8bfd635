import type { z } from 'zod'
import type { BalanceEntry, Balance as BalanceSchema } from '../../../src/api/sections/balance.ts'
import { type Usdc, usdc } from '../../../src/core/money.ts'
import type { ParticipantRow } from '../../kernel/rows.ts'
import type { ReadTx } from '../../store/port.ts'
import { account } from '../ledger/legs.ts'
import { balanceOf } from '../ledger/post.ts'
import type { HistoryRow } from '../ledger/rows.ts'
import { MAX_OPEN_PAYMENTS } from './reserve.ts'
import { payments } from './rows.ts'

export type Balance = { readonly available: Usdc; readonly held: Usdc; readonly total: Usdc }

/** What a participant can spend, and what its open calls have reserved. */
export async function balanceFacts(t: ReadTx, participant: Pick<ParticipantRow, 'id' | 'wallet'>): Promise<Balance> {
  const available = await balanceOf(t, account.balance(participant.id))
  const { rows } = await t.table(payments).page('open_payer', [participant.wallet], { limit: MAX_OPEN_PAYMENTS })
  const held = rows.filter((row) => row.method === 'balance').reduce((sum, row) => sum + row.price, 0n)
  return { available, held: usdc(held), total: usdc(available + held) }
}

export async function balanceView(
  t: ReadTx,
  participant: Pick<ParticipantRow, 'id' | 'wallet'>,
): Promise<z.output<typeof BalanceSchema>> {
  const { available, held, total } = await balanceFacts(t, participant)
  return { balance: total, available, held, currency: 'USDC', participant_id: participant.id }
}

export function entryView(row: HistoryRow): z.output<typeof BalanceEntry> {
  return {
    id: row.transaction_id,
    type: row.type,
    amount: row.amount,
    balance_after: row.balance_after,
    reference: { kind: row.ref_kind, id: row.ref_id },
    created_at: row.at,
  }
}
