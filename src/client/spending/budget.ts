import { formatPrice, type Usdc, usdc, ZERO } from '../../core/money.ts'
import { SpendRefused } from './refused.ts'

/**
 * What one command may spend, over all its payments: each signature and each charge of a balance is taken from it
 * first. What was taken is never given back: whoever has a signature can use it, whatever they answered.
 */
export type Budget = {
  /** @throws SpendRefused when a price, with all that was taken, would be above the limit. */
  check(price: Usdc, limit: Usdc): void
  /** Takes a price out. @throws as `check` does. */
  take(price: Usdc, limit: Usdc): void
  /** What is left under a limit. */
  left(limit: Usdc): Usdc
  /** Counts what an answer says that it took; `agreed` is what had been taken out for it. */
  spend(stated: Usdc, agreed: Usdc): void
  /** Counts what was agreed to and refused, so that nothing of it can be taken any more. */
  refuse(agreed: Usdc): void
  /** What was refused, in all. */
  refused(): Usdc
  /** What answers said that they took, in all. */
  spent(): Usdc
  /** What was signed for or allowed to be charged, in all. */
  taken(): Usdc
}

export function createBudget(): Budget {
  let taken = ZERO
  let spent = ZERO
  let refused = ZERO
  const left = (limit: Usdc) => (limit > taken ? usdc(limit - taken) : ZERO)
  const check = (price: Usdc, limit: Usdc) => {
    if (price > left(limit)) throw aboveLimit(price, { limit, taken })
  }
  return {
    left,
    check,
    take(price, limit) {
      check(price, limit)
      taken = usdc(taken + price)
    },
    spend(stated, agreed) {
      spent = usdc(spent + stated)
      // Who takes more than was agreed takes it from what is left.
      if (stated > agreed) taken = usdc(taken + stated - agreed)
    },
    refuse(agreed) {
      refused = usdc(refused + agreed)
    },
    refused: () => refused,
    spent: () => spent,
    taken: () => taken,
  }
}

type Taken = { readonly limit: Usdc; readonly taken: Usdc }

function aboveLimit(price: Usdc, { limit, taken }: Taken): SpendRefused {
  const before = taken === ZERO ? '' : `, and this command has already spent ${formatPrice(taken)}`
  return new SpendRefused(
    'max_price',
    `This costs ${formatPrice(price)}${before}, above the limit of ${formatPrice(limit)}.`,
    {
      facts: [
        taken === ZERO ? 'nothing was paid' : 'the limit holds for all payments of a command; nothing more was paid',
      ],
      next: [`… --max-price ${formatPrice(usdc(price + taken)).slice(1)}`],
    },
  )
}
