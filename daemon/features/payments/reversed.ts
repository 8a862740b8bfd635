import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible'
import { AppError } from '../../../src/core/error.ts'
import type { Wallet } from '../../../src/core/hex.ts'
import { formatAmount, type Usdc, usdc, ZERO } from '../../../src/core/money.ts'
import { HOUR_MS, SECOND_MS } from '../../../src/core/time.ts'
import { accountOwner } from '../../../src/model/ledger.ts'
import { emit, emitAct } from '../../events/event-log.ts'
import { type Context, defineResource, inBackground } from '../../kernel/context.ts'
import { participants } from '../../kernel/rows.ts'
import type { Reversal } from '../../ports/chain/chain.ts'
import { commit } from '../../store/draw.ts'
import { everyRow } from '../../store/each-page.ts'
import type { Draw, ReadTx, Tx } from '../../store/port.ts'
import { areBooksKept, forgetCancelled } from '../ledger/forget.ts'
import { account, legsOf } from '../ledger/legs.ts'
import { balanceOf, post } from '../ledger/post.ts'
import { openRefund } from '../payouts/payouts.ts'
import { authorizationId } from './order.ts'
import { bare, dropFile, idempotency, type PaymentRow, payments } from './rows.ts'
import { type HandlerTable, type Seller, sellerOf, sellers } from './seller.ts'

const PAGE = 100

/** Follows payments that the chain reverted, even long ago. Records a loss, or undoes it if the money returned. */
export function followReversals(ctx: Context): void {
  ctx.chain.onReversed?.((reversal) =>
    inBackground(ctx, 'x402', () => followReversal({ ...ctx, sellers: sellers.of(ctx) }, reversal)),
  )
}

export type ReversalMeans = Pick<Context, 'store' | 'blobs' | 'entropy' | 'clock' | 'chain' | 'log'> & {
  readonly sellers: HandlerTable
}

function followReversal(means: ReversalMeans, reversal: Reversal): Promise<void> {
  return reversal.returned === undefined ? reverse(means, reversal) : restore(means, reversal)
}

/**
 * Marks the payment `reversed` and removes its money from the books, in one transaction. A deposit is first taken from
 * the credited balance, then from the marketplace's own accounts. The payment row keeps the uncovered rest. Idempotent.
 */
export async function reverse(means: ReversalMeans, { from, nonce, value, transaction }: Reversal): Promise<void> {
  const id = authorizationId(means, { authorization: { from, nonce } })
  const at = means.clock.now()
  const lost = await commit(means, async (t, draw) => {
    const payment = await t.table(payments).getForUpdate(id)
    if (payment === undefined || !isPaid(payment)) return undefined
    await freeKey(t, payment)
    const isPosted = payment.state !== 'settled'
    const covered = isPosted ? await coverLoss(t, draw, { payment, loss: payment.price, at }) : nothingLost
    const { uncovered, borne } = covered
    if (!isPosted) await tellUnpaid(t, draw, { payment, at, sellers: means.sellers })
    const was = { reversed_from: payment.state, borne: [...borne] }
    await t.table(payments).put({ ...bare(payment), ...was, ...rest(uncovered), state: 'reversed', updated_at: at })
    const data = { amount: formatAmount(payment.price), uncovered: formatAmount(uncovered), transaction }
    await emitAct(t, draw, { type: 'payment.reversed', subject: subjectOf(payment), data, at })
    return payment
  })
  if (!lost) return
  dropFile(means, lost)
  const facts = {
    source: 'x402',
    payment: lost.receipt_id,
    payer: from,
    amount: formatAmount(usdc(value)),
    transaction,
  }
  means.log.error(facts, 'the chain permanently reverted a settled payment: its money is missing')
}

/** Undoes a booked loss after the chain moved the money again. Idempotent. */
export async function restore(means: ReversalMeans, { from, nonce, value, returned }: Reversal): Promise<void> {
  if (returned === undefined) return
  const id = authorizationId(means, { authorization: { from, nonce } })
  const at = means.clock.now()
  const back = await commit(means, async (t, draw) => {
    const payment = await t.table(payments).getForUpdate(id)
    if (payment?.state !== 'reversed') return undefined
    await returnLoss(t, draw, { payment, transaction: returned, at })
    return payment
  })
  if (!back) return
  const facts = { source: 'x402', payment: back.receipt_id, payer: from, amount: formatAmount(usdc(value)) }
  means.log.warn({ ...facts, transaction: returned }, 'a reverted payment was settled again')
}

/** Withholds a refund of a reversed payment until its money is back. */
export async function withhold(t: Tx, paymentId: string, amount: Usdc): Promise<void> {
  const payment = await t.table(payments).getForUpdate(paymentId)
  if (payment?.state !== 'reversed') return
  await t.table(payments).put({ ...payment, withheld: usdc((payment.withheld ?? ZERO) + amount) })
}

/** Whether the books hold x402 money of the payment: from its settlement until its release or reversal. */
function isPaid({ method, state }: PaymentRow): boolean {
  return method === 'x402' && (state === 'settled' || state === 'fulfilled' || state === 'refunded')
}

function subjectOf({ receipt_id }: PaymentRow) {
  return { kind: 'receipt', id: receipt_id }
}

function rest(uncovered: Usdc): Pick<PaymentRow, 'uncovered'> {
  return uncovered > 0n ? { uncovered } : {}
}

const nothingLost: Covered = { uncovered: ZERO, borne: [] }

type Lost = { readonly payment: PaymentRow; readonly at: number }

/** Tells the seller that its started work will not be paid. Nothing was delivered, but a provider may have worked. */
async function tellUnpaid(
  t: Tx,
  draw: Draw,
  { payment, at, sellers: all }: Lost & Pick<ReversalMeans, 'sellers'>,
): Promise<void> {
  const hasRun = payment.begun !== undefined || payment.outcome !== null
  if (hasRun) await sellerOf(all, payment.endpoint)?.handler.onUnpaid?.(t, draw, { payment, now: at })
}

/** The uncovered part of a loss, and the accounts that bore the rest. */
type Covered = { readonly uncovered: Usdc; readonly borne: readonly Bearing[] }

async function coverLoss(t: Tx, draw: Draw, { payment, loss, at }: Lost & { readonly loss: Usdc }): Promise<Covered> {
  const credited = await creditedTo(t, payment)
  const sources = [...(credited === undefined ? [] : [account.balance(credited)]), ...bearers]
  const held = await Promise.all(sources.map(async (from) => ({ from, balance: await balanceOf(t, from) })))
  const { parts, uncovered } = dividedLoss(loss, held)
  const ref = subjectOf(payment)
  await post(t, draw, { kind: 'reversal', ref, legs: parts.flatMap(legsOf.reversal), at })
  const [taken] = parts
  if (credited !== undefined && taken?.from === account.balance(credited)) {
    const data = { amount: formatAmount(usdc(-taken.amount)), reason: 'The chain reverted the payment of a deposit.' }
    const subject = { kind: 'participant', id: credited }
    await emit(t, draw, { type: 'admin.balance_adjusted', participantId: credited, subject, data, at })
  }
  return { uncovered, borne: parts }
}

/** The participant whose balance got the deposit. The loss is first taken from this balance. */
async function creditedTo(
  t: ReadTx,
  { endpoint, payer, state, reversed_from: was = state }: PaymentRow,
): Promise<string | undefined> {
  if (endpoint !== 'deposit' || was !== 'fulfilled') return undefined
  return (await t.table(participants).page('wallet', [payer], { limit: 1 })).rows[0]?.id
}

/** Uses later revenue to cover losses from reverted payments, oldest loss first. */
export async function coverLosses(ctx: Pick<Context, 'store' | 'entropy' | 'clock'>): Promise<void> {
  const open = await everyRow(ctx.store.table(payments), { index: 'uncovered', prefix: [], limit: PAGE })
  for (const { id } of open) {
    const left = await commit(ctx, async (t, draw) => {
      const payment = await t.table(payments).getForUpdate(id)
      if (payment?.uncovered === undefined) return ZERO
      const { uncovered: loss, ...bared } = payment
      const at = ctx.clock.now()
      const { uncovered, borne } = await coverLoss(t, draw, { payment, loss, at })
      const all = [...(payment.borne ?? []), ...borne]
      if (uncovered < loss) await t.table(payments).put({ ...bared, ...rest(uncovered), borne: all, updated_at: at })
      return uncovered
    })
    if (left > 0n) return
  }
}

export async function uncoveredLosses(t: ReadTx): Promise<readonly PaymentRow[]> {
  return everyRow(t.table(payments), { index: 'uncovered', prefix: [], limit: PAGE })
}

type Back = { readonly payment: PaymentRow; readonly transaction: string; readonly at: number }

/**
 * Restores a reversed payment that was settled again. Gives each account its loss back. Pays a withheld refund as far
 * as the marketplace's money suffices; the payment row keeps the rest. Refunds a payment that was never fulfilled.
 */
export async function returnLoss(t: Tx, draw: Draw, { payment, transaction, at }: Back): Promise<void> {
  const { uncovered = ZERO, borne, reversed_from: was = 'fulfilled', withheld = ZERO, ...bared } = payment
  const ref = { kind: 'receipt', id: payment.receipt_id }
  const isUnused = was === 'settled'
  if (isUnused) {
    const legs = legsOf.settledRefused({ payer: payment.payer, amount: payment.price })
    await post(t, draw, { kind: 'refund', ref, legs, at })
  } else {
    const parts = borne ?? [{ from: account.oper, amount: usdc(payment.price - uncovered) }]
    const legs = parts.flatMap(({ from, amount }) => legsOf.returned({ to: from, amount }))
    if (legs.length > 0) await post(t, draw, { kind: 'reversal', ref, legs, at })
    for (const part of parts) await tellOwner(t, draw, { ...part, at })
  }
  const left = await payWithheld(t, draw, { payment, withheld, at })
  if (isUnused) await openRefund(t, draw, { wallet: payment.payer, ref, at })
  const state = isUnused ? 'refunded' : was
  await t.table(payments).put({ ...bared, ...unpaid(left), state, transaction, updated_at: at })
  const data = { amount: formatAmount(payment.price), transaction }
  await emitAct(t, draw, { type: 'payment.returned', subject: ref, data, at })
}

type Part = { readonly from: string; readonly amount: Usdc; readonly at: number }

async function tellOwner(t: Tx, draw: Draw, { from, amount, at }: Part): Promise<void> {
  const participantId = from.startsWith('bal:') ? accountOwner(from) : null
  if (participantId === null) return
  const data = { amount: formatAmount(amount), reason: 'A reverted deposit was settled again.' }
  const subject = { kind: 'participant', id: participantId }
  await emit(t, draw, { type: 'admin.balance_adjusted', participantId, subject, data, at })
}

type Withheld = { readonly payment: PaymentRow; readonly withheld: Usdc; readonly at: number }

/** Pays a withheld refund from the marketplace's own accounts. @returns the remaining debt */
async function payWithheld(t: Tx, draw: Draw, { payment, withheld, at }: Withheld): Promise<Usdc> {
  if (withheld === ZERO) return ZERO
  const { payer, receipt_id: id } = payment
  const ref = { kind: 'receipt', id }
  const own = await Promise.all(bearers.map(async (from) => ({ from, balance: await balanceOf(t, from) })))
  const { parts, uncovered: left } = dividedLoss(withheld, own)
  const legs = parts.flatMap(({ from, amount }) => legsOf.withheldRefund({ from, payer, amount }))
  if (legs.length > 0) {
    await post(t, draw, { kind: 'refund', ref, legs, at })
    await openRefund(t, draw, { wallet: payer, ref, at })
  }
  return left
}

export const owingStates = ['fulfilled', 'refunded'] as const

function unpaid(left: Usdc): Pick<PaymentRow, 'withheld'> {
  return left > 0n ? { withheld: left } : {}
}

/** Uses later revenue to pay withheld refunds, oldest refund first. */
export async function payAllWithheld(ctx: Pick<Context, 'store' | 'entropy' | 'clock'>): Promise<void> {
  const table = ctx.store.table(payments)
  const owed = await Promise.all(
    owingStates.map((state) => everyRow(table, { index: 'withheld', prefix: [state], limit: PAGE })),
  )
  for (const { id } of owed.flat().toSorted((a, b) => a.created_at - b.created_at)) {
    const left = await commit(ctx, async (t, draw) => {
      const payment = await t.table(payments).getForUpdate(id)
      if (payment?.withheld === undefined || payment.state === 'reversed') return ZERO
      const { withheld, ...rest } = payment
      const at = ctx.clock.now()
      const due = await payWithheld(t, draw, { payment, withheld, at })
      if (due < withheld) await t.table(payments).put({ ...rest, ...unpaid(due), updated_at: at })
      return due
    })
    if (left > 0n) return
  }
}

/**
 * The accounts that bear losses, in this order. All of them hold the marketplace's own money, never money of providers,
 * holds or refunds.
 */
export const bearers = [account.oper, account.ops, account.fees] as const

export type Bearing = { readonly from: string; readonly amount: Usdc }

/** Divides a loss among accounts, in their order and within their balances. */
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
const MAX_RELEASED = 4_000

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
async function freeKey(t: Tx, { id, idempotency: key }: PaymentRow): Promise<void> {
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
