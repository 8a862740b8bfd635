import type { processWork } from '../client/process.ts'

/** A start without progress for this long is ended. */
export const SILENCE_MS = 60_000
/** Interval of checks. */
export const LOOK_MS = 500
/** If more time passes between two checks, this process itself got no processor time. */
const LONGEST_LOOK_MS = 4 * LOOK_MS

type Work = ReturnType<typeof processWork>
type Patience = {
  /** Resets the wait. */
  readonly progress: () => void
  /** Checks the process. @returns whether to continue waiting */
  readonly look: () => boolean
}

/**
 * Decides how long to wait for a process: as long as it makes progress. Time without a processor does not count, so
 * that a start is not given up on a busy machine.
 */
export function patienceWith(now: () => number, workOf: () => Work): Patience {
  let silentMs = 0
  let at = now()
  let work = workOf()
  return {
    progress() {
      silentMs = 0
    },
    look() {
      const passedMs = Math.min(now() - at, LONGEST_LOOK_MS)
      const worked = workOf()
      const usedMs = Math.max(0, (worked?.cpuMs ?? 0) - (work?.cpuMs ?? 0))
      const isStarved = worked?.isRunnable === true && usedMs < passedMs / 2
      silentMs += isStarved ? usedMs : passedMs
      at = now()
      work = worked
      return silentMs < SILENCE_MS
    },
  }
}
