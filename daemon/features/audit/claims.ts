import { type Usdc, usdc } from '../../../src/core/money.ts'
import { everyRow } from '../../store/each-page.ts'
import type { ReadTx } from '../../store/port.ts'
import { jobs } from '../jobs/rows.ts'
import { account } from '../ledger/legs.ts'
import { payments } from '../payments/rows.ts'
import { type PayoutRow, payouts } from '../payouts/rows.ts'
import { SLICE_ROWS } from './slices.ts'

/** A record that says how much money an account holds for it. */
export type Claim = { readonly account: string; readonly amount: Usdc; readonly by: string }

/** Everything that claims held money; call it inside one read. */
export async function claimsOf(t: ReadTx): Promise<Claim[]> {
  const claims: Claim[] = []
  for (const row of await everyRow(t.table(payments), { index: 'open', prefix: [], limit: SLICE_ROWS })) {
    if (row.method === 'balance') claims.push({ account: account.hold(row.id), amount: row.price, by: row.receipt_id })
  }
  for (const row of await everyRow(t.table(payouts), { index: 'due', prefix: [], limit: SLICE_ROWS })) {
    claims.push({ account: account.payout(row.id), amount: row.amount, by: row.id })
  }
  claims.push(...keptClaims(await everyRow(t.table(payouts), { index: 'blocked', prefix: [], limit: SLICE_ROWS })))
  for (const job of await everyRow(t.table(jobs), { index: 'held', prefix: [], limit: SLICE_ROWS })) {
    claims.push({ account: account.escrow(job.id), amount: job.amount, by: job.id })
  }
  return claims
}

/** What is kept from a wallet lies in one account, whatever it was paid for. */
function keptClaims(rows: readonly PayoutRow[]): Claim[] {
  const byWallet = new Map<PayoutRow['wallet'], PayoutRow[]>()
  for (const row of rows) byWallet.set(row.wallet, [...(byWallet.get(row.wallet) ?? []), row])
  return [...byWallet].map(([wallet, kept]) => ({
    account: account.blocked(wallet),
    amount: usdc(kept.reduce((sum, { amount }) => sum + amount, 0n)),
    by: kept.map(({ id }) => id).join(', '),
  }))
}
