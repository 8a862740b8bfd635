import type { Usdc } from '../src/core/money.ts'
import { account } from './rules/books.ts'
import { everyRow } from './store/audit.ts'
import { jobs, payments, payouts } from './store/collections.ts'
import type { ReadTx } from './store/port.ts'

/** A record that says how much money an account holds for it. */
export type Claim = { readonly account: string; readonly amount: Usdc; readonly by: string }

/** Everything that claims held money; call it inside one read. */
export async function claimsOf(t: ReadTx): Promise<Claim[]> {
  const claims: Claim[] = []
  for (const row of await everyRow(t, payments, 'open')) {
    if (row.method === 'balance') claims.push({ account: account.hold(row.id), amount: row.price, by: row.receipt_id })
  }
  for (const row of await everyRow(t, payouts, 'due')) {
    claims.push({ account: account.payout(row.id), amount: row.amount, by: row.id })
  }
  for (const job of await everyRow(t, jobs, 'held')) {
    claims.push({ account: account.escrow(job.id), amount: job.amount, by: job.id })
  }
  return claims
}
