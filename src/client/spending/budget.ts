import { isObject } from '../../core/json.ts'
import { formatPrice, type Usdc, usdc, ZERO } from '../../core/money.ts'
import { isId } from '../wire-id.ts'
import { SpendRefused } from './refused.ts'

/** A sent payment that was not refused, with what it bought. */
export type SentPayment = {
  readonly idempotencyKey: string
  /** Ids of what was bought, from the response; undefined until it arrives. */
  bought?: { readonly job?: string; readonly product?: string }
}

/** Newest payments remembered. */
const SENT_MAX = 3

/**
 * Spending of one command. A price is deducted before its payment is sent. It stays deducted, because a seller can use
 * the signature whatever the response was.
 */
export type Budget = {
  /** @throws SpendRefused if the price exceeds the remaining limit */
  check(price: Usdc, limit: Usdc): void
  /** Deducts a price. @throws SpendRefused if the price exceeds the remaining limit */
  take(price: Usdc, limit: Usdc): void
  left(limit: Usdc): Usdc
  /** Records the charge that a response states; `agreed` is the amount that was deducted before. */
  spend(stated: Usdc, agreed: Usdc): void
  /** Records a payment that was refused, and that can no longer be charged. */
  refuse(agreed: Usdc): void
  refused(): Usdc
  spent(): Usdc
  /** Total authorised. */
  taken(): Usdc
  /** Remembers a payment before it is sent. Call `refused` to forget it, `answered` to add the ids in the response. */
  send(idempotencyKey: string): { refused(): void; answered(body: unknown): void }
  /** The last sent payments, oldest first. */
  sent(): readonly SentPayment[]
}

export function createBudget(): Budget {
  let taken = ZERO
  let spent = ZERO
  let refused = ZERO
  let sent: readonly SentPayment[] = []
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
      // If more was charged than agreed, deduct the difference too.
      if (stated > agreed) taken = usdc(taken + stated - agreed)
    },
    refuse(agreed) {
      refused = usdc(refused + agreed)
    },
    refused: () => refused,
    spent: () => spent,
    taken: () => taken,
    send(idempotencyKey) {
      const payment: SentPayment = { idempotencyKey }
      sent = [...sent.filter((other) => other.idempotencyKey !== idempotencyKey), payment].slice(-SENT_MAX)
      return {
        refused() {
          sent = sent.filter((other) => other !== payment)
        },
        answered(body) {
          payment.bought = boughtIn(body)
        },
      }
    },
    sent: () => sent,
  }
}

function boughtIn(body: unknown): NonNullable<SentPayment['bought']> {
  const { job_id: job, product_id: product } = isObject(body) ? body : {}
  return { ...(isId('job', job) ? { job } : {}), ...(isId('product', product) ? { product } : {}) }
}

function aboveLimit(price: Usdc, { limit, taken }: { readonly limit: Usdc; readonly taken: Usdc }): SpendRefused {
  const before = taken === ZERO ? '' : `, and this command has already spent ${formatPrice(taken)}`
  return new SpendRefused(
    'max_price',
    `This costs ${formatPrice(price)}${before}, above the limit of ${formatPrice(limit)}.`,
    {
      facts: [
        taken === ZERO ? 'nothing was paid' : 'the limit applies to all payments of a command; nothing more was paid',
      ],
      next: [`… --max-price ${formatPrice(usdc(price + taken)).slice(1)}`],
    },
  )
}
