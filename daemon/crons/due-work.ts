import type { Context } from '../kernel/context.ts'
import { type Platform, readPlatform } from '../kernel/switches.ts'
import type { Collection, ReadTx, Row, Scalar } from '../store/port.ts'
import type { CronRound } from './cron.ts'

/** Items taken at once. */
const DUE_PAGE = 100
/** Rows ahead of the next one that may be overdue, before a moved clock no longer stops for it. */
const LOOKED_AT = 1_000
/** Items that may fail in one run before it gives up: more than that is no fault of the items. */
const MAX_FAILED = 1_000

/** A kind of item that falls due: the seam through which the rest of the marketplace gives crons their work. */
export type DueWork = {
  readonly name: string
  /** Ids of items due at `now`, those that waited longest first; an item that was run is not among them again. */
  readonly due: (ctx: Context, now: number, limit: number) => Promise<readonly string[]>
  /** Does one item in one transaction, or finds that there is nothing left to do. */
  readonly run: (ctx: Context, id: string, now: number) => Promise<void>
  /** Business time at which the earliest item falls due at `from` or later, null when none will. */
  readonly nextDue: (ctx: Context, from: number) => Promise<number | null>
}

type DueRows<R extends Row> = {
  readonly name: string
  readonly collection: Collection<R>
  /** Index in the order in which its items fall due, and the values that they begin with there. */
  readonly index: string
  readonly prefix?: readonly Scalar[]
  /** Whether the row is due at `now`. */
  readonly isDue: (row: R, now: number, ctx: Context) => boolean
  readonly dueAt: (row: R) => number | null
  /** Whether it waits, with all that is due, for a switch to be turned back. */
  readonly rests?: (platform: Platform) => boolean
  /** Done before it is looked what is due. */
  readonly before?: (ctx: Context, now: number) => Promise<void>
  /** Whether it has to be run at once, whatever is due. */
  readonly isPressing?: (t: ReadTx, platform: Platform) => Promise<boolean>
  /** Looks again at its item, so that it is done once however often it is tried. */
  readonly run: DueWork['run']
}

/** Work whose items are rows of an index that is in the order of their time. */
export function dueWork<R extends Row>(rows: DueRows<R>): DueWork {
  const { name, collection, index, prefix = [], isDue, dueAt, rests, before, isPressing, run } = rows
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
 * Does all that is due. An item that fails is logged and left for the next run; the others go on.
 * @returns how many were done. @throws Error at the end when some failed.
 */
export async function runDueWork(list: readonly DueWork[], run: Run): Promise<number> {
  let done = 0
  let failed = 0
  for (const work of list) {
    const result = await runOne(work, run)
    done += result.done
    failed += result.failed
  }
  if (failed > 0) throw new Error(`${failed} of ${done + failed} items failed; the log names them`)
  return done
}

async function runOne(work: DueWork, run: Run): Promise<{ done: number; failed: number }> {
  const failed = new Set<string>()
  let done = 0
  while (failed.size < MAX_FAILED) {
    // What failed is still due and comes first again: the page grows by it.
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

/** The earliest of several kinds of items. */
export async function earliestDue(list: readonly DueWork[], ctx: Context, from: number): Promise<number | null> {
  const times = await Promise.all(list.map((work) => work.nextDue(ctx, from)))
  return times.reduce((least, at) => (at !== null && (least === null || at < least) ? at : least), null)
}
