import type { Budget, SentPayment } from '../client/spending/budget.ts'
import { formatAmount, formatPrice, usdc, ZERO } from '../core/money.ts'

/** For a command that failed after paying: its payments, and the commands that retrieve what was bought. */
export function paymentsSent(budget: Budget): { readonly facts: readonly string[]; readonly next: readonly string[] } {
  const sent = budget.sent()
  return { facts: sent.map(sentFact), next: sent.flatMap(wayBack) }
}

function sentFact({ idempotencyKey, bought }: SentPayment): string {
  const id = bought?.job ?? bought?.product
  const what = bought === undefined ? 'it may have been paid' : `it is paid${id === undefined ? '' : `: ${id}`}`
  return `${what}; the same command with --idempotency-key ${idempotencyKey} never pays twice`
}

function wayBack({ idempotencyKey, bought }: SentPayment): readonly string[] {
  const again = `… --idempotency-key ${idempotencyKey}`
  if (bought?.job !== undefined) return [`souk jobs view ${bought.job}`, again]
  return bought?.product === undefined ? [again] : [`souk products download ${bought.product}`, again]
}

/** One line that says what a command spent; undefined if it spent nothing. */
export function spendingLine(budget: Budget): string | undefined {
  const [spent, taken, refused] = [budget.spent(), budget.taken(), budget.refused()]
  if (taken === ZERO && spent === ZERO) return undefined
  const mayStill = usdc(taken - refused)
  const open = mayStill > spent ? `; up to ${formatPrice(mayStill)} is authorised and may still be charged` : ''
  const not = refused === ZERO ? '' : `; nothing charged of ${formatPrice(refused)} (authorised, then refused)`
  return `spent ${formatPrice(spent)} in total${open}${not}`
}

export function spentAmounts(budget: Budget) {
  const [spent, taken, refused] = [budget.spent(), budget.taken(), budget.refused()].map(formatAmount)
  return { amount: spent, agreed: taken, ...(budget.refused() === ZERO ? {} : { refused }), asset: 'USDC' }
}
