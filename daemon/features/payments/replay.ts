import { AppError } from '../../../src/core/error.ts'
import { unixSeconds } from '../../../src/core/time.ts'
import type { ReplyOut } from '../../endpoint/exchange.ts'
import { type SealKey, unseal } from '../../kernel/sealed.ts'
import { readText } from '../../store/blobs.ts'
import type { ReadTx } from '../../store/port.ts'
import { PaymentRefused, reply } from './offer.ts'
import { asKnown, authorizationId, knownKeys, type Order, repeatOf } from './order.ts'
import { type Credential, isTendered, isUsable, signedPayment } from './payer.ts'
import { answers, idempotency, type PaymentRow, payments } from './rows.ts'
import type { PaidAnswer, PaidRequest, Payer } from './seller.ts'
import { finishPayment } from './settle.ts'
import { refuseOtherRequest, singleFlight } from './single-flight.ts'

/**
 * The existing payment of an authorization or `Idempotency-Key`. A released payment does not count, because the request
 * may be repeated.
 */
export async function knownPayment(
  t: ReadTx,
  { id, keys }: { readonly id: string | undefined; readonly keys: readonly string[] },
): Promise<PaymentRow | undefined> {
  const same = id === undefined ? undefined : await livePayment(t, id)
  if (same) return same
  for (const key of keys) {
    const used = await t.table(idempotency).get(key)
    const payment = used && (await livePayment(t, used.payment_id))
    if (payment) return payment
  }
  return undefined
}

async function livePayment(t: ReadTx, id: string): Promise<PaymentRow | undefined> {
  const payment = await t.table(payments).get(id)
  return payment?.state === 'released' ? undefined : payment
}

/**
 * Returns the response of an earlier payment. It runs before deferred and paused endpoints are refused, because the
 * payer is entitled to the response. The body is read only after a match.
 * @returns undefined when no earlier payment is known, or it ended without a charge.
 */
export async function replay(
  request: PaidRequest,
  credential: Credential,
  payer: Payer | undefined,
): Promise<ReplyOut | undefined> {
  if (!payer || !isTendered(credential)) return undefined
  const { ctx } = request
  const signed = signedPayment(credential)
  const known = await knownPayment(ctx.store, {
    id: signed && authorizationId(ctx, signed),
    // With an expired signature, payments cannot be looked up by idempotency key.
    keys: signed && !isUsable(ctx, signed.authorization) ? [] : knownKeys(request.exchange, payer),
  })
  if (!known) return undefined
  try {
    const answer = await answerKnown({ ...request, ...(await repeatOf(request, credential, payer)) }, known)
    return answer && (await reply(request, credential, answer))
  } catch (error) {
    // The earlier copy's payment was refused. This copy continues and gets its own 402.
    if (error instanceof PaymentRefused) return undefined
    throw error
  }
}

/** The parts of a request that identify its earlier payment and open the stored response. */
type Repeatable = Pick<Order, 'ctx' | 'exchange' | 'seller' | 'fingerprint' | 'idempotency' | 'sealKey'>

/**
 * The response of a known payment. An open payment is finished first. `inFlight` is the id of the payment that the
 * caller is processing; waiting for it would never end.
 * @returns undefined if the payment ended without a charge.
 * @throws AppError 409 for another request, 503 while the chain's result is unknown.
 */
export async function answerKnown(
  asked: Repeatable,
  known: PaymentRow,
  inFlight?: string,
): Promise<PaidAnswer | undefined> {
  const order = await asKnown(asked, known)
  const { ctx } = order
  const { id, fingerprint } = known
  refuseOtherRequest(known, order.fingerprint)
  if (known.open) {
    const finish = () => finishPayment(ctx, id, order)
    const answer = await (inFlight === id ? finish() : singleFlight(ctx, { id, fingerprint }, finish))
    if (answer) return { ...answer, replayed: true }
  }
  const payment = await livePayment(ctx.store, id)
  if (!payment) return undefined
  if (payment.open) {
    throw new AppError('unavailable', 'The payment is not settled yet: send the same request again.', { retryAfter: 1 })
  }
  return storedAnswer(payment, order)
}

/**
 * The stored response of a finished payment (decisions §4 Retry). A request without the `Idempotency-Key` gets it only
 * until `validBefore`, because anyone can read the settled bytes.
 */
async function storedAnswer(payment: PaymentRow, order: Repeatable): Promise<PaidAnswer> {
  const { ctx, sealKey } = order
  refuseOtherRequest(payment, order.fingerprint)
  if (payment.state === 'reversed') throw reversed(payment)
  const isSameKey = payment.idempotency !== null && payment.idempotency === order.idempotency
  const validBefore = payment.authorization?.valid_before
  const isExpired = validBefore !== undefined && validBefore < BigInt(unixSeconds(ctx.clock.wall()))
  if (isExpired && !isSameKey) {
    throw new AppError('conflict', 'This payment was already used; send its Idempotency-Key to get its response.', {
      extra: { receipt_id: payment.receipt_id },
    })
  }
  const answer = await ctx.store.table(answers).get(payment.id)
  if (!answer) {
    throw new AppError('conflict', 'This payment was already used; its response is no longer stored.', {
      extra: { receipt_id: payment.receipt_id },
    })
  }
  const stored = answer.file_sha256 === undefined ? answer.body : await readText(ctx.blobs, answer.file_sha256)
  const body = answer.sealed && sealKey ? opened(stored, answer.sealed, sealKey) : stored
  return { status: answer.status, body, transaction: payment.transaction, replayed: true }
}

function reversed({ receipt_id }: PaymentRow): AppError {
  const message = 'The chain reverted this payment: no money moved. Sign a new one.'
  return new AppError('conflict', message, { extra: { receipt_id } })
}

/** The full body if the key is right; otherwise the body without its secrets. */
function opened(body: string, box: string, key: SealKey): string {
  const secrets = unseal(box, key)
  if (typeof secrets !== 'object' || secrets === null) return body
  const { secret_withheld: _, ...document } = JSON.parse(body)
  return JSON.stringify({ ...document, ...secrets })
}
