import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible'
import { AppError } from '../../../src/core/error.ts'
import type { Wallet } from '../../../src/core/hex.ts'
import { HOUR_MS, SECOND_MS } from '../../../src/core/time.ts'
import type { Context } from '../../kernel/context.ts'
import { defineResource } from '../../kernel/resource.ts'
import { commit, type Draw } from '../../store/draw.ts'
import type { Tx } from '../../store/port.ts'
import { areBooksKept, forgetCancelled } from '../ledger/forget.ts'
import { legsOf } from '../ledger/legs.ts'
import { post } from '../ledger/post.ts'
import { bare, dropFile, idempotency, type PaymentRow, payments } from './rows.ts'
import type { Seller } from './seller.ts'

/** Releases an unsent reservation. Its funds are free again, and held money returns to the balance. */
export async function release(ctx: Context, paymentId: string, { handler }: Seller): Promise<void> {
  const at = ctx.clock.now()
  const released = await commit(ctx, async (t, draw) => {
    const payment = await t.table(payments).getForUpdate(paymentId)
    if (!payment?.open || payment.transaction !== null) return undefined
    const books = payment.method === 'balance' ? await releaseHold(t, draw, { payment, at }) : {}
    await freeKey(t, payment)
    const hasRun = payment.begun !== undefined || payment.outcome !== null
    if (hasRun) await handler.onUnpaid?.(t, draw, { payment, now: at })
    await t.table(payments).put({ ...bare(payment), ...books, state: 'released', updated_at: at })
    if (!areBooksKept(ctx.store)) await forgetOldest(t)
    return payment
  })
  if (released) dropFile(ctx, released)
}

/** Maximum released payments kept. The oldest are removed first. */
export const MAX_RELEASED = 4_000

async function forgetOldest(t: Tx): Promise<void> {
  const table = t.table(payments)
  if ((await table.count('released', [])) <= MAX_RELEASED) return
  for (const oldest of (await table.page('released', [], { limit: 2 })).rows) {
    await table.delete(oldest.id)
    await forgetBooks(t, oldest)
  }
}

/** Removes the ledger transactions of a released payment: its hold and the return of the hold. */
export async function forgetBooks(t: Tx, { books }: Pick<PaymentRow, 'books'>): Promise<void> {
  if (books !== undefined && books.length > 1) await forgetCancelled(t, books)
}

/** Returns held money to the balance. @returns `books` with the ids of both transactions: hold and release */
export async function releaseHold(
  t: Tx,
  draw: Draw,
  { payment, at }: { payment: PaymentRow; at: number },
): Promise<Pick<PaymentRow, 'books'>> {
  const participantId = payment.participant_id as string // a balance payer is known by key
  const id = await post(t, draw, {
    kind: 'balance_release',
    ref: { kind: 'payment', id: payment.id },
    legs: legsOf.balanceRelease({ participantId, paymentId: payment.id, amount: payment.price }),
    at,
    shownAs: { type: 'release', ref: { kind: 'receipt', id: payment.receipt_id } },
  })
  return id === null || payment.books === undefined ? {} : { books: [...payment.books, id] }
}

/** Frees a payment's idempotency key, unless another payment has taken it since. */
export async function freeKey(t: Tx, { id, idempotency: key }: PaymentRow): Promise<void> {
  if (key === null) return
  const used = await t.table(idempotency).getForUpdate(key)
  if (used?.payment_id === id) await t.table(idempotency).delete(key)
}

/** Maximum reservations per wallet and hour that may end without a charge. This limits work that nobody pays for. */
export const MAX_UNPAID_ATTEMPTS = 600

/** Unpaid attempts by wallet, in memory and by wall time. A restart loses at most an hour's count. */
export const unpaidAttempts = defineResource<RateLimiterMemory>('counts of unpaid attempts')

export const countingUnpaid = (): RateLimiterMemory =>
  new RateLimiterMemory({ points: MAX_UNPAID_ATTEMPTS, duration: HOUR_MS / SECOND_MS })

export async function countUnpaid(ctx: Context, wallet: Wallet): Promise<void> {
  await unpaidAttempts.of(ctx).penalty(wallet)
}

/** @throws AppError 429 if the wallet has too many unpaid reservations */
export async function refuseUnpaid(ctx: Context, wallet: Wallet): Promise<void> {
  const state: RateLimiterRes | null = await unpaidAttempts.of(ctx).get(wallet)
  if (state === null || state.consumedPoints < MAX_UNPAID_ATTEMPTS) return
  throw new AppError('rate_limited', `This wallet left ${MAX_UNPAID_ATTEMPTS} purchases unpaid within an hour.`, {
    retryAfter: Math.max(1, Math.ceil(state.msBeforeNext / SECOND_MS)),
  })
}
