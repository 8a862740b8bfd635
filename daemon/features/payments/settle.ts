import type { Authorization } from '../../../src/core/authorization.ts'
import type { PaymentFault } from '../../../src/core/payment-fault.ts'
import type { Context } from '../../kernel/context.ts'
import type { SettleFailure, SettleRefusal, SettleResult } from '../../ports/chain/chain.ts'
import { type Carried, carry } from './carried.ts'
import { type PaymentRow, payments } from './rows.ts'

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
