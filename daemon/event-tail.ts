import { EventEmitter, once } from 'node:events'
import type { z } from 'zod'
import type { MarketEvent } from '../src/api/admin.ts'
import type { EventRow } from '../src/model/event.ts'
import type { EventValue } from './handler.ts'
import { events } from './store/collections.ts'
import type { World } from './world.ts'

const TAIL_PAGE = 200

type Tail = { readonly after: number | undefined; readonly signal: AbortSignal }

/**
 * The event log from a cursor on, then as it grows. The log itself is read, so that a reader which
 * comes back with its last cursor misses nothing; changes of the store only say that there is more.
 */
export async function* tailEvents(
  world: World,
  { after, signal }: Tail,
): AsyncGenerator<EventValue<typeof MarketEvent>> {
  const wake = new EventEmitter()
  const unsubscribe = world.store.subscribe((change) => {
    if (change.writes.some((write) => write.collection === events.name)) wake.emit('more')
  })
  try {
    let cursor = after ?? (await lastCursor(world))
    while (!signal.aborted) {
      const more = once(wake, 'more', { signal }).catch(() => undefined) // aborted: the reader left
      const rows = await eventsAfter(world, cursor)
      for (const row of rows) {
        yield { id: String(row.seq), event: row.type, data: eventView(row) }
        cursor = row.seq
      }
      if (rows.length === 0) await more
    }
  } finally {
    unsubscribe()
  }
}

async function lastCursor(world: World): Promise<number> {
  const page = await world.store.table(events).page('seq', [], { limit: 1, order: 'desc' })
  return page.rows[0]?.seq ?? 0
}

/** The next events in order. Numbers have no gaps but at the old end, where retention removed them. */
async function eventsAfter(world: World, cursor: number): Promise<readonly EventRow[]> {
  const table = world.store.table(events)
  const oldest = (await table.page('seq', [], { limit: 1 })).rows[0]
  const from = Math.max(cursor + 1, oldest?.seq ?? 0)
  return table.getMany(Array.from({ length: TAIL_PAGE }, (_, i) => String(from + i)))
}

export function eventView(row: EventRow): z.output<typeof MarketEvent> {
  return {
    id: row.id,
    event_id: row.id,
    cursor: row.seq,
    at: row.at,
    type: row.type,
    participant_id: row.participant_id,
    subject: { kind: row.subject_kind, id: row.subject_id },
    data: row.data,
  }
}
