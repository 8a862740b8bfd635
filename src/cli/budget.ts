import type { Budget } from '../client/spending/budget.ts'
import { formatAmount, formatPrice, usdc, ZERO } from '../core/money.ts'

/** What a command spent, in a line; undefined where it spent and signed for nothing. */
export function spendingLine(budget: Budget): string | undefined {
  const [spent, taken, refused] = [budget.spent(), budget.taken(), budget.refused()]
  if (taken === ZERO && spent === ZERO) return undefined
  const mayStill = usdc(taken - refused)
  const open = mayStill > spent ? `; up to ${formatPrice(mayStill)} was agreed to and may still be taken` : ''
  const not = refused === ZERO ? '' : `; ${formatPrice(refused)} was agreed to and refused: nothing of it was taken`
  return `spent ${formatPrice(spent)} in all${open}${not}`
}

/** The same for programs. */
export function spentAmounts(budget: Budget) {
  const [spent, taken, refused] = [budget.spent(), budget.taken(), budget.refused()].map(formatAmount)
  return { amount: spent, agreed: taken, ...(budget.refused() === ZERO ? {} : { refused }), asset: 'USDC' }
}
