import type { z } from 'zod'
import type { eventsApi, OwnEvent } from '../../src/api/sections/events.ts'
import { AppError, invalidField } from '../../src/core/error.ts'
import { DEFAULT_PAGE } from '../../src/core/limits.ts'
import { MINUTE_MS, SECOND_MS } from '../../src/core/time.ts'
import type { EventValue, FreeHandlers } from '../endpoint/handler.ts'
import type { Context } from '../kernel/context.ts'
import { defineHook } from '../kernel/hook.ts'
import type { ReadTx } from '../store/port.ts'
import { dataOf, lastSeq, removedUpTo } from './event-log.ts'
import { type EventRow, events } from './rows.ts'
import { eventSignal, type SignalPlace } from './signal.ts'

/** Whether a text matches a pattern with `*` wildcards. Runs in linear time. */
export function matchesGlob(pattern: string, text: string): boolean {
  const [head = '', ...rest] = pattern.split('*')
  const tail = rest.pop()
  if (tail === undefined) return text === head
  if (!text.startsWith(head)) return false
  let from = head.length
  for (const part of rest) {
    const at = text.indexOf(part, from)
    if (at < 0) return false
    from = at + part.length
  }
  return text.length - tail.length >= from && text.endsWith(tail)
}

/** Rows read per query. A page scans at most `MAX_SCANNED_ROWS`; if none match, its cursor is the last row read. */
const SCAN_ROWS = 200
const MAX_SCANNED_ROWS = 5_000
/** Interval at which `eventsRead` is called for a follower that receives no events. */
const STILL_THERE_MS = MINUTE_MS

/** Called when a participant reads its events, and at least every minute while it follows them. */
export const eventsRead = defineHook<[ctx: Context, participantId: string]>('events.read')

export type EventReading = {
  readonly participantId: string
  /** Number of the last event already seen. */
  readonly from: number
  /** Type patterns; undefined for all. */
  readonly types: readonly string[] | undefined
  readonly signal: AbortSignal
}

/**
 * Number of the event after which a reader starts (decisions §10). Without a cursor, the reader gets all kept events.
 * @throws AppError 400 when events after the cursor were removed, or the cursor is in the future.
 */
export async function startOf(t: ReadTx, participantId: string, cursor: string | undefined): Promise<number> {
  const removed = await removedUpTo(t, participantId)
  if (cursor === undefined) return removed
  if (cursor === 'latest') {
    const page = await t.table(events).page('own', [participantId], { limit: 1, order: 'desc' })
    return page.rows[0]?.seq ?? removed
  }
  const from = Number(cursor)
  if (from < removed) throw tooOld(removed)
  if (from > (await lastSeq(t))) {
    throw invalidField('cursor', 'unknown event (was an older backup restored?)')
  }
  return from
}

function tooOld(removed: number): AppError {
  const message = 'too old: events after it were removed; omit `cursor`, or use `oldest_cursor`'
  return new AppError('invalid_request', `cursor: ${message}`, {
    details: [{ path: 'cursor', message }],
    extra: { oldest_cursor: String(removed) },
  })
}

/** Waits for the next events. Empty if none match before the wait ends or the scan limit is reached. */
export async function pageOfOwn(
  ctx: Context,
  reading: EventReading & { readonly limit: number; readonly waitSeconds: number },
): Promise<z.output<typeof eventsApi.readEvents.reply.schema>> {
  const { participantId, signal, limit, waitSeconds } = reading
  await eventsRead.call(ctx, participantId)
  if (waitSeconds === 0) return pageOf(ctx, await findOwn(ctx, reading, limit))
  const place = eventSignal.of(ctx).enter(participantId, signal)
  const over = AbortSignal.any([signal, AbortSignal.timeout(waitSeconds * SECOND_MS)])
  try {
    for (let { from } = reading; ; ) {
      const heard = place.heard()
      const found = await findOwn(ctx, { ...reading, from }, limit)
      if (found.rows.length > 0 || found.more || over.aborted || ctx.stopping.aborted) return await pageOf(ctx, found)
      from = found.cursor
      await place.after(heard, over)
    }
  } finally {
    place.leave()
  }
}

async function pageOf(ctx: Context, { rows, cursor }: Found) {
  const events: z.output<typeof OwnEvent>[] = []
  for (const row of rows) events.push(await ownEventView(ctx, row))
  return { events, next_cursor: String(cursor) }
}

async function* follow(
  ctx: Context,
  { place, ...reading }: EventReading & { readonly place: SignalPlace },
): AsyncGenerator<EventValue<typeof OwnEvent>> {
  try {
    for (let { from } = reading; !reading.signal.aborted && !ctx.stopping.aborted; ) {
      const heard = place.heard()
      await eventsRead.call(ctx, reading.participantId)
      const found = await findOwn(ctx, { ...reading, from }, SCAN_ROWS)
      await ctx.store.durable() // readers get durable events only
      for (const row of found.rows) {
        yield { id: String(row.seq), event: row.type, data: await ownEventView(ctx, row) }
      }
      from = found.cursor
      if (!found.more) await place.after(heard, AbortSignal.any([reading.signal, AbortSignal.timeout(STILL_THERE_MS)]))
    }
  } finally {
    place.leave()
  }
}

type Found = {
  readonly rows: readonly EventRow[]
  /** Last event read. */
  readonly cursor: number
  readonly more: boolean
}

async function findOwn(ctx: Context, { participantId, from, types }: EventReading, limit: number): Promise<Found> {
  const table = ctx.store.table(events)
  const rows: EventRow[] = []
  let cursor = from
  for (let scanned = 0; scanned < MAX_SCANNED_ROWS; ) {
    const page = await table.page('own', [participantId], { limit: SCAN_ROWS, beyond: [cursor] })
    for (const row of page.rows) {
      if (rows.length === limit) return { rows, cursor, more: true }
      if (types === undefined || types.some((type) => matchesGlob(type, row.type))) rows.push(row)
      cursor = row.seq
    }
    if (!page.more) return { rows, cursor, more: false }
    scanned += page.rows.length
  }
  return { rows, cursor, more: true }
}

export async function ownEventView(ctx: Pick<Context, 'blobs'>, row: EventRow): Promise<z.output<typeof OwnEvent>> {
  return {
    id: row.id,
    event_id: row.id,
    cursor: String(row.seq),
    created_at: row.at,
    type: row.type,
    subject: { kind: row.subject_kind, id: row.subject_id },
    data: await dataOf(ctx, row),
  }
}

export const eventsRoutes: FreeHandlers<typeof eventsApi> = {
  readEvents: async ({ query }, { ctx, caller, signal }) => {
    const { cursor, types, wait = 0, limit = DEFAULT_PAGE } = query
    const from = await ctx.store.read((t) => startOf(t, caller.id, cursor))
    const reading = { participantId: caller.id, from, types: types?.split(','), signal: signal() }
    return {
      page: () => pageOfOwn(ctx, { ...reading, limit, waitSeconds: wait }),
      follow: () =>
        follow(ctx, { ...reading, place: eventSignal.of(ctx).enter(reading.participantId, reading.signal) }),
    }
  },
}
