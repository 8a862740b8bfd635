import type { CronRun } from '../../src/model/cron.ts'
import type { Cron, CronRound } from './cron.ts'

export type CronOutcome = Pick<CronRun, 'result' | 'reason'>

/** What one call of a cron came to; `settled` resolves when its work has really ended, which may be after its deadline. */
export type CronAttempt = { readonly outcome: Promise<CronOutcome>; readonly settled: Promise<void> }

const MAX_REASON_CHARS = 300

/**
 * Calls a cron once under its deadline. Neither promise rejects.
 * @param stopping - aborted when the daemon stops.
 */
export function attempt(cron: Cron, round: Omit<CronRound, 'signal'>, stopping: AbortSignal): CronAttempt {
  const overdue = new AbortController()
  const signal = AbortSignal.any([overdue.signal, stopping])
  const expired = Promise.withResolvers<CronOutcome>()
  const timer = setTimeout(() => {
    expired.resolve({ result: 'failed', reason: `not done after ${cron.deadlineMs} ms` })
    overdue.abort()
  }, cron.deadlineMs)
  const work = outcomeOf(cron, { ...round, signal }).finally(() => clearTimeout(timer))
  return { outcome: Promise.race([work, expired.promise]), settled: work.then(() => undefined) }
}

async function outcomeOf(cron: Cron, round: CronRound): Promise<CronOutcome> {
  try {
    const result = await cron.run(round)
    return result === undefined ? { result: 'success', reason: null } : { result: 'skipped', reason: result.skip }
  } catch (error) {
    round.ctx.log.error({ source: 'cron', cron: cron.name, err: String(error) }, 'cron failed')
    return { result: 'failed', reason: String(error).slice(0, MAX_REASON_CHARS) }
  }
}
