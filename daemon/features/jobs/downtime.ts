import { z } from 'zod'
import { MINUTE_MS } from '../../../src/core/time.ts'
import type { JobDueEvent } from '../../../src/model/job.ts'
import type { Context } from '../../kernel/context.ts'
import { defineResource } from '../../kernel/resource.ts'
import { settings } from '../../kernel/rows.ts'
import { readPlatform } from '../../kernel/switches.ts'
import type { ReadTx, Tx } from '../../store/port.ts'
import { extendedDeadline, type Missed, withMissed } from './machine-next.ts'
import { type JobRow, jobs } from './rows.ts'

/** Key of the row of settings that says since when the deadlines of jobs are watched. */
const WATCH = 'deadline_watch'
/** A watch that slept for longer has missed what passed meanwhile. */
const LONGEST_NAP_MS = 5 * MINUTE_MS
/** Spans that are remembered; what is between two of them counts as missed, too, before one is forgotten. */
const MAX_MISSED = 100

const Watch = z.strictObject({
  /** Business and wall time of the last look; no wall time before the first one. */
  at: z.int(),
  wall: z.int().nullable(),
  /** Since when the marketplace is paused, as the last look found it; business time. */
  paused_at: z.int().nullable(),
  missed: z.array(z.strictObject({ from: z.int(), to: z.int() })),
})
type Watch = z.infer<typeof Watch>

/** Events whose time is that of somebody who has to act by then. */
const watched: readonly JobDueEvent[] = ['expire', 'verify']

const deadlineWatch = defineResource<true>('deadline watch')

/** Watches from the start to the end of the daemon: what lies between two of its runs counts for nobody. */
export async function openDeadlineWatch(ctx: Context): Promise<void> {
  await watchTime(ctx, { now: ctx.clock.now(), isFirst: true })
  // From the beginning of a stop on nobody is answered, however long the rest of it takes.
  let stopAt: number | undefined
  ctx.stopping.addEventListener('abort', () => {
    stopAt = ctx.clock.now()
  })
  deadlineWatch.open(ctx, true, () => watchTime(ctx, { now: stopAt ?? ctx.clock.now() }))
}

/** Begins the watch with the first job that somebody has to act on, in the transaction that opens it. */
export async function beginWatch(t: Tx, now: number): Promise<void> {
  if (await isAnyWatched(t)) return
  const missed = [...((await readWatch(t))?.missed ?? [])]
  await t.table(settings).getForUpdate(WATCH)
  await t.table(settings).put({ id: WATCH, value: { at: now, wall: null, paused_at: null, missed } satisfies Watch })
}

async function isAnyWatched(t: ReadTx): Promise<boolean> {
  for (const event of watched) if ((await t.table(jobs).count('due', [event])) > 0) return true
  return false
}

type Watching = { readonly now: number /** The daemon has just started. */; readonly isFirst?: boolean }

/**
 * Looks at the clock on behalf of deadlines and of buyers that have a delivery to look at (decisions §8): time in which
 * the daemon was down or paid activity paused counts for neither. Call it before anything is done because of them.
 * Without a job that somebody has to act on there is nothing to watch, and nothing is written.
 */
export async function watchTime(ctx: Context, { now, isFirst = false }: Watching): Promise<void> {
  if (!(await ctx.store.read(isAnyWatched))) return
  const wall = ctx.clock.wall()
  await ctx.store.tx(async (t) => {
    const known = await readWatch(t)
    // Not `ctx.switches.now()`: what is due is decided by the same row.
    const { paused_at: pausedAt } = await readPlatform(t)
    const span = known && missedSpan(known, { now, wall, isFirst, isPaused: pausedAt !== null })
    const before = known?.missed ?? []
    const missed = [...(span ? withMissed(before, span, MAX_MISSED) : before)]
    const paused_at = pausedAt === null ? null : (known?.paused_at ?? pausedAt)
    await t.table(settings).getForUpdate(WATCH)
    await t.table(settings).put({ id: WATCH, value: { at: now, wall, paused_at, missed } })
  })
}

type Look = { readonly now: number; readonly wall: number; readonly isFirst: boolean; readonly isPaused: boolean }

function missedSpan(known: Watch, { now, wall, isFirst, isPaused }: Look): Missed | undefined {
  if (isPaused) return undefined // it is not over
  if (known.paused_at !== null) return spanOf(known.paused_at, now)
  // Nobody moves business time while the daemon is down; while it is up, only the time that really passed was missed.
  if (isFirst) return spanOf(known.at, now)
  const slept = wall - (known.wall ?? wall)
  return slept > LONGEST_NAP_MS ? spanOf(Math.max(known.at, now - slept), now) : undefined
}

function spanOf(from: number, to: number): Missed | undefined {
  return from < to ? { from, to } : undefined
}

async function readWatch(t: ReadTx): Promise<Watch | undefined> {
  const row = await t.table(settings).get(WATCH)
  return row && Watch.parse(row.value)
}

/** Whether a pause is over that the watch does not know to be over: it has to look before time goes on. */
export async function mustLook(t: ReadTx, isPaused: boolean): Promise<boolean> {
  const watch = await readWatch(t)
  return !isPaused && watch !== undefined && watch.paused_at !== null
}

/** Spans in which nobody watched, as far as they are remembered. */
export async function missedSpans(t: ReadTx): Promise<readonly Missed[]> {
  return (await readWatch(t))?.missed ?? []
}

/** Whether a provider had all its time: what it missed was looked at by `watchTime`, and is not given to it again. */
export async function isOverdue(t: ReadTx, job: JobRow, now: number): Promise<boolean> {
  if (job.deadline_at === null || now < job.deadline_at) return false
  if ((await readPlatform(t)).paused_at !== null) return false
  return extendedDeadline(job, await missedSpans(t)) === undefined
}
