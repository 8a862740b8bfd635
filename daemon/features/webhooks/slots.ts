import { SECOND_MS } from '../../../src/core/time.ts'
import type { Clock } from '../../ports/clock.ts'

/** Tries under way at once, one at a time for each endpoint of a participant. */
export const MAX_CONCURRENT = 16
/** A participant whose last try took so long shares half of those with its like: it must not hold up all others. */
const SLOW_TRY_MS = SECOND_MS
export const MAX_SLOW_CONCURRENT = MAX_CONCURRENT / 2
/** Slow participants remembered; beyond, the one that was so first is forgotten. */
const MAX_SLOW_KNOWN = 10_000

/** Room for tries, of which those that take long leave some to those that do not. */
export type Slots = {
  readonly isFull: () => boolean
  /** @returns what is called when the try has ended; undefined when there is no room for one of this participant. */
  readonly enter: (participant: string) => (() => void) | undefined
}

export function createSlots({ wall }: Pick<Clock, 'wall'>): Slots {
  const slow = new Set<string>()
  let taken = 0
  let slowTaken = 0

  function noteSpeed(participant: string, tookMs: number): void {
    slow.delete(participant)
    if (tookMs < SLOW_TRY_MS) return
    slow.add(participant)
    const [first] = slow
    if (slow.size > MAX_SLOW_KNOWN && first !== undefined) slow.delete(first)
  }

  return {
    isFull: () => taken >= MAX_CONCURRENT,
    enter(participant) {
      const isSlow = slow.has(participant)
      if (taken >= MAX_CONCURRENT || (isSlow && slowTaken >= MAX_SLOW_CONCURRENT)) return undefined
      taken += 1
      if (isSlow) slowTaken += 1
      const from = wall()
      return () => {
        taken -= 1
        if (isSlow) slowTaken -= 1
        noteSpeed(participant, wall() - from)
      }
    },
  }
}
