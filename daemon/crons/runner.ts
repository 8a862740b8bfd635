import type { CronRun, CronTrigger } from '../../src/model/delivery.ts'
import type { Context } from '../kernel/context.ts'
import type { Cron, CronRound } from './cron.ts'
import type { CronStates } from './state.ts'

type CronOutcome = Pick<CronRun, 'result' | 'reason'>

/** What one call of a cron came to; `settled` resolves when its work has really ended, which may be after its deadline. */
type CronAttempt = { readonly outcome: Promise<CronOutcome>; readonly settled: Promise<void> }

const MAX_REASON_CHARS = 300

/**
 * Calls a cron once under its deadline. Neither promise rejects.
 * @param stopping - aborted when the daemon stops.
 */
function attempt(cron: Cron, round: Omit<CronRound, 'signal'>, stopping: AbortSignal): CronAttempt {
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

/** Runs of crons, each one alone: a cron does not begin again before its run has really ended. */
export type Runner = {
  /** Begins at once. @throws Error while a run of it is under way. */
  readonly begin: (cron: Cron, trigger: CronTrigger) => Promise<CronRun>
  /** Resolves when the run of it that is under way, if any, was recorded. */
  readonly ended: (name: string) => Promise<void> | undefined
  readonly allEnded: () => Promise<unknown>
  /** Whether it can begin: nothing of it is under way, recorded or not. */
  readonly isFree: (name: string) => boolean
}

export type RunnerParts = {
  readonly state: CronStates
  readonly ctx: Context
}

export function createRunner({ state, ctx }: RunnerParts): Runner {
  const running = new Map<string, Promise<void>>()
  /** Names of crons whose work has not ended; it may outlive its deadline, at which its run was recorded. */
  const working = new Set<string>()

  async function execute(cron: Cron, trigger: CronTrigger): Promise<CronRun> {
    const { clock, stopping, log } = ctx
    const [now, began] = [clock.now(), clock.wall()]
    const previousRun = state.of(cron.name).served_until
    const { outcome, settled } = attempt(cron, { ctx, now, previousRun }, stopping)
    working.add(cron.name)
    void settled.then(() => working.delete(cron.name))
    const ending = await outcome
    const run = { at: now, took_ms: clock.wall() - began, trigger, ...ending }
    // Cut short by a stop: its schedule is not served, so that the next start does the rest.
    if (!stopping.aborted) await state.record(cron.name, run)
    log.debug({ source: 'cron', cron: cron.name, ...run }, `cron ${run.result}`)
    return run
  }

  return {
    begin(cron, trigger) {
      if (running.has(cron.name) || working.has(cron.name)) throw new Error(`${cron.name} is under way`)
      const run = execute(cron, trigger)
      const forget = () => void running.delete(cron.name)
      running.set(cron.name, run.then(forget, forget))
      return run
    },
    ended: (name) => running.get(name),
    allEnded: () => Promise.all(running.values()),
    isFree: (name) => !running.has(name) && !working.has(name),
  }
}
