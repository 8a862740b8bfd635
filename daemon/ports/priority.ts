import { writeFileSync } from 'node:fs'
import { constants, getPriority, setPriority } from 'node:os'

/**
 * Engine work has lower priority than responses. With equal priority, a 4 ms response waited up to 150 ms while
 * browsers ran on two processors. This niceness still leaves engines a sixth of a busy processor.
 */
export const PRIORITY_STEPS = 7
const LOWEST = constants.priority.PRIORITY_LOW
const isLinux = process.platform === 'linux'

const below = (priority: number) => Math.min(LOWEST, priority + PRIORITY_STEPS)

/** Lowers the priority of a new session leader and all its children. */
export function lowerProcess(pid: number): void {
  try {
    setPriority(pid, below(getPriority(pid)))
    // Linux autogroups share processors by session, so lower the session's priority, too.
    if (isLinux) writeFileSync(`/proc/${pid}/autogroup`, String(PRIORITY_STEPS))
  } catch {
    // The process ended, or there are no autogroups.
  }
}

/** Lowers the thread's priority. Only on Linux, because elsewhere the whole process would get the lower priority. */
export function lowerThread(): void {
  if (!isLinux) return
  try {
    setPriority(below(getPriority()))
  } catch {
    // Forbidden; continue anyway.
  }
}
