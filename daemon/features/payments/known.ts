import { paymentResponse } from '../../../src/api/endpoint/x402.ts'
import type { PaymentCredential } from '../../../src/core/authorization.ts'
import { AppError } from '../../../src/core/error.ts'
import type { Hex } from '../../../src/core/hex.ts'
import { unixSeconds } from '../../../src/core/time.ts'
import { JSON_TYPE, type ReplyOut } from '../../endpoint/exchange.ts'
import type { Context } from '../../kernel/context.ts'
import { finishPayment } from './recover.ts'
import { findPayment, refuseOtherRequest, storedAnswer } from './replay.ts'
import { idempotency, type PaymentRow } from './rows.ts'
import type { SealKey } from './sealed.ts'
import type { PaidAnswer } from './seller.ts'
import type { Finish } from './settle.ts'
import { alone } from './single-flight.ts'

/** A request that may be the repeat of one that paid. */
export type Repeat = {
  readonly fingerprint: string
  readonly sealKey: SealKey | null
  /** Scoped and hashed `Idempotency-Key` of this request. */
  readonly idempotency: string | null
  readonly finish: (payment: PaymentRow) => Finish
  /** The caller works on this payment already, so it does not wait for whoever does. */
  readonly inFlight?: string
}

/**
 * The answer of a payment that is known; one that was left open is finished first.
 * @returns undefined when it ended without a charge: the caller may pay afresh.
 * @throws AppError 409 for another request, 503 while the chain has not said whether it was paid.
 */
export async function answerOfKnown(ctx: Context, known: PaymentRow, repeat: Repeat): Promise<PaidAnswer | undefined> {
  refuseOtherRequest(known, repeat.fingerprint)
  if (known.open) {
    const finish = () => finishPayment(repeat.finish(known), known.id)
    const { answer } =
      repeat.inFlight === known.id
        ? { answer: await finish() }
        : await alone(ctx, { id: known.id, fingerprint: known.fingerprint }, finish)
    if (answer) return answer
  }
  const payment = await findPayment(ctx, known.id)
  if (!payment) return undefined
  if (payment.open) {
    throw new AppError('unavailable', 'The payment is not settled yet: send the same request again.', { retryAfter: 1 })
  }
  const sameKey = payment.idempotency !== null && payment.idempotency === repeat.idempotency
  return storedAnswer(ctx, payment, { ...repeat, sameKey })
}

/**
 * The payment that an authorization made, or else the one made under the same `Idempotency-Key`.
 * Whoever asks has proved the credential; a signature that looks up another payment has to be one
 * that could be used now.
 */
export async function knownBy(
  ctx: Context,
  { id, key, credential }: { id: string | undefined; key: string | null; credential: PaymentCredential | undefined },
): Promise<PaymentRow | undefined> {
  const same = id === undefined ? undefined : await findPayment(ctx, id)
  if (same || key === null || (credential && !usable(ctx, credential))) return same
  const used = await ctx.store.table(idempotency).get(key)
  return used && findPayment(ctx, used.payment_id)
}

function usable(ctx: Context, { authorization }: PaymentCredential): boolean {
  const now = BigInt(unixSeconds(ctx.clock.wall()))
  return authorization.to === ctx.chain.payTo && authorization.validAfter <= now && authorization.validBefore > now
}

export type Ended = {
  readonly answer: PaidAnswer
  readonly replayed: boolean
  readonly credential: PaymentCredential | undefined
  /** Of the request that is answered now. */
  readonly requestId: string
}

const REFUSED_FROM = 400

/** What was stored of a refusal is told under the id of each request that gets it. */
function bodyFor({ answer, requestId }: Ended): string {
  if (answer.status < REFUSED_FROM) return answer.body
  return JSON.stringify({ ...JSON.parse(answer.body), request_id: requestId })
}

/** The answer of a paid call with its settlement header in the generation that was spoken. */
export function paidReply(ctx: Context, ended: Ended): ReplyOut {
  const { answer, replayed, credential } = ended
  const headers: Record<string, string> = { 'Content-Type': JSON_TYPE, 'Cache-Control': 'no-store' }
  if (replayed) headers['Idempotency-Replayed'] = 'true'
  if (credential && answer.transaction) {
    const { name, value } = paymentResponse(credential.version, {
      success: true,
      transaction: answer.transaction as Hex, // stored from a chain's own answer
      network: ctx.chain.network,
      payer: credential.authorization.from,
    })
    headers[name] = value
  }
  return { kind: 'bytes', status: answer.status, headers, body: bodyFor(ended) }
}
