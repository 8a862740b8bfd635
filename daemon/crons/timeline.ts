import { z } from 'zod'
import type { CronRun } from '../../src/model/delivery.ts'
import { type Context, defineResource } from '../kernel/context.ts'
import { putSetting, settings } from '../kernel/rows.ts'
import { type ClockSetting, type MovableClock, movableClock, systemClock, UNMOVED } from '../ports/clock.ts'
import { commit } from '../store/draw.ts'
import type { Draw, ReadTx, Store, Tx } from '../store/port.ts'
import type { Cron } from './cron.ts'
import { createScheduler, openCronState, type Scheduler, scheduler, type Within } from './scheduler.ts'

const CLOCK = 'clock'

/** The offset or freeze of business time, stored so that a restart keeps it. */
const StoredSetting = z.strictObject({
  offset_ms: z.int(),
  frozen_at: z.int().nullable(),
}) satisfies z.ZodType<ClockSetting>

async function readClockSetting(t: ReadTx): Promise<ClockSetting | undefined> {
  const row = await t.table(settings).get(CLOCK)
  return row && StoredSetting.parse(row.value)
}

/** The business clock, as the store has it. */
export async function storedClock(store: Pick<Store, 'read'>, machine = systemClock): Promise<MovableClock> {
  return movableClock(machine, (await store.read(readClockSetting)) ?? UNMOVED)
}

/** Maximum number of jumps when the clock moves to a time. After them, one last jump goes there directly. */
const MAX_JUMPS = 5_000
/** Number of the newest cron runs that a move of business time reports one by one. */
const MAX_REPORTED_RUNS = 200

export type ClockState = 'running' | 'frozen'
export type Moved = {
  readonly changed: boolean
  readonly jumps: number
  readonly runs: number
  /** The newest runs, oldest first. */
  readonly latest: readonly NamedRun[]
}
type NamedRun = CronRun & { readonly name: string }
export type Move = {
  /** Target business time, not in the past; undefined to stay at the present time. */
  readonly to?: number | undefined
  readonly state: ClockState
  readonly signal: AbortSignal
  /** Runs within the transaction that starts a move of the clock. */
  readonly also: (t: Tx, draw: Draw, changed: boolean) => Promise<void>
}

/** Moves business time and processes what falls due on the way (decisions §12). */
export type Timeline = {
  readonly state: () => { readonly state: ClockState; readonly offsetMs: number }
  /** If `signal` or a stop of the daemon ends the move early, business time stays at the point it has reached. */
  readonly move: (move: Move) => Promise<Moved>
}

type Parts = {
  readonly clock: MovableClock
  readonly crons: Scheduler
  readonly runsCrons: boolean
  readonly ctx: Context
}

export const timeline = defineResource<Timeline>('timeline')

export function createTimeline({ clock, crons, runsCrons, ctx }: Parts): Timeline {
  const stateNow = (): ClockState => (clock.setting().frozen_at === null ? 'running' : 'frozen')

  async function move({ to = clock.now(), state, signal, also }: Move, within: Within): Promise<Moved> {
    const changed = to > clock.now() || state !== stateNow()
    const goesOn = () => !signal.aborted && !ctx.stopping.aborted
    const trip = { clock, ctx, within: runsCrons ? within : resting, goesOn, state }
    await goTo(trip, clock.now(), (t, draw) => also(t, draw, changed))
    try {
      return { changed, ...(await travel(trip, to)) }
    } finally {
      clock.apply(clock.settingAt(clock.now(), state))
    }
  }

  return {
    state: () => ({ state: stateNow(), offsetMs: clock.setting().offset_ms }),
    move: (asked) => crons.exclusively((within) => move(asked, within)),
  }
}

type Trip = {
  readonly clock: MovableClock
  readonly ctx: Context
  readonly within: Pick<Within, 'active' | 'run'>
  readonly goesOn: () => boolean
  readonly state: ClockState
}

/** Replaces the scheduler while crons are switched off. */
const resting: Within = { active: () => [], run: () => Promise.reject(new Error('scheduled jobs are off')) }

/**
 * Freezes business time at `at`, or at the present if the present is later. First stores that time with the clock's
 * final state. So a crash leaves neither rows with a future time nor a frozen clock.
 */
async function goTo(
  { clock, ctx, state }: Trip,
  at: number,
  also: (t: Tx, draw: Draw) => Promise<void> = async () => undefined,
): Promise<void> {
  const time = Math.max(at, clock.now())
  const setting = clock.settingAt(time, state)
  await commit(ctx, async (t, draw) => {
    await putSetting(t, CLOCK, setting)
    await also(t, draw)
  })
  clock.apply(clock.settingAt(time, 'frozen'))
}

async function travel(trip: Trip, to: number): Promise<Omit<Moved, 'changed'>> {
  const latest: NamedRun[] = []
  let jumps = 0
  let runs = 0
  while (trip.clock.now() < to && trip.goesOn()) {
    jumps += 1
    const stop = jumps > MAX_JUMPS ? to : Math.min(to, await nextStop(trip))
    const ran = await jump(trip, stop)
    runs += ran.length
    latest.push(...ran)
    latest.splice(0, latest.length - MAX_REPORTED_RUNS)
  }
  return { jumps, runs, latest }
}

/** Moves the clock to `stop`. On the way, each cron runs once, at its last scheduled time up to `stop`. */
async function jump(trip: Trip, stop: number): Promise<NamedRun[]> {
  const ran: NamedRun[] = []
  for (const { cron, at } of dueUntil(trip, stop)) {
    if (!trip.goesOn()) return ran
    await goTo(trip, at)
    ran.push({ name: cron.name, ...(await trip.within.run(cron)) })
  }
  if (trip.goesOn()) await goTo(trip, stop)
  return ran
}

/** Time of the earliest scheduled run that will have work. The clock's next jump ends at that time. */
async function nextStop({ within, ctx, clock }: Trip): Promise<number> {
  let stop = Number.POSITIVE_INFINITY
  for (const { cron, row } of within.active()) {
    // Work that is already overdue needs no jump of its own: the cron's next run does it, whenever that is.
    const due = await cron.nextDue?.(ctx, row.served_until)
    if (due !== undefined && due !== null) stop = Math.min(stop, cron.schedule.after(Math.max(due - 1, clock.now())))
  }
  return stop
}

/** Crons with scheduled times up to `stop`. Each is listed once, ordered by the last of these times. */
function dueUntil({ within }: Trip, stop: number): { readonly cron: Cron; readonly at: number }[] {
  return within
    .active()
    .map(({ cron, row }) => ({ cron, at: cron.schedule.latest(stop), served: row.served_until }))
    .filter(({ at, served }) => at > served)
    .sort((one, other) => one.at - other.at)
}

type CronParts = { readonly crons: readonly Cron[]; readonly clock: MovableClock }

/** Opens the crons with their stored rows. No cron runs before `start` is called. */
export async function openCrons(ctx: Context, { crons, clock }: CronParts): Promise<void> {
  const { store, entropy, config } = ctx
  const names = crons.map((cron) => cron.name)
  const state = await openCronState({ store, entropy, names, now: clock.now() })
  const runs = createScheduler({ ctx, crons, state })
  scheduler.open(ctx, runs, runs.stop)
  timeline.open(ctx, createTimeline({ clock, crons: runs, runsCrons: config.crons, ctx }))
}
