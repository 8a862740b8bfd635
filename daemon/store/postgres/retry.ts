import { setTimeout as sleep } from 'node:timers/promises'
import { AppError } from '../../../src/core/error.ts'
import { isLost, isRetriable, StoreUnreachable } from './connection.ts'

const RETRY_MS = 200
/** `Retry-After` in seconds. */
const RETRY_AFTER_S = 1

type Patience = { readonly maxRetries: number; readonly isOver: () => boolean }

/** Repeats work while the database does not answer. @throws AppError `unavailable` in the end */
export async function patiently<T>(work: () => Promise<T>, { maxRetries, isOver }: Patience): Promise<T> {
  for (let retries = 0; ; retries += 1) {
    const outcome = await work().then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    )
    if ('value' in outcome) return outcome.value
    if (!isPassing(outcome.error)) throw outcome.error
    if (isOver() || retries >= maxRetries) throw unavailable(outcome.error)
    await sleep(RETRY_MS)
  }
}

/** Whether the same may succeed a moment later. */
export function isPassing(error: unknown): boolean {
  return isLost(error) || isRetriable(error) || error instanceof StoreUnreachable
}

function unavailable(cause: unknown): AppError {
  return new AppError('unavailable', 'The database does not answer. Try again later.', {
    retryAfter: RETRY_AFTER_S,
    cause,
  })
}
