import { writeFileSync } from 'node:fs'
import { constants, getPriority, setPriority } from 'node:os'

/**
 * What is worked on for a buyer stands behind whoever is answered: on two processors a page that is made in 4 ms waited
 * up to 150 ms for its turn while browsers ran. Much lower, and on a machine that others keep busy no engine would be
 * done within its time: so a sixth of a processor is left to it beside one that never rests.
 */
export const PRIORITY_STEPS = 7
const LOWEST = constants.priority.PRIORITY_LOW
const isLinux = process.platform === 'linux'

const below = (priority: number) => Math.min(LOWEST, priority + PRIORITY_STEPS)

/** Puts the leader of a session that was just started, with all that it will start, behind this process. */
export function lowerProcess(pid: number): void {
  try {
    setPriority(pid, below(getPriority(pid)))
    // Where Linux shares processors among sessions first, a browser counts as much as the whole daemon, however low.
    if (isLinux) writeFileSync(`/proc/${pid}/autogroup`, String(PRIORITY_STEPS))
  } catch {
    // It ended already, or the system has no such groups.
  }
}

/** Puts the calling thread behind the others of its process. Elsewhere than on Linux a priority is the whole process's. */
export function lowerThread(): void {
  if (!isLinux) return
  try {
    setPriority(below(getPriority()))
  } catch {
    // Whoever runs the daemon may have forbidden it; it works on as it is.
  }
}
