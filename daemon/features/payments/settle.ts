import { z } from 'zod'
import type { Authorization } from '../../../src/core/authorization.ts'
import { AppError } from '../../../src/core/error.ts'
import type { Hex } from '../../../src/core/hex.ts'
import type { PaymentFault } from '../../../src/core/payment-fault.ts'
import { errorDocument } from '../../endpoint/error-document.ts'
import { parseWire } from '../../endpoint/input.ts'
import { inBackground } from '../../kernel/background.ts'
import type { Context } from '../../kernel/context.ts'
import { participants } from '../../kernel/rows.ts'
import type { SettleFailure, SettleResult } from '../../ports/chain/chain.ts'
import { isLarge } from '../../store/blobs.ts'
import { commit, type Draw } from '../../store/draw.ts'
import { Conflict, type Tx } from '../../store/port.ts'
import { account, postings, takenFrom } from '../ledger/legs.ts'
import { post } from '../ledger/post.ts'
import { openRefund, runPayouts } from '../payouts/payouts.ts'
import { bare, type Carried, carriedBy, carry, dropFile } from './carried.ts'
import type { PaidCall } from './paid-call.ts'
import { releaseHold } from './reserve.ts'
import { answers, type PaymentRow, payments } from './rows.ts'
import { SEAL_IV_BYTES, type SealKey, seal } from './sealed.ts'
import type { PaidAnswer, Payer } from './seller.ts'

/** What finishing a payment needs besides its row; recovery has it too. */
export type Finish = Pick<PaidCall, 'ctx' | 'row' | 'handler' | 'sealKey'>

export type Settled =
  | { readonly ok: true; readonly transaction: Hex | null }
  | { readonly ok: false; readonly fault: PaymentFault; readonly final: boolean }

const settleFaults: Readonly<Record<SettleFailure, PaymentFault>> = {
  insufficient_funds: 'insufficient_funds',
  authorization_used: 'nonce_used',
  authorization_cancelled: 'nonce_used',
  authorization_expired: 'expired',
  authorization_not_yet_valid: 'not_yet_valid',
  signature_invalid: 'signature_invalid',
  unavailable: 'settlement_pending',
}

/**
 * Stores the signed bytes as about to be sent, with what was asked for and what the run returned: from here a crash
 * ends in the effect.
 */
export async function markSettling(ctx: Context, paymentId: string, carried: Carried): Promise<PaymentRow> {
  const members = await carry(ctx, carried)
  return ctx.store.tx(async (t) => {
    const payment = await t.table(payments).getForUpdate(paymentId)
    if (payment?.state !== 'reserved') throw new Error(`payment ${paymentId} is not reserved`)
    return t.table(payments).put({ ...payment, ...members, state: 'settling', updated_at: ctx.clock.now() })
  })
}

/** Moves the money of a `settling` payment. A balance payment moved when it was held. */
export async function settle(ctx: Context, payment: PaymentRow): Promise<Settled> {
  if (!payment.authorization) return { ok: true, transaction: null }
  const result = await askChain(ctx, payment, payment.authorization.signature)
  if (result.ok) return { ok: true, transaction: result.transaction }
  return { ok: false, fault: settleFaults[result.failure], final: isFinal(ctx, result.failure) }
}

/**
 * In the sandbox a refusal is the end of it. On a chain the refused bytes may be public by now: until
 * their window closes anyone may submit them again, so the payment stays open and is asked about.
 */
function isFinal({ chain }: Context, failure: SettleFailure): boolean {
  return chain.mode === 'sandbox' && failure !== 'unavailable'
}

/** A chain that fails to answer may have moved the money: that is `unavailable`, never a refusal. */
async function askChain(ctx: Context, payment: PaymentRow, signature: Hex): Promise<SettleResult> {
  try {
    return await ctx.chain.settle(authorizationOf(ctx, payment), signature)
  } catch (error) {
    ctx.log.warn({ source: 'x402', payment: payment.receipt_id, err: String(error) }, 'the chain did not answer')
    return { ok: false, failure: 'unavailable' }
  }
}

export function authorizationOf(ctx: Context, payment: PaymentRow): Authorization {
  const signed = payment.authorization
  if (!signed) throw new Error(`payment ${payment.id} has no authorization`)
  return {
    from: payment.payer,
    to: ctx.chain.payTo,
    value: signed.value,
    validAfter: signed.valid_after,
    validBefore: signed.valid_before,
    nonce: signed.nonce,
  }
}

/**
 * Effect, postings, stored answer and the `fulfilled` row in one transaction. When the effect is
 * refused although the money has moved, the refund is posted instead, in one transaction too.
 */
export async function fulfil(finish: Finish, payment: PaymentRow, transaction: Hex | null): Promise<PaidAnswer> {
  try {
    const carried = await carriedBy(finish.ctx, payment)
    const answer = await commit(finish.ctx, (t, draw) =>
      applyEffect(t, draw, { finish, payment, carried, transaction }),
    )
    dropFile(finish.ctx, payment)
    return answer
  } catch (error) {
    const refusal = error instanceof Conflict ? new AppError('conflict', 'Another request came first.') : error
    if (refusal instanceof AppError) return refuse(finish, { payment, transaction, error: refusal })
    await markSettled(finish.ctx, payment.id, transaction)
    throw error
  }
}

type Applied = {
  readonly finish: Finish
  readonly payment: PaymentRow
  readonly carried: Carried
  readonly transaction: Hex | null
}

async function applyEffect(t: Tx, draw: Draw, applied: Applied): Promise<PaidAnswer> {
  const { finish, payment, carried, transaction } = applied
  const { ctx, row, handler } = finish
  const held = await heldPayment(t, payment.id)
  const settled = { ...held, transaction }
  const now = ctx.clock.now()
  const source = payment.method === 'x402' ? account.ext : account.hold(payment.id)
  const effect = await handler.fulfil(t, draw, {
    input: parseWire(row, carried.input),
    payer: await payerOf(t, payment),
    payment: settled,
    source,
    result: carried.outcome,
    baseUrl: ctx.baseUrl(),
    now,
  })
  if (takenFrom(effect.legs, source) !== payment.price) {
    throw new Error(`${payment.endpoint} took ${takenFrom(effect.legs, source)} of a payment of ${payment.price}`)
  }
  const { kind, ref, legs, transactionId } = effect
  await post(t, draw, { kind, ref, legs, at: now, ...(transactionId === undefined ? {} : { id: transactionId }) })
  const wire = z.encode(row.reply.schema, effect.answer) as Record<string, unknown> // paid rows answer with an object
  await storeAnswer(t, draw, { finish, id: payment.id, status: 200, wire, at: now })
  await t.table(payments).put({ ...bare(settled), state: 'fulfilled', updated_at: now })
  return { status: 200, body: JSON.stringify(wire), transaction }
}

async function heldPayment(t: Tx, id: string): Promise<PaymentRow> {
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

type Stored = { finish: Finish; id: string; status: number; wire: Record<string, unknown>; at: number }

async function storeAnswer(t: Tx, draw: Draw, { finish, id, status, wire, at }: Stored): Promise<void> {
  const names = finish.row.reply.secrets.filter((name) => typeof wire[name] === 'string')
  const body = JSON.stringify(names.length === 0 ? wire : { ...wire, ...nulls(names), secret_withheld: true })
  const kept = isLarge(body) ? { body: '', file_sha256: draw.file(body) } : { body }
  await t.table(answers).insert({ id, status, ...kept, sealed: box(names, finish.sealKey), at })

  function box(secretNames: readonly string[], key: SealKey | null): string | null {
    if (secretNames.length === 0 || key === null) return null
    const secrets = Object.fromEntries(secretNames.map((name) => [name, wire[name]]))
    return seal(secrets, key, draw.bytes(SEAL_IV_BYTES))
  }
}

function nulls(names: readonly string[]): Record<string, null> {
  return Object.fromEntries(names.map((name) => [name, null]))
}

type Refused = { payment: PaymentRow; transaction: Hex | null; error: AppError }

/** The money moved but the effect is impossible: it goes back where it came from, and the answer says so. */
export async function refuse(finish: Finish, refused: Refused): Promise<PaidAnswer> {
  const { ctx } = finish
  const { payment, transaction, error } = refused
  const answer = await commit(ctx, async (t, draw) => {
    const held = await heldPayment(t, payment.id)
    const at = ctx.clock.now()
    await giveBack(t, draw, { payment: held, at })
    const wire = { ...errorDocument(error, draw.id('request')), refunded: true }
    await storeAnswer(t, draw, { finish, id: payment.id, status: error.status, wire, at })
    await t.table(payments).put({ ...bare(held), transaction, state: 'refunded', updated_at: at })
    return { status: error.status, body: JSON.stringify(wire), transaction }
  })
  dropFile(ctx, payment)
  if (payment.method === 'x402') inBackground(ctx, 'payouts', () => runPayouts(ctx))
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
  const legs = postings.settledRefused({ payer: payment.payer, amount: payment.price })
  await post(t, draw, { kind: 'refund', ref, legs, at })
  await openRefund(t, draw, { wallet: payment.payer, ref: { kind: 'receipt', id: payment.receipt_id }, at })
}

/** An effect that failed for no reason of its own waits as `settled` for recovery. */
function markSettled(ctx: Context, paymentId: string, transaction: Hex | null): Promise<void> {
  return ctx.store.tx(async (t) => {
    const held = await t.table(payments).getForUpdate(paymentId)
    if (held?.state !== 'settling') return
    await t.table(payments).put({ ...held, transaction, state: 'settled', updated_at: ctx.clock.now() })
  })
}
