import { AppError } from '../../../src/core/error.ts'
import { unixSeconds } from '../../../src/core/time.ts'
import type { Context } from '../../kernel/context.ts'
import { readText } from '../../store/blobs.ts'
import { answers, type PaymentRow, payments } from './rows.ts'
import { type SealKey, unseal } from './sealed.ts'
import type { PaidAnswer } from './seller.ts'

export type Replayed = {
  readonly fingerprint: string
  readonly sealKey: SealKey | null
  /** Whether this request carries the `Idempotency-Key` that the payment was made with. */
  readonly sameKey: boolean
}

/** @throws AppError 409 when the payment, or the key, was used for another request. */
export function refuseOtherRequest(payment: Pick<PaymentRow, 'fingerprint'>, fingerprint: string): void {
  if (payment.fingerprint === fingerprint) return
  throw new AppError(
    'idempotency_mismatch',
    'This payment or Idempotency-Key was used for another request: sign a new authorization under a new key.',
  )
}

/**
 * The stored answer of a finished payment (decisions §4 Retry). By the payment header alone it is
 * served until that authorization's `validBefore`: settled bytes are public on a chain.
 */
export async function storedAnswer(ctx: Context, payment: PaymentRow, request: Replayed): Promise<PaidAnswer> {
  refuseOtherRequest(payment, request.fingerprint)
  const validBefore = payment.authorization?.valid_before
  const expired = validBefore !== undefined && validBefore < BigInt(unixSeconds(ctx.clock.wall()))
  if (expired && !request.sameKey) {
    throw new AppError('conflict', 'This payment was used; its answer needs the Idempotency-Key it was made with.', {
      extra: { receipt_id: payment.receipt_id },
    })
  }
  const answer = await ctx.store.table(answers).get(payment.id)
  if (!answer) {
    throw new AppError('conflict', 'This payment was used; its answer is no longer kept.', {
      extra: { receipt_id: payment.receipt_id },
    })
  }
  const stored = answer.file_sha256 === undefined ? answer.body : await readText(ctx.blobs, answer.file_sha256)
  const body = answer.sealed && request.sealKey ? opened(stored, answer.sealed, request.sealKey) : stored
  return { status: answer.status, body, transaction: payment.transaction }
}

/** The body as its first caller got it, or with secrets withheld when the key is another. */
function opened(body: string, box: string, key: SealKey): string {
  const secrets = unseal(box, key)
  if (typeof secrets !== 'object' || secrets === null) return body
  const { secret_withheld: _, ...document } = JSON.parse(body)
  return JSON.stringify({ ...document, ...secrets })
}

export async function findPayment(ctx: Context, id: string): Promise<PaymentRow | undefined> {
  const payment = await ctx.store.table(payments).get(id)
  return payment?.state === 'released' ? undefined : payment
}
