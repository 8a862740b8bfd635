import { AppError } from '../../../src/core/error.ts'
import { formatAmount, type Usdc, usdc } from '../../../src/core/money.ts'
import type { PaymentFault } from '../../../src/core/payment-fault.ts'
import type { HistoryType } from '../../../src/model/ledger.ts'
import { paused } from '../../kernel/paused.ts'
import { readPlatform } from '../../kernel/switches.ts'
import { commit, type Draw } from '../../store/draw.ts'
import type { Draft, ReadTx, Tx } from '../../store/port.ts'
import { areBooksKept, forgetCancelled } from '../ledger/forget.ts'
import { account, postings } from '../ledger/legs.ts'
import { balanceOf, post } from '../ledger/post.ts'
import { bare, dropFile } from './carried.ts'
import type { PaidCall } from './paid-call.ts'
import { idempotency, type PaymentRow, payments } from './rows.ts'

/** Payments of one wallet that may be under way at once, and of all together. */
export const MAX_OPEN_PAYMENTS = 256
export const MAX_OPEN_PAYMENTS_IN_ALL = 4_096

export type Reservation =
  | { readonly kind: 'reserved'; readonly payment: PaymentRow }
  /** The same authorization, or the same `Idempotency-Key`, was here before. */
  | { readonly kind: 'known'; readonly payment: PaymentRow }
  /** `settling`: payments of the wallet whose money may have left it meanwhile. */
  | { readonly kind: 'refused'; readonly fault: PaymentFault; readonly settling: readonly string[] }
  | { readonly kind: 'short'; readonly available: Usdc }

export type Funds = {
  /** What the wallet holds on the chain. */
  readonly onChain: Usdc
  /** Open payments that the chain has moved already: gone from the wallet, so not promised any more. */
  readonly moved: ReadonlySet<string>
}

/**
 * Writes the payment row durably before anything runs; the pause flag is read again here, so that a
 * reservation that races a pause is one or the other (decisions §12).
 */
export function reserve(call: PaidCall, { id, funds }: { id: string; funds: Funds }): Promise<Reservation> {
  return commit(call.ctx, async (t, draw) => {
    const platform = await readPlatform(t)
    const known = await knownPayment(t, call, id)
    if (known) return { kind: 'known', payment: known }
    if (platform.paused_at !== null) throw paused(platform.paused_at)
    const draft = draftOf(call, draw, id)
    const refusal = await refusalOf(t, draw, { call, draft, funds })
    if (refusal) return refusal
    await t.table(payments).getForUpdate(draft.id)
    const payment = await t.table(payments).put(draft)
    if (call.idempotency) {
      await t.table(idempotency).getForUpdate(call.idempotency)
      await t.table(idempotency).put({ id: call.idempotency, payment_id: payment.id, at: call.base.now })
    }
    return { kind: 'reserved', payment }
  })
}

type Asked = { readonly call: PaidCall; readonly draft: Draft<PaymentRow>; readonly funds: Funds }

/** What a subscription pays for needs no money. */
async function refusalOf(t: Tx, draw: Draw, { call, draft, funds }: Asked): Promise<Reservation | undefined> {
  await refuseTooMany(t, draft.payer)
  if (draft.method === 'x402') return authorizationRefusal(t, call, funds)
  return draft.method === 'balance' ? holdBalance(t, draw, { call, draft }) : undefined
}

/** A released authorization may be used afresh, and frees its `Idempotency-Key`. */
async function knownPayment(t: Tx, call: PaidCall, id: string): Promise<PaymentRow | undefined> {
  const table = t.table(payments)
  const same = await table.getForUpdate(id)
  if (same && same.state !== 'released') return same
  const key = call.idempotency ? await t.table(idempotency).get(call.idempotency) : undefined
  const earlier = key ? await table.get(key.payment_id) : undefined
  return earlier && earlier.state !== 'released' ? earlier : undefined
}

function draftOf(call: PaidCall, draw: Draw, id: string): Draft<PaymentRow> {
  const { credential, base } = call
  const method = methodOf(call)
  return {
    id,
    method,
    state: 'reserved',
    open: true,
    payer: base.payer.wallet,
    participant_id: base.payer.participant?.id ?? null,
    // Verified: the price, or within the range where the payer chooses.
    price: credential ? usdc(credential.authorization.value) : call.quote.price,
    settle: call.quote.settle,
    endpoint: call.name,
    input: null,
    fingerprint: call.fingerprint,
    idempotency: call.idempotency,
    receipt_id: draw.id('receipt'),
    authorization: authorizationOf(call),
    terms: call.quote.terms ?? null,
    outcome: null,
    transaction: null,
    ...(method === 'balance' ? { books: [draw.id('transaction')] } : {}),
    created_at: base.now,
    updated_at: base.now,
  }
}

/** How a call is paid for. */
export function methodOf({ credential, quote }: Pick<PaidCall, 'credential' | 'quote'>): PaymentRow['method'] {
  if (credential) return 'x402'
  return quote.coveredBy === undefined ? 'balance' : 'subscription'
}

function authorizationOf({ credential }: PaidCall): PaymentRow['authorization'] {
  if (!credential) return null
  const { value, validAfter, validBefore, nonce } = credential.authorization
  return {
    x402_version: credential.version,
    value: usdc(value),
    valid_after: validAfter,
    valid_before: validBefore,
    nonce,
    signature: credential.signature,
  }
}

/** @throws AppError 429 for the wallet, 503 for all. */
async function refuseTooMany(t: ReadTx, wallet: string): Promise<void> {
  if ((await t.table(payments).count('open_payer', [wallet])) >= MAX_OPEN_PAYMENTS) {
    throw new AppError('rate_limited', `${MAX_OPEN_PAYMENTS} payments of this wallet are still open.`, {
      retryAfter: 1,
    })
  }
  if ((await t.table(payments).count('open', [])) >= MAX_OPEN_PAYMENTS_IN_ALL) {
    throw new AppError('unavailable', 'Too many payments are under way at once.', { retryAfter: 1 })
  }
}

async function authorizationRefusal(t: ReadTx, call: PaidCall, funds: Funds): Promise<Reservation | undefined> {
  const { rows } = await t.table(payments).page('open_payer', [call.base.payer.wallet], { limit: MAX_OPEN_PAYMENTS })
  const promised = rows.filter((row) => row.method === 'x402' && row.state !== 'settled' && !funds.moved.has(row.id))
  const reserved = promised.reduce((sum, row) => sum + row.price, 0n)
  const value = call.credential?.authorization.value ?? 0n
  if (funds.onChain >= value + reserved) return undefined
  const settling = promised.filter((row) => row.state === 'settling').map((row) => row.id)
  return { kind: 'refused', fault: 'insufficient_funds', settling }
}

/** A balance payment is first a hold. */
async function holdBalance(
  t: Tx,
  draw: Draw,
  { call, draft }: { call: PaidCall; draft: Draft<PaymentRow> },
): Promise<Reservation | undefined> {
  const participantId = draft.participant_id as string // a balance payer is known by key
  const available = await balanceOf(t, account.balance(participantId))
  if (available < draft.price) return { kind: 'short', available }
  const [id] = draft.books ?? []
  await post(t, draw, {
    ...(id === undefined ? {} : { id }),
    kind: 'balance_hold',
    ref: { kind: 'payment', id: draft.id },
    legs: postings.balanceHold({ participantId, paymentId: draft.id, amount: draft.price }),
    at: call.base.now,
    shownAs: { type: shownAs(call), ref: { kind: 'receipt', id: draft.receipt_id } },
  })
  return undefined
}

function shownAs({ row, quote }: PaidCall): HistoryType {
  if (row.access.price !== 'varies') return 'fee'
  return quote.escrow ? 'escrow_hold' : 'purchase'
}

export function shortMessage(required: Usdc, available: Usdc): string {
  return `The balance has $${formatAmount(available)} available; this costs $${formatAmount(required)}.`
}

/** Frees a reservation of which nothing was sent: the wallet's funds count again, a hold goes back. */
export async function release({ ctx, handler }: Pick<PaidCall, 'ctx' | 'handler'>, paymentId: string): Promise<void> {
  const released = await commit(ctx, async (t, draw) => {
    const payment = await t.table(payments).getForUpdate(paymentId)
    if (!payment?.open || payment.transaction !== null) return undefined
    const at = ctx.clock.now()
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

/** Released payments that are kept; the oldest go first, so that no number of them makes the store grow. */
export const MAX_RELEASED = 4_000

async function forgetOldest(t: Tx): Promise<void> {
  const table = t.table(payments)
  if ((await table.count('released', [])) <= MAX_RELEASED) return
  for (const oldest of (await table.page('released', [], { limit: 2 })).rows) {
    await table.delete(oldest.id)
    await forgetBooks(t, oldest)
  }
}

/** What a released payment leaves in the books goes with it. */
export async function forgetBooks(t: Tx, { books }: Pick<PaymentRow, 'books'>): Promise<void> {
  if (books !== undefined && books.length > 1) await forgetCancelled(t, books)
}

/** Gives a hold back to the balance it came from. @returns the member of its payment that names both transactions */
export async function releaseHold(
  t: Tx,
  draw: Draw,
  { payment, at }: { payment: PaymentRow; at: number },
): Promise<Pick<PaymentRow, 'books'>> {
  const participantId = payment.participant_id as string // a balance payer is known by key
  const id = await post(t, draw, {
    kind: 'balance_release',
    ref: { kind: 'payment', id: payment.id },
    legs: postings.balanceRelease({ participantId, paymentId: payment.id, amount: payment.price }),
    at,
    shownAs: { type: 'release', ref: { kind: 'receipt', id: payment.receipt_id } },
  })
  return id === null || payment.books === undefined ? {} : { books: [...payment.books, id] }
}

/** The key may have gone to another payment since. */
async function freeKey(t: Tx, { id, idempotency: key }: PaymentRow): Promise<void> {
  if (key === null) return
  const used = await t.table(idempotency).getForUpdate(key)
  if (used?.payment_id === id) await t.table(idempotency).delete(key)
}
