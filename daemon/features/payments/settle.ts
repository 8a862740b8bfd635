import { z } from 'zod'
import type { Authorization } from '../../../src/core/authorization.ts'
import { AppError } from '../../../src/core/error.ts'
import type { PaymentFault } from '../../../src/core/payment-fault.ts'
import { compact } from '../../../src/core/record.ts'
import { HOUR_MS, unixSeconds } from '../../../src/core/time.ts'
import { errorDocument } from '../../endpoint/error-document.ts'
import { parseWire } from '../../endpoint/input.ts'
import { type Context, inBackground } from '../../kernel/context.ts'
import { participants } from '../../kernel/rows.ts'
import { SEAL_IV_BYTES, seal } from '../../kernel/sealed.ts'
import type { SettleFailure, SettleRefusal, SettleResult } from '../../ports/chain/chain.ts'
import { isLarge } from '../../store/blobs.ts'
import { commit } from '../../store/draw.ts'
import { eachPage } from '../../store/each-page.ts'
import { Conflict, type Draw, type Tx } from '../../store/port.ts'
import { account, legsOf, takenFrom } from '../ledger/legs.ts'
import { post } from '../ledger/post.ts'
import { openRefund, runPayouts } from '../payouts/payouts.ts'
import type { Order } from './order.ts'
import { release, releaseHold } from './reversed.ts'
import { answers, bare, type Carried, carriedBy, carry, dropFile, type PaymentRow, payments } from './rows.ts'
import { type PaidAnswer, type Payer, sellerOf, sellers } from './seller.ts'
import { inFlight, singleFlight } from './single-flight.ts'

/** The members of an order that are needed to finish its payment. Recovery derives them from the payment row. */
export type Ordered = Pick<Order, 'seller' | 'sealKey'>

/**
 * Delivers what was paid. One transaction writes the seller's effect, ledger entry, stored response and `fulfilled`
 * row. If the seller refuses, one transaction posts the refund instead.
 */
export async function fulfil(ctx: Context, settled: PaymentRow, { seller, sealKey }: Ordered): Promise<PaidAnswer> {
  try {
    const carried = await carriedBy(ctx, settled)
    const now = ctx.clock.now()
    const answer = await commit(ctx, async (t, draw) => {
      const payment = { ...(await lockSettled(t, settled.id)), transaction: settled.transaction }
      return applyFulfilment(t, draw, { ctx, payment, carried, seller, sealKey, now })
    })
    dropFile(ctx, settled)
    return answer
  } catch (error) {
    const refusal = refusalOf(error)
    if (refusal instanceof AppError) return refund(ctx, settled, { seller, sealKey, refusal })
    await markSettled(ctx, settled)
    throw error
  }
}

/** Turns a conflict with an earlier write into a refusal. Returns all other errors unchanged. */
export function refusalOf(error: unknown): unknown {
  return error instanceof Conflict ? new AppError('conflict', 'Another request changed the same data first.') : error
}

type Fulfilling = Ordered & {
  readonly ctx: Context
  /** The payment. Its money was moved in this transaction or an earlier one. */
  readonly payment: PaymentRow
  readonly carried: Carried
  readonly now: number
}

/** Delivers within transaction `t`, which has locked the payment. */
export async function applyFulfilment(t: Tx, draw: Draw, fulfilling: Fulfilling): Promise<PaidAnswer> {
  const { ctx, seller, payment, carried, sealKey, now } = fulfilling
  const { endpoint, handler } = seller
  const source = payment.method === 'x402' ? account.ext : account.hold(payment.id)
  const fulfilled = await handler.fulfil(t, draw, {
    input: parseWire(endpoint, carried.input),
    payer: await payerOf(t, payment),
    payment,
    source,
    result: carried.outcome,
    baseUrl: ctx.baseUrl(),
    now,
  })
  const { kind, ref, legs, transactionId } = fulfilled
  const taken = takenFrom(legs, source)
  if (taken !== payment.price) throw new Error(`${payment.endpoint} took ${taken} of a payment of ${payment.price}`)
  const entry = await post(t, draw, { kind, ref, legs, at: now, ...compact({ id: transactionId }) })
  const wire = z.encode(endpoint.reply.schema, fulfilled.answer) as Record<string, unknown> // paid endpoints answer with an object
  const body = await storeAnswer(t, draw, { id: payment.id, status: 200, at: now, wire, seller, sealKey })
  await t
    .table(payments)
    .put({ ...bare(payment), ...(entry === null ? {} : { entry }), state: 'fulfilled', updated_at: now })
  return { status: 200, body, transaction: payment.transaction, replayed: false }
}

async function lockSettled(t: Tx, id: string): Promise<PaymentRow> {
  const payment = await t.table(payments).getForUpdate(id)
  if (payment?.state !== 'settling' && payment?.state !== 'settled') throw new Error(`payment ${id} is not settled`)
  return payment
}

async function payerOf(t: Tx, payment: PaymentRow): Promise<Payer> {
  const table = t.table(participants)
  const participant = payment.participant_id
    ? await table.get(payment.participant_id)
    : (await table.page('wallet', [payment.payer], { limit: 1 })).rows[0]
  return { wallet: payment.payer, participant: participant ?? null }
}

type SettlementResponse = Ordered & {
  readonly id: string
  readonly status: number
  readonly at: number
  readonly wire: Record<string, unknown>
}

/** Stores a response without its secrets. @returns the response including secrets */
async function storeAnswer(t: Tx, draw: Draw, answered: SettlementResponse): Promise<string> {
  const { id, status, at, wire, seller, sealKey } = answered
  const secrets = seller.endpoint.reply.secrets.filter((name) => typeof wire[name] === 'string')
  const whole = JSON.stringify(wire)
  const withheld = { ...wire, ...Object.fromEntries(secrets.map((name) => [name, null])), secret_withheld: true }
  const body = secrets.length === 0 ? whole : JSON.stringify(withheld)
  const kept = isLarge(body) ? { body: '', file_sha256: draw.file(body) } : { body }
  const isSealed = secrets.length > 0 && sealKey !== null
  const values = Object.fromEntries(secrets.map((name) => [name, wire[name]]))
  const sealed = isSealed ? seal(values, sealKey, draw.bytes(SEAL_IV_BYTES)) : null
  await t.table(answers).insert({ id, status, ...kept, sealed, at })
  return whole
}

/** Refunds a payment whose money moved but for which nothing can be delivered. The response says so. */
export async function refund(
  ctx: Context,
  settled: PaymentRow,
  { refusal, seller, sealKey }: Ordered & { readonly refusal: AppError },
): Promise<PaidAnswer> {
  const { id, transaction } = settled
  const { status } = refusal
  const at = ctx.clock.now()
  const answer = await commit(ctx, async (t, draw) => {
    const payment = await lockSettled(t, id)
    await giveBack(t, draw, { payment, at })
    const wire = { ...errorDocument(refusal, draw.id('request')), refunded: true }
    const body = await storeAnswer(t, draw, { id, status, at, wire, seller, sealKey })
    await t.table(payments).put({ ...bare(payment), transaction, state: 'refunded', updated_at: at })
    return { status, body, transaction, replayed: false }
  })
  dropFile(ctx, settled)
  if (settled.method === 'x402') inBackground(ctx, 'payouts', () => runPayouts(ctx))
  return answer
}

/** Returns the money to the paying balance, or by a payout to the signing wallet. A subscription payment moved none. */
async function giveBack(t: Tx, draw: Draw, { payment, at }: { payment: PaymentRow; at: number }): Promise<void> {
  if (payment.method === 'subscription') return
  if (payment.method === 'balance') {
    await releaseHold(t, draw, { payment, at })
    return
  }
  const ref = { kind: 'payment', id: payment.id }
  const legs = legsOf.settledRefused({ payer: payment.payer, amount: payment.price })
  await post(t, draw, { kind: 'refund', ref, legs, at })
  await openRefund(t, draw, { wallet: payment.payer, ref: { kind: 'receipt', id: payment.receipt_id }, at })
}

/** Marks the payment as `settled` after an internal fault, so that recovery fulfils it later. */
function markSettled(ctx: Context, { id, transaction }: PaymentRow): Promise<void> {
  return ctx.store.tx(async (t) => {
    const payment = await t.table(payments).getForUpdate(id)
    if (payment?.state !== 'settling') return
    await t.table(payments).put({ ...payment, transaction, state: 'settled', updated_at: ctx.clock.now() })
  })
}

export type Settled =
  /** The payment with its chain transaction. The stored row gets this transaction when the payment is fulfilled. */
  | { readonly ok: true; readonly payment: PaymentRow }
  | { readonly ok: false; readonly fault: PaymentFault; readonly final: boolean }

export const settleFaults: Readonly<Record<SettleFailure, PaymentFault>> = {
  insufficient_funds: 'insufficient_funds',
  authorization_used: 'nonce_used',
  authorization_cancelled: 'nonce_used',
  authorization_expired: 'expired',
  authorization_not_yet_valid: 'not_yet_valid',
  signature_invalid: 'signature_invalid',
  wallet_unsupported: 'smart_wallet_unsupported',
  payer_blocked: 'payer_blocked',
  token_paused: 'settlement_pending',
  reverted: 'settlement_failed',
  unavailable: 'settlement_pending',
}

/** Stores signed bytes, input and run result before sending, so that even after a crash the payment is fulfilled. */
export async function markSettling(ctx: Context, paymentId: string, carried: Carried): Promise<PaymentRow> {
  const members = await carry(ctx, carried)
  return ctx.store.tx(async (t) => {
    const payment = await t.table(payments).getForUpdate(paymentId)
    if (payment?.state !== 'reserved') throw new Error(`payment ${paymentId} is not reserved`)
    return t.table(payments).put({ ...payment, ...members, state: 'settling', updated_at: ctx.clock.now() })
  })
}

/** Moves the money of a `settling` payment. The money of a balance payment is already in its hold. */
export async function settle(ctx: Context, payment: PaymentRow): Promise<Settled> {
  if (!payment.authorization) return { ok: true, payment }
  const result = await askChain(ctx, payment, payment.authorization)
  if (result.ok) return { ok: true, payment: { ...payment, transaction: result.transaction } }
  return { ok: false, fault: settleFaults[result.failure], final: isFinal(result) }
}

/**
 * Whether a failure is final. A payment whose bytes were sent stays open, because anyone may submit them until their
 * window closes.
 */
export function isFinal({ failure, sent }: SettleRefusal): boolean {
  return !sent && failure !== 'unavailable' && failure !== 'token_paused'
}

type SignedBytes = NonNullable<PaymentRow['authorization']>

/** Settles on the chain. After a chain error the transfer may have happened, so the result is `unavailable`. */
async function askChain(ctx: Context, payment: PaymentRow, signed: SignedBytes): Promise<SettleResult> {
  try {
    return await ctx.chain.settle(authorizationOf(ctx, payment, signed), signed.signature)
  } catch (error) {
    ctx.log.warn({ source: 'x402', payment: payment.receipt_id, err: String(error) }, 'the chain did not answer')
    return { ok: false, failure: 'unavailable', sent: true }
  }
}

function authorizationOf({ chain }: Context, { payer }: PaymentRow, signed: SignedBytes): Authorization {
  return {
    from: payer,
    to: signed.to ?? chain.payTo,
    value: signed.value,
    validAfter: signed.valid_after,
    validBefore: signed.valid_before,
    nonce: signed.nonce,
  }
}

const RECOVERY_PAGE = 100

/**
 * Finishes an open payment; the caller must have locked it. Releases it if unsent. Otherwise settles it with the same
 * bytes, and fulfils or refunds it.
 * @returns the response; undefined if released, already ended, or still unknown.
 */
export async function finishPayment(ctx: Context, id: string, ordered: Ordered): Promise<PaidAnswer | undefined> {
  const payment = await ctx.store.table(payments).get(id)
  if (!payment?.open) return undefined
  if (payment.state === 'reserved') {
    await release(ctx, id, ordered.seller)
    return undefined
  }
  if (payment.state === 'settled') return fulfil(ctx, payment, ordered)
  const settled = await settle(ctx, payment)
  if (settled.ok) return fulfil(ctx, settled.payment, ordered)
  if (settled.final || (await neverSettled(ctx, payment))) await release(ctx, id, ordered.seller)
  return undefined
}

/** Whether a final block shows that the nonce is unused and that the authorization has expired. */
async function neverSettled(ctx: Context, payment: PaymentRow): Promise<boolean> {
  const signed = payment.authorization
  if (!signed || signed.valid_before >= BigInt(unixSeconds(ctx.clock.wall()))) return false
  try {
    const { used, asOf } = await ctx.chain.authorizationState(payment.payer, signed.nonce, 'final')
    return !used && asOf.finality === 'final' && signed.valid_before <= BigInt(asOf.timestamp)
  } catch (error) {
    ctx.log.warn({ source: 'x402', payment: payment.receipt_id, err: String(error) }, 'the chain did not answer')
    return false
  }
}

export type Recovered = { readonly finished: number; readonly released: number; readonly waiting: number }

/** Finishes all open payments that have no active request. Called by crons and when the daemon starts. */
export async function recoverPayments(ctx: Context): Promise<Recovered> {
  const counts = { finished: 0, released: 0, waiting: 0 }
  for await (const rows of eachPage(ctx.store.table(payments), { index: 'open', prefix: [], limit: RECOVERY_PAGE })) {
    for (const payment of rows) {
      if (inFlight.of(ctx).has(payment.id)) continue
      counts[await recoverOne(ctx, payment)] += 1
    }
  }
  return counts
}

async function recoverOne(ctx: Context, payment: PaymentRow): Promise<keyof Recovered> {
  const { id, fingerprint } = payment
  const log = { source: 'x402', payment: payment.receipt_id }
  try {
    const seller = sellerOf(sellers.of(ctx), payment.endpoint)
    if (!seller) throw new Error(`payment ${id} belongs to no paid endpoint: ${payment.endpoint}`)
    // Secrets stay sealed, because recovery has no caller.
    await singleFlight(ctx, { id, fingerprint }, () => finishOrGiveBack(ctx, payment, { seller, sealKey: null }))
  } catch (error) {
    ctx.log.error({ ...log, err: String(error) }, 'payment not recovered')
  }
  const now = await ctx.store.table(payments).get(id)
  ctx.log.info({ ...log, state: now?.state }, 'payment recovered')
  if (now?.state === 'released') return 'released'
  return now?.open ? 'waiting' : 'finished'
}

/** Finishes a payment. If an internal fault prevents it for longer than `FULFIL_PATIENCE_MS`, refunds it. */
async function finishOrGiveBack(ctx: Context, payment: PaymentRow, ordered: Ordered): Promise<PaidAnswer | undefined> {
  try {
    return await finishPayment(ctx, payment.id, ordered)
  } catch (error) {
    const now = await ctx.store.table(payments).get(payment.id)
    const isYoung = ctx.clock.now() - payment.created_at < FULFIL_PATIENCE_MS
    if (isYoung || now?.state !== 'settled') throw error
    ctx.log.error({ source: 'x402', payment: now.receipt_id, err: String(error) }, 'refunded a payment')
    const refusal = new AppError('internal', 'The purchase failed; the payment is refunded.')
    return refund(ctx, now, { seller: ordered.seller, sealKey: ordered.sealKey, refusal })
  }
}

/** Time after which a settled payment that cannot be fulfilled is refunded. */
export const FULFIL_PATIENCE_MS = HOUR_MS
