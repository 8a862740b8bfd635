import { AppError } from '../../../src/core/error.ts'
import type { Wallet } from '../../../src/core/hex.ts'
import { type Usdc, usdc } from '../../../src/core/money.ts'
import { everyRow } from '../../store/each-page.ts'
import type { Draw, ReadTx, Tx } from '../../store/port.ts'
import { legsOf } from '../ledger/legs.ts'
import { post } from '../ledger/post.ts'
import { payouts } from './rows.ts'
import { applyPayoutStep } from './steps.ts'

/*
 * After a restore, the chain may show payouts that the backup did not have. What such a payout moved beyond the debts of
 * the books is an advance: the next payouts to its wallet are set off against it.
 */

/** `ref_kind` of payouts that were found on the chain; `ref_id` is the movement. */
export const FOUND = 'transfer'
const PAGE = 500

/** Money that left the chain but not yet the books. */
export async function advancedSum(t: ReadTx): Promise<bigint> {
  const rows = await everyRow(t.table(payouts), { index: 'advanced', prefix: [], limit: PAGE })
  return rows.reduce((sum, { advanced = 0n }) => sum + advanced, 0n)
}

/** Takes up to `most` from the advances of a wallet, oldest first. The caller posts it. */
export async function takeAdvance(t: Tx, { wallet, most }: { wallet: Wallet; most: Usdc }) {
  const rows = await everyRow(t.table(payouts), { index: 'advanced', prefix: [wallet], limit: PAGE })
  let left: bigint = most
  let transaction: string | null = null
  for (const { id } of rows) {
    const row = await t.table(payouts).getForUpdate(id)
    if (!row?.advanced || left === 0n) continue
    const { advanced, ...rest } = row
    const taken = advanced < left ? advanced : left
    left -= taken
    transaction = row.transaction
    await t.table(payouts).put({ ...rest, ...(advanced > taken ? { advanced: usdc(advanced - taken) } : {}) })
  }
  return { amount: usdc(most - left), transaction }
}

/** Moves a payment that was found after a restore to the operator's account, because it was for something delivered. */
export async function settleFound(
  t: Tx,
  draw: Draw,
  { id, reason, at }: { readonly id: string; readonly reason: string; readonly at: number },
): Promise<void> {
  const row = await t.table(payouts).getForUpdate(id)
  if (!row?.blocked || row.ref_kind !== FOUND) {
    throw new AppError('conflict', `${id} is not a payment that waits for a decision: see souk attention.`)
  }
  await applyPayoutStep(t, draw, { row, step: { event: 'unblock', error: reason, at } })
  const legs = legsOf.claimed({ from: row.source, amount: row.amount })
  await post(t, draw, { kind: 'adjustment', ref: { kind: 'payout', id }, legs, at })
}
