import type { CronRun, CronTrigger } from '../../src/model/delivery.ts'
import type { Context } from '../kernel/context.ts'
import type { Cron, CronRound } from './cron.ts'
import type { CronStates } from './state.ts'

type CronOutcome = Pick<CronRun, 'result' | 'reason'>

/** Result of one call of a cron. `settled` resolves when the work has really ended, possibly after the deadline. */
type CronAttempt = { readonly outcome: Promise<CronOutcome>; readonly settled: Promise<void> }

const MAX_REASON_CHARS = 300

/** Calls a cron once under its deadline. Returned promises never reject. @param stopping - aborted on shutdown */
function attempt(cron: Cron, round: Omit<CronRound, 'signal'>, stopping: AbortSignal): CronAttempt {
  const overdue = new AbortController()
  const signal = AbortSignal.any([overdue.signal, stopping])
  const expired = Promise.withResolvers<CronOutcome>()
  const timer = setTimeout(() => {
    expired.resolve({ result: 'failed', reason: `not finished after ${cron.deadlineMs} ms` })
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

/** Runs crons; each starts only after its previous run has really ended. */
export type Runner = {
  /** Starts the cron immediately. @throws Error while it is running. */
  readonly begin: (cron: Cron, trigger: CronTrigger) => Promise<CronRun>
  /** Resolves when the cron's current run is recorded; undefined if none is running. */
  readonly ended: (name: string) => Promise<void> | undefined
  readonly allEnded: () => Promise<unknown>
  /** Whether the cron can start. It cannot while an earlier run still works, even past its deadline. */
  readonly isFree: (name: string) => boolean
}

export type RunnerParts = {
  readonly state: CronStates
  readonly ctx: Context
}

export function createRunner({ state, ctx }: RunnerParts): Runner {
  const running = new Map<string, Promise<void>>()
  /** Names of crons whose work has not ended, including those past their deadline. */
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
    // A run that a stop of the daemon interrupts is not recorded, so the next start repeats it.
    if (!stopping.aborted) await state.record(cron.name, run)
    log.debug({ source: 'cron', cron: cron.name, ...run }, `cron ${run.result}`)
    return run
  }

  return {
    begin(cron, trigger) {
      if (running.has(cron.name) || working.has(cron.name)) throw new Error(`${cron.name} is already running`)
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
