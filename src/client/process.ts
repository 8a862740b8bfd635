import { readdirSync, readFileSync } from 'node:fs'
import { errnoOf } from '../core/error.ts'

/** The kernel counts a start in clock ticks since boot: two readings of it may differ by this much. */
const START_TOLERANCE_MS = 2_000
/** `sysconf(_SC_CLK_TCK)`, fixed at 100 by the Linux user interface. */
const CLOCK_TICKS_PER_SECOND = 100
/** Fields of `/proc/<pid>/stat`, counted behind the command name's closing bracket. */
const USER_FIELD = 11
const SYSTEM_FIELD = 12
const START_FIELD = 19

/** One process of this boot: the start tells it from a later one with the same number. */
export type ProcessName = { readonly pid: number; readonly started_at: string }

/** Whether the registered process still runs: its pid lives and was not given to a later process. */
export function isSameProcess({ pid, started_at }: ProcessName): boolean {
  if (!isAlive(pid)) return false
  const startedMs = processStartedMs(pid)
  return startedMs === undefined || Math.abs(startedMs - Date.parse(started_at)) <= START_TOLERANCE_MS
}

/** Whether a process of this number runs, zombies not counted. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    // EPERM: it runs, but belongs to another user.
    return errnoOf(error) === 'EPERM'
  }
  return statFields(pid)?.[0] !== 'Z'
}

/** Start of a process in epoch milliseconds. @returns undefined where there is no `/proc`. */
export function processStartedMs(pid: number): number | undefined {
  const ticks = Number(statFields(pid)?.[START_FIELD])
  const bootSeconds = Number(/^btime (\d+)$/m.exec(proc('stat') ?? '')?.[1])
  return Number.isNaN(ticks + bootSeconds) ? undefined : bootSeconds * 1_000 + (ticks * 1_000) / CLOCK_TICKS_PER_SECOND
}

/** What a process has done, and whether it wants a processor now. @returns undefined where there is no `/proc` */
export function processWork(pid: number): { readonly cpuMs: number; readonly isRunnable: boolean } | undefined {
  const fields = statFields(`${pid}`)
  if (fields === undefined) return undefined
  const ticks = Number(fields[USER_FIELD]) + Number(fields[SYSTEM_FIELD])
  const isRunnable = threadsOf(pid).some((thread) => statFields(`${pid}/task/${thread}`)?.[0] === 'R')
  return { cpuMs: (ticks * 1_000) / CLOCK_TICKS_PER_SECOND, isRunnable }
}

function threadsOf(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/task`)
  } catch {
    return [] // it ended meanwhile
  }
}

/** Fields of `/proc/<pid>/stat` from the state on; the name before them may hold blanks and brackets. */
function statFields(pid: number | string): readonly string[] | undefined {
  const stat = proc(`${pid}/stat`)
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')
}

function proc(name: string): string | undefined {
  try {
    return readFileSync(`/proc/${name}`, 'utf8')
  } catch {
    // No such process, or a system without /proc: the caller goes by the pid alone.
    return undefined
  }
}
