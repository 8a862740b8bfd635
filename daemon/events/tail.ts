import type { z } from 'zod'
import type { MarketEvent } from '../../src/api/sections/admin.ts'
import { compact } from '../../src/core/record.ts'
import type { EventValue } from '../endpoint/handler.ts'
import type { Context } from '../kernel/context.ts'
import type { ReadTx } from '../store/port.ts'
import { dataOf } from './event-log.ts'
import { type EventRow, events } from './rows.ts'
import type { SignalPlace } from './signal.ts'
import { eventSignal } from './signal.ts'

const TAIL_PAGE = 200

type Tail = {
  readonly after: number | undefined
  /** Number of newest events to start with if there is no cursor. */
  readonly last: number
  readonly signal: AbortSignal
  /** Names and amount to show with an event. */
  readonly aboutOf: (t: ReadTx, row: EventRow) => Promise<NonNullable<z.output<typeof MarketEvent>['about']>>
}

/**
 * Events after a cursor, then new ones as they are logged. A reader that reconnects with its last cursor misses none,
 * because all are read from the log.
 * @throws AppError `rate_limited` when too many readers follow the log.
 */
export function tailEvents(ctx: Context, tail: Tail): AsyncIterable<EventValue<typeof MarketEvent>> {
  return followLog(ctx, { ...tail, place: eventSignal.of(ctx).enter(null, tail.signal) })
}

async function* followLog(
  ctx: Context,
  { after, last, signal, place, aboutOf }: Tail & { readonly place: SignalPlace },
): AsyncGenerator<EventValue<typeof MarketEvent>> {
  try {
    let cursor = after ?? Math.max(0, (await lastCursor(ctx)) - last)
    while (!signal.aborted && !ctx.stopping.aborted) {
      const heard = place.heard()
      const rows = await eventsAfter(ctx, cursor)
      await ctx.store.durable() // what is told must have happened for good
      for (const row of rows) {
        const about = await ctx.store.read((t) => aboutOf(t, row))
        yield { id: String(row.seq), event: row.type, data: { ...(await eventView(ctx, row)), about } }
        cursor = row.seq
      }
      if (rows.length === 0) await place.after(heard, signal)
    }
  } finally {
    place.leave()
  }
}

async function lastCursor(ctx: Context): Promise<number> {
  const page = await ctx.store.table(events).page('seq', [], { limit: 1, order: 'desc' })
  return page.rows[0]?.seq ?? 0
}

async function eventsAfter(ctx: Context, cursor: number): Promise<readonly EventRow[]> {
  const page = await ctx.store.table(events).page('seq', [], { limit: TAIL_PAGE, beyond: [cursor] })
  return page.rows
}

async function eventView(ctx: Context, row: EventRow): Promise<z.output<typeof MarketEvent>> {
  return {
    id: row.id,
    event_id: row.id,
    cursor: row.seq,
    at: row.at,
    type: row.type,
    participant_id: row.participant_id,
    subject: { kind: row.subject_kind, id: row.subject_id },
    data: await dataOf(ctx, row),
    ...compact({ tx: row.tx }),
  }
}
