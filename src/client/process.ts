import { readdirSync, readFileSync } from 'node:fs'
import { attempt, errnoOf } from '../core/error.ts'

/** Process start times may differ by this much, since the kernel counts them in ticks. */
const START_TOLERANCE_MS = 2_000
/** `sysconf(_SC_CLK_TCK)`, always 100 on Linux. */
const CLOCK_TICKS_PER_SECOND = 100
/** Indexes of fields in `/proc/<pid>/stat`, counted after the command name. */
const USER_FIELD = 11
const SYSTEM_FIELD = 12
const START_FIELD = 19

/** A process. Its start time shows whether another process has got the same pid. */
export type ProcessName = { readonly pid: number; readonly started_at: string }

/** Whether the registered process still runs. It does not if another process now has its pid. */
export function isSameProcess({ pid, started_at }: ProcessName): boolean {
  if (!isAlive(pid)) return false
  const startedMs = processStartedMs(pid)
  return startedMs === undefined || Math.abs(startedMs - Date.parse(started_at)) <= START_TOLERANCE_MS
}

/** Whether a process runs; zombies do not count. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    // EPERM: the process exists, but belongs to another user.
    return errnoOf(error) === 'EPERM'
  }
  return statFields(pid)?.[0] !== 'Z'
}

/** Start time of a process in epoch milliseconds. @returns undefined without `/proc` */
export function processStartedMs(pid: number): number | undefined {
  const ticks = Number(statFields(pid)?.[START_FIELD])
  const bootSeconds = Number(/^btime (\d+)$/m.exec(proc('stat') ?? '')?.[1])
  return Number.isNaN(ticks + bootSeconds) ? undefined : bootSeconds * 1_000 + (ticks * 1_000) / CLOCK_TICKS_PER_SECOND
}

/** CPU time of a process, and whether it is runnable. @returns undefined without `/proc` */
export function processWork(pid: number): { readonly cpuMs: number; readonly isRunnable: boolean } | undefined {
  const fields = statFields(`${pid}`)
  if (fields === undefined) return undefined
  const ticks = Number(fields[USER_FIELD]) + Number(fields[SYSTEM_FIELD])
  const isRunnable = threadsOf(pid).some((thread) => statFields(`${pid}/task/${thread}`)?.[0] === 'R')
  return { cpuMs: (ticks * 1_000) / CLOCK_TICKS_PER_SECOND, isRunnable }
}

function threadsOf(pid: number): readonly string[] {
  return attempt(() => readdirSync(`/proc/${pid}/task`)) ?? [] // it ended meanwhile
}

/** Fields of `/proc/<pid>/stat` after the command name, which may contain spaces; undefined without the file. */
function statFields(pid: number | string): readonly string[] | undefined {
  const stat = proc(`${pid}/stat`)
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')
}

/** Text of a file under `/proc`. Undefined if the process does not exist or is another user's, or without `/proc`. */
export function proc(name: string): string | undefined {
  return attempt(() => readFileSync(`/proc/${name}`, 'utf8'))
}
