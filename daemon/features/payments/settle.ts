import type { Authorization } from '../../../src/core/authorization.ts'
import { AppError } from '../../../src/core/error.ts'
import type { PaymentFault } from '../../../src/core/payment-fault.ts'
import { HOUR_MS, unixSeconds } from '../../../src/core/time.ts'
import type { Context } from '../../kernel/context.ts'
import type { SettleFailure, SettleRefusal, SettleResult } from '../../ports/chain/chain.ts'
import { eachPage } from '../../store/each-page.ts'
import { type Carried, carry } from './carried.ts'
import { fulfil, type Ordered, refund } from './fulfil.ts'
import { release } from './release.ts'
import { type PaymentRow, payments } from './rows.ts'
import { type PaidAnswer, sellerOf, sellers } from './seller.ts'
import { inFlight, singleFlight } from './single-flight.ts'

export type Settled =
  /** Names its transaction, which the stored row does once it is fulfilled. */
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
  if (!payment.authorization) return { ok: true, payment }
  const result = await askChain(ctx, payment, payment.authorization)
  if (result.ok) return { ok: true, payment: { ...payment, transaction: result.transaction } }
  return { ok: false, fault: settleFaults[result.failure], final: isFinal(result) }
}

/**
 * What was never sent can be let go at once. What was sent may be public by now: until its window closes anyone may
 * submit the bytes again, so the payment stays open and is asked about.
 */
export function isFinal({ failure, sent }: SettleRefusal): boolean {
  return !sent && failure !== 'unavailable' && failure !== 'token_paused'
}

type SignedBytes = NonNullable<PaymentRow['authorization']>

/** A chain that fails to answer may have moved the money: that is `unavailable`, never a refusal. */
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
    to: chain.payTo,
    value: signed.value,
    validAfter: signed.valid_after,
    validBefore: signed.valid_before,
    nonce: signed.nonce,
  }
}

const RECOVERY_PAGE = 100

/**
 * Ends a payment that was left open; whoever calls has it alone. Nothing sent: released. Sent or
 * about to be: settled (the chain is asked by the same bytes) and then fulfilled, or refunded where
 * the seller refuses.
 * @returns the answer, or undefined when there is none: released, ended before, or the chain did not say.
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

/**
 * The nonce is unused in a block that is never undone, and by the clock of that block its window has closed: nobody
 * can use it any more.
 */
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

/** Walks all open payments that no request of this process is working on; for the start and for crons. */
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
    // Its secrets stay sealed from everyone, since no caller is here.
    await singleFlight(ctx, { id, fingerprint }, () => finishOrGiveBack(ctx, payment, { seller, sealKey: null }))
  } catch (error) {
    ctx.log.error({ ...log, err: String(error) }, 'payment not recovered')
  }
  const now = await ctx.store.table(payments).get(id)
  ctx.log.info({ ...log, state: now?.state }, 'payment recovered')
  if (now?.state === 'released') return 'released'
  return now?.open ? 'waiting' : 'finished'
}

/** A fulfilment that failed for long enough, not by a refusal but by a fault of ours, ends in a refund. */
async function finishOrGiveBack(ctx: Context, payment: PaymentRow, ordered: Ordered): Promise<PaidAnswer | undefined> {
  try {
    return await finishPayment(ctx, payment.id, ordered)
  } catch (error) {
    const now = await ctx.store.table(payments).get(payment.id)
    const isYoung = ctx.clock.now() - payment.created_at < FULFIL_PATIENCE_MS
    if (isYoung || now?.state !== 'settled') throw error
    ctx.log.error({ source: 'x402', payment: now.receipt_id, err: String(error) }, 'gave a payment back')
    const refusal = new AppError('internal', 'This could not be completed; the payment goes back.')
    return refund(ctx, now, { seller: ordered.seller, sealKey: ordered.sealKey, refusal })
  }
}

/** An open payment is fulfilled, or its money goes back, this long after it was made. */
export const FULFIL_PATIENCE_MS = HOUR_MS
