import { AppError } from '../../../src/core/error.ts'
import { background, type Context, defineResource } from '../../kernel/context.ts'
import type { ShortLived } from '../../kernel/short-lived.ts'
import type { PaidAnswer } from './seller.ts'

export type InFlight = {
  readonly fingerprint: string
  /** Abort signal of the first caller. If that caller disconnects, waiting callers start over. Absent in recovery. */
  readonly signal?: () => AbortSignal
  /** Undefined if the payment ended without a charge. */
  readonly answer: Promise<PaidAnswer | undefined>
}

export const inFlight = defineResource<ShortLived<InFlight>>('in-flight')

/** @throws AppError 409 when the payment or the `Idempotency-Key` was used for another request */
export function refuseOtherRequest(payment: { readonly fingerprint: string }, fingerprint: string): void {
  if (payment.fingerprint === fingerprint) return
  throw new AppError(
    'idempotency_mismatch',
    'This payment or Idempotency-Key was used for another request: sign a new authorization under a new key.',
  )
}

/**
 * Runs `work` alone on a payment, for requests, retries and recovery. Later callers wait for the result. They start
 * over if there was none or the first caller disconnected.
 * @throws AppError 409 when the payment is in progress for another request.
 */
export async function singleFlight<Answered extends PaidAnswer | undefined>(
  ctx: Context,
  flight: Omit<InFlight, 'answer'> & { readonly id: string },
  work: () => Promise<Answered>,
): Promise<Answered | PaidAnswer> {
  for (;;) {
    const running = inFlight.of(ctx).get(flight.id)
    if (!running) break
    refuseOtherRequest(running, flight.fingerprint)
    const answer = await running.answer.catch((error: unknown) => {
      if (running.signal?.().aborted) return undefined
      throw error
    })
    if (answer) return { ...answer, replayed: true }
  }
  // The entry is removed before any caller sees the result, so that later callers find the stored state.
  const answer = Promise.resolve()
    .then(work)
    .finally(() => inFlight.of(ctx).delete(flight.id))
  inFlight.of(ctx).set(flight.id, { ...flight, answer })
  // Before the daemon stops, it waits for the payment, even if the payment's caller disconnected.
  const ended = answer.then(
    () => undefined,
    () => undefined,
  )
  const under = background.of(ctx)
  under.add(ended)
  void ended.then(() => under.delete(ended))
  return answer
}
