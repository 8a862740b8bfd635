import { AppError, notFound } from '../../src/core/error.ts'
import type { Entropy } from '../../src/core/hex.ts'
import { SECOND_MS } from '../../src/core/time.ts'
import { type CronRun, type CronTrigger, MAX_CRON_RUNS } from '../../src/model/delivery.ts'
import { type Context, defineResource } from '../kernel/context.ts'
import type { Ticker } from '../ports/clock.ts'
import { commit } from '../store/draw.ts'
import type { Draft, Draw, Store, Tx } from '../store/port.ts'
import type { Cron, CronRound } from './cron.ts'
import { type CronRow, crons as cronRows } from './rows.ts'

/** How long the scheduler, when it stops, waits for active runs. */
const STOP_MS = 5_000

export type CronView = {
  readonly cron: Cron
  readonly row: CronRow
  readonly health: CronHealth
  readonly isRunning: boolean
  /** Business time of the next scheduled run; null while paused. */
  readonly nextRun: number | null
}

type Also = (t: Tx, draw: Draw, changed: boolean) => Promise<void>

export type Scheduler = {
  readonly views: () => readonly CronView[]
  /** `/health.crons`. */
  readonly health: () => Readonly<Record<string, CronHealth>>
  /** Runs the cron, paused or not, once its active run has ended. @throws AppError `not_found`, `conflict`. */
  readonly run: (name: string) => Promise<CronRun>
  /** Pauses or resumes the cron. `also` runs in the same transaction. @throws AppError not_found. */
  readonly setPaused: (name: string, isPaused: boolean, also: Also) => Promise<CronView>
  /** Blocks automatic cron starts while `work` runs. Waits first for active runs and for earlier exclusive work. */
  readonly exclusively: <T>(work: (within: Within) => Promise<T>) => Promise<T>
  /** Starts every cron that is due. */
  readonly tick: () => void
  readonly start: (ticker: Ticker) => void
  /** Ends the ticks and waits a limited time for active runs, which `Context.stopping` aborts. */
  readonly stop: () => Promise<void>
}

export const scheduler = defineResource<Scheduler>('scheduler')

/** Operations on crons, for the `work` that is passed to `exclusively`. */
export type Within = {
  /** Crons that are neither paused nor running. */
  readonly active: () => readonly { readonly cron: Cron; readonly row: CronRow }[]
  readonly run: (cron: Cron) => Promise<CronRun>
}

/** Runs crons by business time, and never the same cron twice at a time. One run makes up for all missed times. */
export function createScheduler(parts: RunnerParts & { readonly crons: readonly Cron[] }): Scheduler {
  const { crons, state, ctx } = parts
  const runner = createRunner(parts)
  const exclusive = exclusion()
  let endTicks: () => void = () => undefined

  const { now, nextRun, isActive, healthNow, viewOf } = howItStands(parts, runner)

  function tick(): void {
    if (exclusive.current() || ctx.stopping.aborted) return
    for (const cron of crons) {
      const trigger = triggerOf(cron, nextRun(cron), now())
      if (!trigger || !isActive(cron)) continue
      runner.begin(cron, trigger).catch((error: unknown) => {
        ctx.log.error({ source: 'cron', cron: cron.name, err: String(error) }, 'a run was not recorded')
      })
    }
  }

  async function run(name: string): Promise<CronRun> {
    const cron = cronOf(crons, name)
    const others = () => exclusive.current() ?? runner.ended(name)
    for (let busy = others(); busy; busy = others()) await busy
    if (!runner.isFree(name))
      throw new AppError('conflict', `A run of ${name} passed its deadline and is still running.`)
    return runner.begin(cron, 'admin')
  }

  const active = () => crons.filter(isActive).map((cron) => ({ cron, row: state.of(cron.name) }))

  return {
    views: () => crons.map(viewOf),
    health: () => Object.fromEntries(crons.filter((cron) => cron.inHealth).map((cron) => [cron.name, healthNow(cron)])),
    run,
    async setPaused(name, isPaused, also) {
      const cron = cronOf(crons, name)
      const changed = (state.of(name).paused_at !== null) !== isPaused
      const patch = changed ? { paused_at: isPaused ? now() : null } : {}
      await state.change(name, patch, (t, draw) => also(t, draw, changed))
      return viewOf(cron)
    },
    exclusively: (work) =>
      exclusive.run(async () => {
        await runner.allEnded()
        return work({ active, run: (cron) => runner.begin(cron, 'clock') })
      }),
    tick,
    start(ticker) {
      tick()
      endTicks = ticker(tick)
    },
    stop() {
      endTicks()
      return atMost(STOP_MS, Promise.all([exclusive.current(), runner.allEnded()]))
    },
  }
}

function howItStands({ state, ctx }: RunnerParts, runner: Runner) {
  const now = () => ctx.clock.now()
  const nextRun = (cron: Cron) => cron.schedule.after(state.of(cron.name).served_until)
  const isActive = ({ name }: Cron) => state.of(name).paused_at === null && runner.isFree(name)
  const healthNow = (cron: Cron) => healthOf(cron, state.of(cron.name), now())

  function viewOf(cron: Cron): CronView {
    const row = state.of(cron.name)
    const at = row.paused_at === null ? nextRun(cron) : null
    return { cron, row, health: healthNow(cron), isRunning: !runner.isFree(cron.name), nextRun: at }
  }

  return { now, nextRun, isActive, healthNow, viewOf }
}

function triggerOf({ schedule }: Cron, due: number, now: number): CronTrigger | undefined {
  if (due > now) return undefined
  return schedule.after(due) <= now ? 'catch_up' : 'schedule'
}

/** A queue that runs one task at a time. */
function exclusion() {
  let current: Promise<void> | undefined
  return {
    current: () => current,
    async run<T>(work: () => Promise<T>): Promise<T> {
      while (current) await current
      const ended = Promise.withResolvers<void>()
      current = ended.promise
      try {
        return await work()
      } finally {
        current = undefined
        ended.resolve()
      }
    },
  }
}

async function atMost(ms: number, work: Promise<unknown>): Promise<void> {
  const limit = Promise.withResolvers<void>()
  const timer = setTimeout(limit.resolve, ms)
  await Promise.race([work, limit.promise])
  clearTimeout(timer)
}

function cronOf(crons: readonly Cron[], name: string): Cron {
  const cron = crons.find((one) => one.name === name)
  if (!cron) throw notFound(`The cron ${name.slice(0, 40)}`)
  return cron
}

type CronOutcome = Pick<CronRun, 'result' | 'reason'>

const MAX_REASON_CHARS = 300

/**
 * Calls a cron once under its deadline. Returned promises never reject; `settled` resolves when the work has really
 * ended, possibly after the deadline. @param stopping - aborted on shutdown
 */
function attempt(cron: Cron, round: Omit<CronRound, 'signal'>, stopping: AbortSignal) {
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
type Runner = {
  /** Starts the cron immediately. @throws Error while it is running. */
  readonly begin: (cron: Cron, trigger: CronTrigger) => Promise<CronRun>
  /** Resolves when the cron's current run is recorded; undefined if none is running. */
  readonly ended: (name: string) => Promise<void> | undefined
  readonly allEnded: () => Promise<unknown>
  /** Whether the cron can start. It cannot while an earlier run still works, even past its deadline. */
  readonly isFree: (name: string) => boolean
}

type RunnerParts = { readonly state: CronStates; readonly ctx: Context }

function createRunner({ state, ctx }: RunnerParts): Runner {
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

/** A cron is stale after this many intervals without a successful or skipped run. */
const STALE_INTERVALS = 3

/** `/health.crons[name]`. */
type CronHealth = ReturnType<typeof healthOf>

function healthOf(cron: Cron, row: CronRow, now: number) {
  const { last_success, last_skipped, last_failure, skip_reason, created_at } = row
  return {
    last_success,
    last_skipped,
    last_failure,
    age_seconds: last_success === null ? null : Math.max(0, Math.floor((now - last_success) / SECOND_MS)),
    stale:
      now - Math.max(created_at, last_success ?? 0, last_skipped ?? 0) > STALE_INTERVALS * cron.schedule.intervalMs,
    ...(skip_reason === null ? {} : { skip_reason }),
  }
}

/** Rows of all crons, cached in memory, because only the scheduler writes them. */
type CronStates = {
  readonly of: (name: string) => CronRow
  readonly record: (name: string, run: CronRun) => Promise<void>
  /** Changes a row. `also` runs in the same transaction. */
  readonly change: (name: string, patch: Partial<CronRow>, also: (t: Tx, draw: Draw) => Promise<void>) => Promise<void>
}

type Parts = {
  readonly store: Store
  readonly entropy: Entropy
  readonly names: readonly string[]
  readonly now: number
}

/** Reads the rows and creates one for each new cron. Resets a `served_until` in the future (the clock was ahead). */
export async function openCronState({ store, entropy, names, now }: Parts): Promise<CronStates> {
  const rows = new Map<string, CronRow>()
  await write(async (t) => {
    for (const name of names) {
      const row = await rowOf(t, name, now)
      const isAhead = row.served_until > now
      rows.set(name, isAhead ? await t.table(cronRows).put({ ...row, served_until: now }) : row)
    }
  })

  function write<T>(body: (t: Tx, draw: Draw) => Promise<T>): Promise<T> {
    return commit({ store, entropy }, body)
  }

  async function update(t: Tx, name: string, patch: (row: CronRow) => Partial<CronRow>): Promise<CronRow> {
    const row = await rowOf(t, name, now)
    return t.table(cronRows).put({ ...row, ...patch(row) })
  }

  return {
    of: (name) => rows.get(name) as CronRow, // opened with every name
    async record(name, run) {
      rows.set(name, await write((t) => update(t, name, (row) => after(row, run))))
    },
    async change(name, patch, also) {
      const row = await write(async (t, draw) => {
        await also(t, draw)
        return update(t, name, () => patch)
      })
      rows.set(name, row)
    },
  }
}

async function rowOf(t: Tx, name: string, now: number): Promise<CronRow> {
  const table = t.table(cronRows)
  return (await table.getForUpdate(name)) ?? (await table.insert(fresh(name, now)))
}

function fresh(name: string, now: number): Draft<CronRow> {
  return {
    id: name,
    created_at: now,
    paused_at: null,
    served_until: now,
    last_success: null,
    last_skipped: null,
    last_failure: null,
    skip_reason: null,
    runs: [],
  }
}

/** The row's new members after a run. The run also counts for all earlier scheduled times. */
function after(row: CronRow, run: CronRun): Partial<CronRow> {
  return {
    served_until: Math.max(row.served_until, run.at),
    last_success: run.result === 'success' ? run.at : row.last_success,
    last_skipped: run.result === 'skipped' ? run.at : row.last_skipped,
    last_failure: run.result === 'failed' ? run.at : row.last_failure,
    skip_reason: run.result === 'skipped' ? run.reason : null,
    runs: [run, ...row.runs].slice(0, MAX_CRON_RUNS),
  }
}
