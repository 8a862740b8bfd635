import { z } from 'zod'
import { AppError } from '../../../src/core/error.ts'
import { compact } from '../../../src/core/record.ts'
import { errorDocument } from '../../endpoint/error-document.ts'
import { parseWire } from '../../endpoint/input.ts'
import { type Context, inBackground } from '../../kernel/context.ts'
import { participants } from '../../kernel/rows.ts'
import { SEAL_IV_BYTES, seal } from '../../kernel/sealed.ts'
import { isLarge } from '../../store/blobs.ts'
import { commit, type Draw } from '../../store/draw.ts'
import { Conflict, type Tx } from '../../store/port.ts'
import { account, legsOf, takenFrom } from '../ledger/legs.ts'
import { post } from '../ledger/post.ts'
import { openRefund, runPayouts } from '../payouts/payouts.ts'
import { bare, type Carried, carriedBy, dropFile } from './carried.ts'
import type { Order } from './order.ts'
import { releaseHold } from './release.ts'
import { answers, type PaymentRow, payments } from './rows.ts'
import type { PaidAnswer, Payer } from './seller.ts'

/** What of an order ends its payment; recovery has it from the payment alone. */
export type Ordered = Pick<Order, 'seller' | 'sealKey'>

/**
 * Gives what was paid for: the seller's writes, its ledger entry, the stored answer and the `fulfilled` row are one
 * transaction. When the seller refuses although the money has moved, the refund is posted instead, in one transaction
 * too.
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

/** A write that somebody else's came before is a refusal too. */
export function refusalOf(error: unknown): unknown {
  return error instanceof Conflict ? new AppError('conflict', 'Another request came first.') : error
}

type Fulfilling = Ordered & {
  readonly ctx: Context
  /** Its money has moved, in this transaction or before. */
  readonly payment: PaymentRow
  readonly carried: Carried
  /** Business time. */
  readonly now: number
}

/** Gives what was paid for, as a part of a transaction that holds the payment. */
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
  await post(t, draw, { kind, ref, legs, at: now, ...compact({ id: transactionId }) })
  const wire = z.encode(endpoint.reply.schema, fulfilled.answer) as Record<string, unknown> // paid endpoints answer with an object
  const body = await storeAnswer(t, draw, { id: payment.id, status: 200, at: now, wire, seller, sealKey })
  await t.table(payments).put({ ...bare(payment), state: 'fulfilled', updated_at: now })
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

type Answered = Ordered & {
  /** Of the payment. */
  readonly id: string
  readonly status: number
  readonly at: number
  readonly wire: Record<string, unknown>
}

/** Keeps an answer without its secrets. @returns its text, secrets included */
async function storeAnswer(t: Tx, draw: Draw, answered: Answered): Promise<string> {
  const { id, status, at, wire, seller, sealKey } = answered
  const secrets = seller.endpoint.reply.secrets.filter((name) => typeof wire[name] === 'string')
  const whole = JSON.stringify(wire)
  const withheld = { ...wire, ...nulls(secrets), secret_withheld: true }
  const body = secrets.length === 0 ? whole : JSON.stringify(withheld)
  const kept = isLarge(body) ? { body: '', file_sha256: draw.file(body) } : { body }
  const isSealed = secrets.length > 0 && sealKey !== null
  const values = Object.fromEntries(secrets.map((name) => [name, wire[name]]))
  const sealed = isSealed ? seal(values, sealKey, draw.bytes(SEAL_IV_BYTES)) : null
  await t.table(answers).insert({ id, status, ...kept, sealed, at })
  return whole
}

function nulls(names: readonly string[]): Record<string, null> {
  return Object.fromEntries(names.map((name) => [name, null]))
}

type Refusing = Ordered & { readonly refusal: AppError }

/** The money moved but nothing can be given for it: it goes back where it came from, and the answer says so. */
export async function refund(
  ctx: Context,
  settled: PaymentRow,
  { refusal, seller, sealKey }: Refusing,
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

/** Balance to balance; x402 to the wallet, with the payout that takes it there; under a subscription nothing moved. */
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

/** A fulfilment that failed for no reason of its own waits as `settled` for recovery. */
function markSettled(ctx: Context, { id, transaction }: PaymentRow): Promise<void> {
  return ctx.store.tx(async (t) => {
    const payment = await t.table(payments).getForUpdate(id)
    if (payment?.state !== 'settling') return
    await t.table(payments).put({ ...payment, transaction, state: 'settled', updated_at: ctx.clock.now() })
  })
}
