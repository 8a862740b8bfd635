import { RateLimiterMemory } from 'rate-limiter-flexible'
import { AppError } from '../../../src/core/error.ts'
import { MINUTE_MS, SECOND_MS } from '../../../src/core/time.ts'

/** Thread time of failed work that one caller may take in a window: nobody pays for it. */
const MAX_UNPAID_MS = MINUTE_MS
const WINDOW_MS = 10 * MINUTE_MS

/** Bounds the thread time of each caller whose work fails: it is free, or refunded. */
export type UnpaidTime = {
  /** @throws AppError unavailable once a caller has had its share. */
  readonly refuse: (who: string) => Promise<void>
  /** Adds what failed work took. */
  readonly add: (who: string, ms: number) => Promise<void>
}

export function openUnpaid(maxMs = MAX_UNPAID_MS): UnpaidTime {
  const spent = new RateLimiterMemory({ points: maxMs, duration: WINDOW_MS / SECOND_MS })
  return {
    async refuse(who) {
      const state = await spent.get(who)
      if (state === null || state.consumedPoints < maxMs) return
      const retryAfter = Math.max(1, Math.ceil(state.msBeforeNext / SECOND_MS))
      const message = `Orders of yours failed after ${Math.ceil(maxMs / SECOND_MS)} s of work: try again in ${retryAfter} s.`
      throw new AppError('unavailable', message, { retryAfter })
    },
    async add(who, ms) {
      if (ms > 0) await spent.penalty(who, Math.ceil(ms))
    },
  }
}
