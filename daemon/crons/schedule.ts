import { Cron } from 'croner'
import { SECOND_MS } from '../../src/core/time.ts'

/** Schedule of one 6-field pattern in UTC. Times are epoch milliseconds. */
export type Schedule = ReturnType<typeof schedule>

/** @throws TypeError on an invalid pattern, RangeError on one that never matches. */
export function schedule(pattern: string) {
  const cron = new Cron(pattern, { mode: '6-part', utcOffset: 0 })
  /** First scheduled time after `at`. */
  const after = (at: number): number => {
    const next = cron.nextRun(new Date(at))
    if (!next) throw new RangeError(`${pattern} has no time after ${at}`)
    return next.getTime()
  }
  /** Last scheduled time at or before `at`. */
  const latest = (at: number): number => {
    // Scheduled times are whole seconds, so search backwards from the first whole second after `at`.
    const [previous] = cron.previousRuns(1, new Date(Math.floor(at / SECOND_MS) * SECOND_MS + SECOND_MS))
    if (!previous) throw new RangeError(`${pattern} has no time before ${at}`)
    return previous.getTime()
  }
  const first = after(0)
  // The time between two scheduled runs is constant for the patterns in use.
  return { pattern, after, latest, intervalMs: after(first) - first }
}

/** Schedules that the crons use (decisions §12). */
export const everyMinute = schedule('0 * * * * *')
export const everyFiveMinutes = schedule('0 */5 * * * *')
export const everyQuarterHour = schedule('0 */15 * * * *')
export const everyHour = schedule('0 0 * * * *')
export const dailyAt = (hour: number): Schedule => schedule(`0 0 ${hour} * * *`)
