import type { processWork } from '../client/process.ts'

/** A start that shows no progress for so long is ended. */
export const SILENCE_MS = 60_000
/** How often is looked whether it still works. */
export const LOOK_MS = 500
/** More between two looks is time that this process did not get itself. */
const LONGEST_LOOK_MS = 4 * LOOK_MS

type Work = ReturnType<typeof processWork>
type Patience = {
  /** Something was done: the wait begins anew. */
  readonly progress: () => void
  /** Looks at the process. @returns whether to wait on */
  readonly look: () => boolean
}

/**
 * Waits for a process as long as it gets on. Time in which the machine gave it no processor is no silence of its own,
 * so that a busy machine never ends a start.
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
