import { type Usdc, usdc } from '../../../src/core/money.ts'
import { account } from '../ledger/legs.ts'

/**
 * What the marketplace itself has, in the order in which it bears a loss: nothing of it was promised to anybody. Money
 * of providers, holds and refunds is never touched, whatever the chain does.
 */
export const bearers = [account.oper, account.ops, account.fees] as const

export type Bearing = { readonly from: string; readonly amount: Usdc }

/** Divides a loss among accounts in their order; nobody gives more than is there. */
export function dividedLoss(
  loss: Usdc,
  sources: readonly { readonly from: string; readonly balance: Usdc }[],
): { readonly parts: readonly Bearing[]; readonly uncovered: Usdc } {
  let left = loss
  const parts: Bearing[] = []
  for (const { from, balance } of sources) {
    const amount = balance < left ? balance : left
    if (amount <= 0n) continue
    parts.push({ from, amount })
    left = usdc(left - amount)
  }
  return { parts, uncovered: left }
}
