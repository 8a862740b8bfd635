import { createHmac } from 'node:crypto'
import { z } from 'zod'
import type { statsApi } from '../../../src/api/sections/stats.ts'
import { AppError } from '../../../src/core/error.ts'
import type { Entropy } from '../../../src/core/hex.ts'
import { SECOND_MS } from '../../../src/core/time.ts'
import { dailyAt } from '../../crons/schedule.ts'
import type { Visitor } from '../../endpoint/exchange.ts'
import type { FreeHandlers } from '../../endpoint/handler.ts'
import { defineResource } from '../../kernel/context.ts'
import { putSetting, settings } from '../../kernel/rows.ts'
import type { Clock } from '../../ports/clock.ts'
import { type AnyCollection, type Draft, defineCollection, type Store, stored, type Tx } from '../../store/port.ts'

/** A caller of a day; deleted when the day is closed. The key is date, colon, salted hash. */
const WatchCallerRow = z.strictObject({ ...stored, date: z.string() })

/** Counts of one UTC day in business time; the key is the day's date. */
export const watchDays = defineCollection('watch_days', {
  schema: z.strictObject({
    ...stored,
    trust_queries: z.int(),
    explorer_interactions: z.int(),
    distinct_callers: z.int(),
    /** Salt for hashing the day's callers, in hex; null once the day is closed. */
    salt: z.string().nullable(),
    closed: z.boolean(),
  }),
  indexes: [
    { name: 'open', fields: ['id'], where: { field: 'closed', equals: false } },
    { name: 'closed', fields: ['id'], order: 'desc', where: { field: 'closed', equals: true } },
  ],
})

export const watchCallers = defineCollection('watch_callers', {
  schema: WatchCallerRow,
  indexes: [{ name: 'date', fields: ['date'] }],
})

export const statsCollections: readonly AnyCollection[] = [watchDays, watchCallers]

const SNAPSHOT_HOUR = 2
/** Schedule for closing past days: each night (specification, Statistics). */
export const snapshotSchedule = dailyAt(SNAPSHOT_HOUR)
const DATE_CHARS = 'yyyy-mm-dd'.length
const SALT_BYTES = 32
const HASH_CHARS = 32
/** Maximum distinct callers counted per day. */
const MAX_CALLERS = 100_000
/** Maximum callers written or removed per transaction. */
const SLICE_ROWS = 500
/** Number of closed days that are kept and shown. */
const MAX_DAYS = 90
/** Settings key of the last snapshot's time. */
const SNAPSHOT = 'watch_snapshot'

type Kind = 'trust_queries' | 'explorer_interactions'

/**
 * Daily view counts (decisions §11), kept in memory until they are saved. A caller is stored as a hash with the day's
 * salt, which is deleted when the day is closed.
 */
export type ViewCounter = {
  readonly count: (kind: Kind, visitor: Visitor) => void
  /** Stores the counts so far. */
  readonly save: () => Promise<void>
}

export const viewCounts = defineResource<ViewCounter>('view-counts')

type Today = {
  readonly date: string
  readonly salt: Buffer
  readonly seen: Set<string>
  unsavedCallers: string[]
  counts: Record<Kind, number>
  isDirty: boolean
}

function dateOf(at: number): string {
  return new Date(at).toISOString().slice(0, DATE_CHARS)
}

export function openWatch({ store, clock, entropy }: { store: Store; clock: Clock; entropy: Entropy }): ViewCounter {
  let today: Today | undefined
  const ended: Today[] = []

  function current(): Today {
    const date = dateOf(clock.now())
    if (today?.date === date) return today
    if (today) ended.push(today)
    today = {
      date,
      salt: entropy(SALT_BYTES),
      seen: new Set(),
      unsavedCallers: [],
      counts: { trust_queries: 0, explorer_interactions: 0 },
      isDirty: false,
    }
    return today
  }

  return {
    count(kind, { address, declines }) {
      const day = current()
      day.counts[kind] += 1
      day.isDirty = true
      if (declines || day.seen.size >= MAX_CALLERS || day.seen.has(address)) return
      day.seen.add(address)
      day.unsavedCallers.push(address)
    },
    async save() {
      for (const day of [...ended.splice(0), ...(today ? [today] : [])]) if (day.isDirty) await saveDay(store, day)
    },
  }
}

async function saveDay(store: Store, day: Today): Promise<void> {
  const { counts } = day
  const callers = day.unsavedCallers.splice(0)
  day.counts = { trust_queries: 0, explorer_interactions: 0 }
  day.isDirty = false
  await store.tx((t) => addCounts(t, day, counts))
  for (let at = 0; at < callers.length; at += SLICE_ROWS) {
    await store.tx((t) => addCallers(t, day.date, callers.slice(at, at + SLICE_ROWS)))
  }
}

/** Adds counts to a day. The first save of a day also stores its salt, so that a restart can continue the day. */
async function addCounts(t: Tx, { date, salt }: Today, counts: Record<Kind, number>): Promise<void> {
  const table = t.table(watchDays)
  const row: Draft<z.infer<typeof watchDays.schema>> = (await table.getForUpdate(date)) ?? {
    id: date,
    trust_queries: 0,
    explorer_interactions: 0,
    distinct_callers: 0,
    salt: salt.toString('hex'),
    closed: false,
  }
  await table.put({
    ...row,
    trust_queries: row.trust_queries + counts.trust_queries,
    explorer_interactions: row.explorer_interactions + counts.explorer_interactions,
  })
}

async function addCallers(t: Tx, date: string, addresses: readonly string[]): Promise<void> {
  const table = t.table(watchDays)
  const day = await table.getForUpdate(date)
  if (!day || day.salt === null) return
  let added = 0
  for (const address of addresses) {
    const hash = createHmac('sha256', Buffer.from(day.salt, 'hex')).update(address).digest('hex').slice(0, HASH_CHARS)
    if (await t.table(watchCallers).insertIfAbsent({ id: `${date}:${hash}`, date })) added += 1
  }
  await table.put({ ...day, distinct_callers: day.distinct_callers + added })
}

type Snapshot = { readonly store: Store; readonly now: number; readonly signal: AbortSignal }

/** Closes past days: their counts stay, their salts and callers are deleted. */
export async function takeSnapshot({ store, now, signal }: Snapshot): Promise<void> {
  const open = await store.table(watchDays).page('open', [], { limit: MAX_DAYS })
  for (const { id: date } of open.rows.filter((row) => row.id < dateOf(now))) {
    let more = true
    while (more && !signal.aborted) more = await store.tx((t) => removeCallers(t, date))
    if (signal.aborted) return
    await store.tx((t) => closeDay(t, date))
  }
  await store.tx(async (t) => {
    await dropOldDays(t)
    await putSetting(t, SNAPSHOT, now)
  })
}

async function removeCallers(t: Tx, date: string): Promise<boolean> {
  const page = await t.table(watchCallers).page('date', [date], { limit: SLICE_ROWS })
  for (const { id } of page.rows) await t.table(watchCallers).delete(id)
  return page.more
}

async function closeDay(t: Tx, date: string): Promise<void> {
  const day = await t.table(watchDays).getForUpdate(date)
  if (day) await t.table(watchDays).put({ ...day, salt: null, closed: true })
}

async function dropOldDays(t: Tx): Promise<void> {
  const kept = await t.table(watchDays).page('closed', [], { limit: MAX_DAYS + SLICE_ROWS })
  for (const { id } of kept.rows.slice(MAX_DAYS)) await t.table(watchDays).delete(id)
}

/** Closed days, newest first; undefined before the first snapshot. */
export function readWatching(store: Store) {
  return store.read(async (t) => {
    const taken = await t.table(settings).get(SNAPSHOT)
    if (!taken) return undefined
    const { rows } = await t.table(watchDays).page('closed', [], { limit: MAX_DAYS })
    return { as_of: Number(taken.value), days: rows }
  })
}

export const statsRoutes: FreeHandlers<typeof statsApi> = {
  recordEvent: async (_input, { ctx, visitor }) => {
    viewCounts.of(ctx).count('explorer_interactions', visitor())
    return undefined
  },

  getWatching: async (_input, { ctx, now }) => {
    const watching = await readWatching(ctx.store)
    if (!watching) {
      const retryAfter = Math.ceil((snapshotSchedule.after(now) - now) / SECOND_MS)
      throw new AppError('not_built_yet', 'There is no snapshot yet: the first is taken at 02:00 UTC.', { retryAfter })
    }
    const days = watching.days.map(({ id, trust_queries, explorer_interactions, distinct_callers }) => ({
      date: id,
      trust_queries,
      explorer_interactions,
      distinct_callers,
    }))
    return { as_of: watching.as_of, days }
  },
}
