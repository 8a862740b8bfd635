import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../src/core/time.ts'
import { type Context, defineResource } from '../../kernel/context.ts'
import type { Clock } from '../../ports/clock.ts'
import { eachPage } from '../../store/each-page.ts'
import { type ReadTx, type Store, type Tx, writtenRow } from '../../store/port.ts'
import { type LedgerRow, ledger } from '../ledger/rows.ts'
import { callSum } from './buckets.ts'
import { type CallFigures, callFigures, HOURS_KEPT, type Interval, intervalMs } from './calls.ts'
import { noTrade, type TradeSums, tradeOf, tradeSum } from './flows.ts'
import { createRing, type Ring } from './ring.ts'
import { type RollupRow, rollups } from './rows.ts'

/** A day, the same day a week earlier, and an hour to spare. */
const MINUTES_KEPT = (8 * DAY_MS + HOUR_MS) / MINUTE_MS
/** How long sums are stored by the hour, and then by the day: 13 months. */
const HOURLY_MS = 35 * DAY_MS
const DAILY_MS = 396 * DAY_MS
/** Interval at which new sums are stored, in machine time. */
const FOLD_EVERY_MS = MINUTE_MS
/** Maximum ledger entries and rollup rows per transaction or page. */
const FOLD_ROWS = 500
/** Maximum ledger entries that are counted from before the daemon's start, newest first. */
const PAST_ENTRIES_MAX = 20_000

/**
 * Trade by the minute and the hour. The ledger is the record: sums of it are stored with the number of their last
 * entry, so that no entry counts twice. Calls are counted nowhere else; a crash loses those of the last minute.
 */
export type Rollup = {
  /** Counts what happened before the daemon started, once. */
  readonly past: () => Promise<void>
  /** Trade in the last `count` intervals up to the one that contains `at`, wall time. */
  readonly within: (interval: Interval, at: number, count: number) => TradeSums
  /** Whether all minutes from a time on are known, wall time. A long ledger is not read that far back. */
  readonly hasMinutes: (from: number) => boolean
  /** Stores new sums if the last ones are a minute old. */
  readonly save: () => Promise<void>
}

export const rollup = defineResource<Rollup>('rollup')

type Sources = { readonly store: Store; readonly clock: Clock; readonly calls: Pick<CallFigures, 'restore' | 'save'> }

export function openRollupOf(ctx: Context): void {
  const opened = openRollup({ ...ctx, calls: callFigures.of(ctx) })
  rollup.open(ctx, opened, opened.close)
}

export function openRollup(sources: Sources): Rollup & { readonly close: () => Promise<void> } {
  const { clock } = sources
  const { rings, leave, restored, past, readSince } = openRings(sources)
  let folding = Promise.resolve()
  let foldAt = clock.wall() + FOLD_EVERY_MS
  const fold = () => restored().then(() => foldAll(sources))
  const foldNow = () => {
    folding = folding.then(fold, fold)
    return folding
  }

  return {
    past,
    hasMinutes: (from) => from + clock.now() - clock.wall() > readSince(),
    within(interval, at, count) {
      const ms = intervalMs[interval]
      const ahead = Math.floor(clock.now() / ms) - Math.floor(clock.wall() / ms)
      return rings[interval].sum(at + ahead * ms, count)
    },
    async save() {
      if (clock.wall() < foldAt) return
      foldAt = clock.wall() + FOLD_EVERY_MS
      await foldNow()
    },
    async close() {
      leave()
      await foldNow()
    },
  }
}

/** Recent minutes and hours in memory. */
function openRings({ store, clock, calls }: Sources) {
  const rings = { minute: tradeRing(MINUTE_MS, MINUTES_KEPT), hour: tradeRing(HOUR_MS, HOURS_KEPT) }
  // No entry counts twice: those from `firstWritten` on count when written, earlier ones when read from the ledger.
  let [firstWritten, lastRead, lastStored, readSince] = [Number.POSITIVE_INFINITY, 0, 0, Number.NEGATIVE_INFINITY]
  let [restoring, reading]: (Promise<void> | undefined)[] = []

  function written(entry: LedgerRow): void {
    // Released holds have no sequence number, and move no money.
    if (entry.seq === 0) return
    firstWritten = Math.min(firstWritten, entry.seq)
    if (entry.seq > lastRead) for (const ring of Object.values(rings)) addTrade(ring, entry.at, tradeOf(entry))
  }

  // The stored hours are read before this process adds to them.
  const restored = () => {
    const since = Math.min(clock.now(), clock.wall()) - HOURS_KEPT * HOUR_MS
    restoring ??= store.read(async (t) => {
      await restoreHours(t, { calls, ring: rings.hour, since })
      lastStored = await storedSeq(t)
    })
    return restoring
  }

  function countPast(entry: LedgerRow): void {
    lastRead = Math.max(lastRead, entry.seq)
    addTrade(rings.minute, entry.at, tradeOf(entry))
    if (entry.seq > lastStored) addTrade(rings.hour, entry.at, tradeOf(entry))
  }

  async function readPast(): Promise<void> {
    await restored()
    const since = clock.now() - MINUTES_KEPT * MINUTE_MS
    await store.read(async (t) => {
      let many = 0
      for await (const entry of entriesBefore(t, firstWritten)) {
        if (entry.seq <= lastStored && entry.at < since) return
        many += 1
        if (many === PAST_ENTRIES_MAX) readSince = entry.at
        countPast(entry)
      }
    })
  }

  const leave = store.subscribe(({ writes }) => {
    for (const entry of writes.map((write) => writtenRow(ledger, write))) if (entry) written(entry)
  })
  const past = () => {
    reading ??= readPast()
    return reading
  }
  return { rings, leave, restored, past, readSince: () => readSince }
}

type Restored = Pick<Sources, 'calls'> & { readonly ring: Ring<TradeSums>; readonly since: number }

async function restoreHours(t: ReadTx, { calls, ring, since }: Restored): Promise<void> {
  for await (const rows of eachPage(t.table(rollups), { index: 'step', prefix: ['hour'], limit: FOLD_ROWS })) {
    for (const row of rows.filter(({ at }) => at >= since)) {
      addTrade(ring, row.at, row)
      if (row.calls.length > 0) calls.restore(row.at, row.calls)
    }
  }
}

/** Stores what was counted since the last time, and makes room. */
async function foldAll({ store, clock, calls }: Sources): Promise<void> {
  const hourly = Math.floor((Math.min(clock.now(), clock.wall()) - HOURLY_MS) / DAY_MS) * DAY_MS
  for (let more = true; more; ) more = await store.tx((t) => foldEntries(t, hourly))
  await calls.save((hours) =>
    store.tx(async (t) => {
      for (const [at, counts] of hours) await add(t, { ...noSums(at), calls: counts }, hourly)
    }),
  )
  for (let more = true; more; ) more = await store.tx((t) => thin(t, hourly))
}

type Sums = TradeSums & Pick<RollupRow, 'at' | 'seq'> & { readonly calls: readonly number[] }
const stepMs = { hour: HOUR_MS, day: DAY_MS } as const satisfies Record<RollupRow['step'], number>

const noSums = (at: number): Sums => ({ ...noTrade(), at, seq: 0, calls: [] })

function sumOf(one: Sums, other: Sums): Omit<Sums, 'calls'> & { readonly calls: number[] } {
  const calls = callSum(one.calls, other.calls)
  return { ...tradeSum(one, other), at: one.at, seq: Math.max(one.seq, other.seq), calls }
}

/** Adds sums to the row of their hour, or of their day if that is before `hourly`. */
async function add(t: Tx, sums: Sums, hourly: number): Promise<void> {
  const step = sums.at < hourly ? 'day' : 'hour'
  const place = Math.floor(sums.at / stepMs[step])
  const id = `${step}:${place}`
  const known = await t.table(rollups).getForUpdate(id)
  await t.table(rollups).put({ ...sumOf(known ?? noSums(place * stepMs[step]), sums), id, step })
}

/** The last ledger transaction that is in stored sums; 0 if none. */
async function storedSeq(t: ReadTx): Promise<number> {
  const { rows } = await t.table(rollups).page('seq', [], { limit: 1 })
  return rows[0]?.seq ?? 0
}

/** Stores sums of the next ledger entries. @returns whether there are more */
async function foldEntries(t: Tx, hourly: number): Promise<boolean> {
  const beyond = [await storedSeq(t)]
  const { rows, more } = await t.table(ledger).page('seq', [], { limit: FOLD_ROWS, beyond })
  const hours = new Map<number, Sums>()
  for (const entry of rows) {
    const at = entry.at - (entry.at % HOUR_MS)
    hours.set(at, sumOf(hours.get(at) ?? noSums(at), { ...noSums(at), ...tradeOf(entry), seq: entry.seq }))
  }
  for (const sums of hours.values()) await add(t, sums, hourly)
  return more
}

/** Turns old hours into days and removes old days. @returns whether there are more */
async function thin(t: Tx, hourly: number): Promise<boolean> {
  const table = t.table(rollups)
  const hours = await table.page('step', ['hour'], { limit: FOLD_ROWS })
  const old = hours.rows.filter(({ at }) => at < hourly)
  for (const row of old) {
    await add(t, row, hourly)
    await table.delete(row.id)
  }
  const last = await storedSeq(t)
  const days = await table.page('step', ['day'], { limit: FOLD_ROWS })
  // The row that tells up to where the ledger is stored stays.
  const over = days.rows.filter(({ at, seq }) => at < hourly + HOURLY_MS - DAILY_MS && seq !== last)
  for (const { id } of over) await table.delete(id)
  return old.length === FOLD_ROWS
}

/** Entries with a number below `seq`, newest first. */
async function* entriesBefore(t: ReadTx, seq: number): AsyncGenerator<LedgerRow> {
  const newest = { index: 'seq', prefix: [], limit: FOLD_ROWS, order: 'desc' } as const
  let left = PAST_ENTRIES_MAX / FOLD_ROWS
  for await (const rows of eachPage(t.table(ledger), Number.isFinite(seq) ? { ...newest, beyond: [seq] } : newest)) {
    yield* rows
    left -= 1
    if (left === 0) return
  }
}

const tradeRing = (intervalMs: number, length: number) =>
  createRing({ intervalMs, length, none: noTrade, plus: tradeSum })

function addTrade(ring: Ring<TradeSums>, at: number, trade: TradeSums): void {
  ring.change(at, (held) => tradeSum(held, trade))
}
