import type { DueWork } from '../../crons/due-work.ts'
import type { Context } from '../../kernel/context.ts'
import { commit } from '../../store/draw.ts'
import type { Collection, Row } from '../../store/port.ts'
import { stepPosting } from './close.ts'
import { retryNotice } from './notify.ts'
import { tellAll } from './notifying.ts'
import { fanouts, notices, postings } from './rows.ts'

/** Rows ahead of the next one that may be overdue, before a moved clock no longer stops for it. */
const LOOKED_AT = 1_000

type Kind<R extends Row> = {
  readonly name: string
  readonly collection: Collection<R>
  /** Index in the order in which its items fall due. */
  readonly index: string
  readonly dueAt: (row: R) => number | null
  /** Whether nobody is told of requests now: under the cutover nobody could bid on them. */
  readonly rests: (ctx: Context) => boolean
  readonly run: DueWork['run']
}

/** Items of one kind; each run looks again at its item, so that it is done once however often it is tried. */
function dueWork<R extends Row>({ name, collection, index, dueAt, rests, run }: Kind<R>): DueWork {
  const isDue = (row: R, now: number) => (dueAt(row) ?? now) <= now
  return {
    name,
    run,
    async due(ctx, now, limit) {
      if (rests(ctx)) return []
      const { rows } = await ctx.store.table(collection).page(index, [], { limit })
      return rows.filter((row) => isDue(row, now)).map((row) => String(row[collection.key]))
    },
    async nextDue(ctx, from) {
      if (rests(ctx)) return null
      const { rows } = await ctx.store.table(collection).page(index, [], { limit: LOOKED_AT })
      const next = rows.find((row) => !isDue(row, from - 1))
      return next === undefined ? null : dueAt(next)
    },
  }
}

const isShelved = (ctx: Context) => ctx.switches.now().checkoutV2

/** What falls due on postings, in the order in which it is done. */
export const postingWork: readonly DueWork[] = [
  dueWork({
    name: 'posting.expire',
    collection: postings,
    index: 'due',
    dueAt: (row) => row.expires_at,
    rests: () => false,
    run: (ctx, id, now) =>
      commit(ctx, async (t, draw) => {
        const posting = await t.table(postings).getForUpdate(id)
        if (!posting?.open || posting.expires_at > now) return
        await stepPosting(t, draw, { posting, event: 'expire', by: 'system', at: now })
      }),
  }),
  dueWork({
    name: 'posting.tell',
    collection: fanouts,
    index: 'at',
    dueAt: (row) => row.at,
    rests: isShelved,
    run: tellAll,
  }),
  dueWork({
    name: 'posting.retry',
    collection: notices,
    index: 'due',
    dueAt: (row) => row.next_at,
    rests: isShelved,
    run: (ctx, id, now) => commit(ctx, (t) => retryNotice(t, { id, now })),
  }),
]
