import type { Context } from '../kernel/context.ts'
import { type Platform, readPlatform } from '../kernel/switches.ts'
import type { Collection, ReadTx, Row, Scalar } from '../store/port.ts'
import type { CronRound } from './cron.ts'

/** Number of items fetched per query. */
const DUE_PAGE = 100
/** Maximum number of rows read to find the next due time. */
const LOOKED_AT = 1_000
/** A run stops after this many failed items, because that many failures point to a general fault. */
const MAX_FAILED = 1_000

/** A kind of item that falls due. Features register such kinds, so that crons process the items. */
export type DueWork = {
  readonly name: string
  /** Ids of items due at `now`, longest waiting first; processed items are not returned again. */
  readonly due: (ctx: Context, now: number, limit: number) => Promise<readonly string[]>
  /** Processes one item in one transaction. Does nothing if the item is already processed. */
  readonly run: (ctx: Context, id: string, now: number) => Promise<void>
  /** Business time of the earliest item due at or after `from`; null if none. */
  readonly nextDue: (ctx: Context, from: number) => Promise<number | null>
}

type DueRows<R extends Row> = {
  readonly name: string
  readonly collection: Collection<R>
  /** Name of an index. Its first fields match `prefix`; the next one is the due time. */
  readonly index: string
  readonly prefix?: readonly Scalar[]
  /** Null: not due. */
  readonly dueAt: (row: R) => number | null
  /** Further condition, besides the due time, for a row to be due at `now`. */
  readonly isDue?: (row: R, now: number, ctx: Context) => boolean
  /** Whether a platform switch, such as the pause, stops this work. */
  readonly rests?: (platform: Platform) => boolean
  /** Runs before due items are read. */
  readonly before?: (ctx: Context, now: number) => Promise<void>
  /** Whether waiting rows must be processed now, even if none is due. */
  readonly isPressing?: (t: ReadTx, platform: Platform) => Promise<boolean>
  /** Checks again whether the item is due, so that repeated calls process it once. */
  readonly run: DueWork['run']
}

/** Creates due work whose rows are read from an index ordered by due time. */
export function dueWork<R extends Row>(rows: DueRows<R>): DueWork {
  const { name, collection, index, prefix = [], dueAt, rests, before, isPressing, run } = rows
  const isDue = rows.isDue ?? ((row, now) => (dueAt(row) ?? Number.POSITIVE_INFINITY) <= now)
  const page = async (t: ReadTx, limit: number) => (await t.table(collection).page(index, prefix, { limit })).rows
  return {
    name,
    run,
    async due(ctx, now, limit) {
      await before?.(ctx, now)
      return ctx.store.read(async (t) => {
        if (rests?.(await readPlatform(t))) return []
        return (await page(t, limit)).filter((row) => isDue(row, now, ctx)).map((row) => String(row[collection.key]))
      })
    },
    nextDue: (ctx, from) =>
      ctx.store.read(async (t) => {
        const platform = await readPlatform(t)
        if (rests?.(platform)) return null
        const ahead = await page(t, LOOKED_AT)
        if (ahead.length > 0 && (await isPressing?.(t, platform))) return from
        return ahead.map(dueAt).find((at) => at !== null && at >= from) ?? null
      }),
  }
}

type Run = Pick<CronRound, 'ctx' | 'now' | 'signal'>

/**
 * Processes everything due. A failed item is logged and stays for the next run.
 * @returns the number of items done.
 * @throws Error at the end when some failed.
 */
export async function runDueWork(list: readonly DueWork[], run: Run): Promise<number> {
  let done = 0
  let failed = 0
  for (const work of list) {
    const result = await runOne(work, run)
    done += result.done
    failed += result.failed
  }
  if (failed > 0) throw new Error(`${failed} of ${done + failed} items failed; see the log`)
  return done
}

async function runOne(work: DueWork, run: Run): Promise<{ done: number; failed: number }> {
  const failed = new Set<string>()
  let done = 0
  while (failed.size < MAX_FAILED) {
    // Failed items are still due and come first again, so the page grows by their number.
    const due = await work.due(run.ctx, run.now, DUE_PAGE + failed.size)
    const fresh = due.filter((id) => !failed.has(id))
    if (fresh.length === 0) break
    for (const id of fresh) {
      if (run.signal.aborted) return { done, failed: failed.size }
      if (await attempt(work, id, run)) done += 1
      else failed.add(id)
    }
  }
  return { done, failed: failed.size }
}

async function attempt(work: DueWork, id: string, { ctx, now }: Run): Promise<boolean> {
  try {
    await work.run(ctx, id, now)
    return true
  } catch (error) {
    ctx.log.error({ source: 'cron', work: work.name, id, err: String(error) }, 'an item failed')
    return false
  }
}

export async function earliestDue(list: readonly DueWork[], ctx: Context, from: number): Promise<number | null> {
  const times = await Promise.all(list.map((work) => work.nextDue(ctx, from)))
  return times.reduce((least, at) => (at !== null && (least === null || at < least) ? at : least), null)
}
