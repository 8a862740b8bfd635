import { z } from 'zod'
import { MINUTE_MS } from '../../../src/core/time.ts'
import type { JobDueEvent } from '../../../src/model/job.ts'
import { type Context, defineResource } from '../../kernel/context.ts'
import { putSetting, settings } from '../../kernel/rows.ts'
import { readPlatform } from '../../kernel/switches.ts'
import type { ReadTx, Tx } from '../../store/port.ts'
import { extendedDeadline, type Missed, withMissed } from './job-deadlines.ts'
import { type JobRow, jobs } from './rows.ts'

/** Settings key of the deadline watch. */
const WATCH = 'deadline_watch'
/** If two checks are farther apart than this, deadlines were not watched in between. */
const LONGEST_NAP_MS = 5 * MINUTE_MS
/** Maximum time spans stored in `missed`. Beyond it, the two closest and the gap between them become one. */
const MAX_MISSED = 100

const Watch = z.strictObject({
  /** Time of the last check (`wall`: wall time). Before the first one, `at` is the watch's start and `wall` null. */
  at: z.int(),
  wall: z.int().nullable(),
  /** When the current pause began (business time), according to the last check. */
  paused_at: z.int().nullable(),
  missed: z.array(z.strictObject({ from: z.int(), to: z.int() })),
})
type Watch = z.infer<typeof Watch>

/** Due events that limit a person's time to act. */
const watched: readonly JobDueEvent[] = ['expire', 'verify']

const deadlineWatch = defineResource<true>('deadline watch')

/** Watches deadlines while the daemon runs. Downtime of the daemon does not count towards deadlines. */
export async function openDeadlineWatch(ctx: Context): Promise<void> {
  await watchTime(ctx, { now: ctx.clock.now(), isFirst: true })
  // Count time only until the daemon begins to stop, because it refuses requests from then on.
  let stopAt: number | undefined
  ctx.stopping.addEventListener('abort', () => {
    stopAt = ctx.clock.now()
  })
  deadlineWatch.open(ctx, true, () => watchTime(ctx, { now: stopAt ?? ctx.clock.now() }))
}

/** Starts the deadline watch if no job has a deadline yet. Call it in the transaction that opens such a job. */
export async function beginWatch(t: Tx, now: number): Promise<void> {
  if (await isAnyWatched(t)) return
  const missed = [...((await readWatch(t))?.missed ?? [])]
  await putSetting(t, WATCH, { at: now, wall: null, paused_at: null, missed } satisfies Watch)
}

async function isAnyWatched(t: ReadTx): Promise<boolean> {
  for (const event of watched) if ((await t.table(jobs).count('due', [event])) > 0) return true
  return false
}

type Watching = { readonly now: number /** Whether the daemon has just started. */; readonly isFirst?: boolean }

/**
 * Updates the record of time that counts neither towards deadlines nor reviews (decisions §8): downtime, and pauses of
 * paid activity. Call it before acting on deadlines. Without open deadlines it writes nothing.
 */
export async function watchTime(ctx: Context, { now, isFirst = false }: Watching): Promise<void> {
  if (!(await ctx.store.read(isAnyWatched))) return
  const wall = ctx.clock.wall()
  await ctx.store.tx(async (t) => {
    const known = await readWatch(t)
    // Read the row and not `ctx.switches.now()`, because decisions on due jobs also read the row.
    const { paused_at: pausedAt } = await readPlatform(t)
    const span = known && missedSpan(known, { now, wall, isFirst, isPaused: pausedAt !== null })
    const before = known?.missed ?? []
    const missed = [...(span ? withMissed(before, span, MAX_MISSED) : before)]
    const paused_at = pausedAt === null ? null : (known?.paused_at ?? pausedAt)
    await putSetting(t, WATCH, { at: now, wall, paused_at, missed })
  })
}

type Look = { readonly now: number; readonly wall: number; readonly isFirst: boolean; readonly isPaused: boolean }

function missedSpan(known: Watch, { now, wall, isFirst, isPaused }: Look): Missed | undefined {
  if (isPaused) return undefined // it is not over
  if (known.paused_at !== null) return spanOf(known.paused_at, now)
  // After a start, all time since `known.at` counts as downtime. In a running daemon, only time asleep counts.
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

/** Whether a pause has ended since the last check. If so, call `watchTime` before acting on a deadline. */
export async function mustLook(t: ReadTx, isPaused: boolean): Promise<boolean> {
  const watch = await readWatch(t)
  return !isPaused && watch !== undefined && watch.paused_at !== null
}

export async function missedSpans(t: ReadTx): Promise<readonly Missed[]> {
  return (await readWatch(t))?.missed ?? []
}

/** Whether a job is past its deadline. Downtime and pauses do not count; call `watchTime` first to record them. */
export async function isOverdue(t: ReadTx, job: JobRow, now: number): Promise<boolean> {
  if (job.deadline_at === null || now < job.deadline_at) return false
  if ((await readPlatform(t)).paused_at !== null) return false
  return extendedDeadline(job, await missedSpans(t)) === undefined
}
