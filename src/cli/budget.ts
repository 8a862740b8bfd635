import type { Budget } from '../client/spending/budget.ts'
import { formatAmount, formatPrice, ZERO } from '../core/money.ts'

/** What a command spent, in a line; undefined where it spent and signed for nothing. */
export function spendingLine(budget: Budget): string | undefined {
  const [spent, taken] = [budget.spent(), budget.taken()]
  if (taken === ZERO && spent === ZERO) return undefined
  const open = taken > spent ? `; up to ${formatPrice(taken)} was agreed to and may still be taken` : ''
  return `spent ${formatPrice(spent)} in all${open}`
}

/** The same for programs. */
export function spentAmounts(budget: Budget) {
  return { amount: formatAmount(budget.spent()), agreed: formatAmount(budget.taken()), asset: 'USDC' }
}
