import { type Usdc, ZERO } from '../../../src/core/money.ts'
import type { Payee } from '../../../src/model/payout.ts'
import { share } from '../ledger/split.ts'

export type PayeeShare = { readonly to: Payee['to']; readonly amount: Usdc }

const WHOLE_BPS = 10_000n

/** Unless told otherwise all of it is the operator's (decisions §5). */
export const operatorOnly: readonly Payee[] = [{ to: 'operator', bps: WHOLE_BPS }]

/** What each payee gets of an amount, floored to atomic units; what is left of it stays where it is. */
export function sharesOf(amount: Usdc, payees: readonly Payee[]): PayeeShare[] {
  return payees.map(({ to, bps }) => ({ to, amount: share(amount, bps) })).filter((one) => one.amount > ZERO)
}

/** What is wrong with a list of payees, undefined when nothing is. */
export function payeeFault(payees: readonly Payee[]): string | undefined {
  if (new Set(payees.map(({ to }) => to)).size < payees.length) return 'a payee is named twice'
  if (payees.some(({ bps }) => bps <= 0n)) return 'a share must be more than 0'
  const sum = payees.reduce((total, { bps }) => total + bps, 0n)
  return sum === WHOLE_BPS ? undefined : `the shares sum to ${Number(sum) / 100} %, not 100 %`
}
