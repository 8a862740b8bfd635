import { isObject } from '../../core/json.ts'
import { formatPrice, type Usdc, usdc, ZERO } from '../../core/money.ts'
import { isId } from '../wire-id.ts'
import { SpendRefused } from './refused.ts'

/** A payment that left this machine and was not refused: what leads back to what it bought. */
export type SentPayment = {
  readonly idempotencyKey: string
  /** Ids in its answer; undefined while none has come. */
  bought?: { readonly job?: string; readonly product?: string }
}

/** Payments of one command that are remembered: the newest. */
const SENT_MAX = 3

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
  /** Remembers a payment that is about to leave; `refused` forgets it, `answered` keeps what it bought. */
  send(idempotencyKey: string): { refused(): void; answered(body: unknown): void }
  /** The newest payments that were sent and not refused, oldest first. */
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
      // Who takes more than was agreed takes it from what is left.
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
