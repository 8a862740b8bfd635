import { AppError } from '../../src/core/error.ts'
import { formatAmount, type Usdc, usdc } from '../../src/core/money.ts'
import type { PaymentFault } from '../../src/core/payment-fault.ts'
import type { PaymentRow } from '../../src/model/payment.ts'
import { account } from '../rules/books.ts'
import { balanceOf, post } from '../store/books.ts'
import { idempotency, payments } from '../store/collections.ts'
import { commit, type Draw } from '../store/draw.ts'
import { readPlatform } from '../store/platform.ts'
import type { Draft, ReadTx, Tx } from '../store/port.ts'
import { authorizationId, type PaidCall } from './paid-call.ts'
import { paused } from './switches.ts'

/** Payments of one wallet that may be under way at once. */
export const MAX_OPEN_PAYMENTS = 256

export type Reservation =
  | { readonly kind: 'reserved'; readonly payment: PaymentRow }
  /** The same authorization, or the same `Idempotency-Key`, was here before. */
  | { readonly kind: 'known'; readonly payment: PaymentRow }
  | { readonly kind: 'refused'; readonly fault: PaymentFault }
  | { readonly kind: 'short'; readonly available: Usdc }

/**
 * Writes the payment row durably before anything runs; the pause flag is read again here, so that a
 * reservation that races a pause is one or the other (decisions §12).
 */
export function reserve(call: PaidCall, funds: Usdc): Promise<Reservation> {
  return commit(call.world, async (t, draw) => {
    const platform = await readPlatform(t)
    const known = await knownPayment(t, call)
    if (known) return { kind: 'known', payment: known }
    if (platform.paused_at !== null) throw paused(platform.paused_at)
    const draft = draftOf(call, draw)
    const refusal = call.credential
      ? await authorizationRefusal(t, call, funds)
      : await holdBalance(t, draw, { call, draft })
    if (refusal) return refusal
    await t.table(payments).getForUpdate(draft.id)
    const payment = await t.table(payments).put(draft)
    if (call.idempotency) {
      await t.table(idempotency).getForUpdate(call.idempotency)
      await t.table(idempotency).put({ id: call.idempotency, payment_id: payment.id, at: call.ctx.now })
    }
    return { kind: 'reserved', payment }
  })
}

/** A released authorization may be used afresh, and frees its `Idempotency-Key`. */
async function knownPayment(t: Tx, call: PaidCall): Promise<PaymentRow | undefined> {
  const table = t.table(payments)
  const same = call.credential ? await table.getForUpdate(authorizationId(call.world, call.credential)) : undefined
  if (same && same.state !== 'released') return same
  const key = call.idempotency ? await t.table(idempotency).get(call.idempotency) : undefined
  const earlier = key ? await table.get(key.payment_id) : undefined
  return earlier && earlier.state !== 'released' ? earlier : undefined
}

function draftOf(call: PaidCall, draw: Draw): Draft<PaymentRow> {
  const { credential, ctx } = call
  const receipt = draw.id('receipt')
  return {
    id: credential ? authorizationId(call.world, credential) : `balance:${receipt}`,
    method: credential ? 'x402' : 'balance',
    state: 'reserved',
    open: true,
    payer: ctx.payer.wallet,
    participant_id: ctx.payer.participant?.id ?? null,
    price: call.quote.price,
    settle: call.quote.settle,
    endpoint: call.name,
    input: call.wire,
    fingerprint: call.fingerprint,
    idempotency: call.idempotency,
    receipt_id: receipt,
    authorization: credential
      ? {
          x402_version: credential.version,
          value: usdc(credential.authorization.value),
          valid_after: credential.authorization.validAfter,
          valid_before: credential.authorization.validBefore,
          nonce: credential.authorization.nonce,
          signature: credential.signature,
        }
      : null,
    terms: call.quote.terms ?? null,
    outcome: null,
    transaction: null,
    created_at: ctx.now,
    updated_at: ctx.now,
  }
}

async function authorizationRefusal(t: ReadTx, call: PaidCall, funds: Usdc): Promise<Reservation | undefined> {
  const { rows } = await t.table(payments).page('open_payer', [call.ctx.payer.wallet], { limit: MAX_OPEN_PAYMENTS })
  if (rows.length === MAX_OPEN_PAYMENTS) {
    throw new AppError('rate_limited', `${MAX_OPEN_PAYMENTS} payments of this wallet are still open.`, {
      retryAfter: 1,
    })
  }
  const reserved = rows.reduce((sum, row) => sum + (row.authorization?.value ?? 0n), 0n)
  const value = call.credential?.authorization.value ?? 0n
  return funds < value + reserved ? { kind: 'refused', fault: 'insufficient_funds' } : undefined
}

/** A balance payment is first a hold. */
async function holdBalance(
  t: Tx,
  draw: Draw,
  { call, draft }: { call: PaidCall; draft: Draft<PaymentRow> },
): Promise<Reservation | undefined> {
  const participantId = draft.participant_id as string // a balance payer is known by key
  const from = account.balance(participantId)
  const available = await balanceOf(t, from)
  if (available < draft.price) return { kind: 'short', available }
  const legs = [{ from, to: account.hold(draft.id), amount: draft.price }]
  await post(t, draw, { kind: 'balance_hold', ref: { kind: 'payment', id: draft.id }, legs, at: call.ctx.now })
  return undefined
}

export function shortMessage(required: Usdc, available: Usdc): string {
  return `The balance has $${formatAmount(available)} available; this costs $${formatAmount(required)}.`
}

/** Frees a reservation of which nothing was sent: the wallet's funds count again, a hold goes back. */
export function release(call: Pick<PaidCall, 'world'>, paymentId: string): Promise<void> {
  return commit(call.world, async (t, draw) => {
    const payment = await t.table(payments).getForUpdate(paymentId)
    if (!payment?.open || payment.transaction !== null) return
    const at = call.world.clock.now()
    if (payment.method === 'balance') {
      const legs = [
        {
          from: account.hold(payment.id),
          to: account.balance(payment.participant_id as string), // a balance payer is known by key
          amount: payment.price,
        },
      ]
      await post(t, draw, { kind: 'balance_release', ref: { kind: 'payment', id: payment.id }, legs, at })
    }
    if (payment.idempotency) await t.table(idempotency).delete(payment.idempotency)
    await t.table(payments).put({ ...payment, state: 'released', open: false, updated_at: at })
  })
}
