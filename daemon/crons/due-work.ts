import type { Context } from '../kernel/context.ts'
import type { CronRound } from './cron.ts'

/** Items taken at once. */
const DUE_PAGE = 100
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
