import { AppError } from '../../../src/core/error.ts'
import { background, type Context } from '../../kernel/context.ts'
import { defineResource } from '../../kernel/resource.ts'
import type { ShortLived } from '../../kernel/short-lived.ts'
import type { PaidAnswer } from './seller.ts'

/** A payment that is being worked on. */
export type InFlight = {
  readonly fingerprint: string
  /** The first caller's; when it left, whoever waits starts over under its own. Absent in recovery. */
  readonly signal?: () => AbortSignal
  /** Undefined: it ended without a charge. */
  readonly answer: Promise<PaidAnswer | undefined>
}

/** Payments under way by id. */
export const inFlight = defineResource<ShortLived<InFlight>>('in-flight')

/** @throws AppError 409 when the payment, or the key, was used for another request. */
export function refuseOtherRequest(payment: { readonly fingerprint: string }, fingerprint: string): void {
  if (payment.fingerprint === fingerprint) return
  throw new AppError(
    'idempotency_mismatch',
    'This payment or Idempotency-Key was used for another request: sign a new authorization under a new key.',
  )
}

/**
 * Whatever moves a payment does it here, alone: requests, retries and recovery alike. Who comes
 * while a payment is worked on waits for that answer, and starts over when there was none, or when
 * it failed only because the first caller went away.
 * @throws AppError 409 when the same payment is under way for another request.
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
  // The entry is gone before anybody hears of the end: who comes then finds the stored state.
  const answer = Promise.resolve()
    .then(work)
    .finally(() => inFlight.of(ctx).delete(flight.id))
  inFlight.of(ctx).set(flight.id, { ...flight, answer })
  // A caller that hung up is waited for by nobody else: a stop waits until its payment has an end.
  const ended = answer.then(
    () => undefined,
    () => undefined,
  )
  const under = background.of(ctx)
  under.add(ended)
  void ended.then(() => under.delete(ended))
  return answer
}
