import type { EventType } from '../../src/model/event-types.ts'
import type { JsonObject } from '../../src/model/service.ts'
import type { Context } from '../kernel/context.ts'
import { counters } from '../kernel/rows.ts'
import { largeText, readText } from '../store/blobs.ts'
import type { Draw } from '../store/draw.ts'
import type { ReadTx, Tx } from '../store/port.ts'
import { type EventRow, events } from './rows.ts'

export type NewEvent = {
  readonly type: EventType
  /** Whose event it is; null for the platform's own. */
  readonly participantId: string | null
  readonly subject: { readonly kind: string; readonly id: string }
  readonly data: JsonObject
  readonly at: number
}

type Act = Omit<NewEvent, 'type' | 'participantId'> & { readonly type: string }

/** Id of the counter that numbers events without gaps, in commit order. */
const EVENT_COUNTER = 'events'

/** Appends to the durable event log in the transaction of what happened. */
export function emit(t: Tx, draw: Draw, event: NewEvent): Promise<void> {
  return append(t, draw, event)
}

/** The same for an act of the administrator, which nobody's own log shows. */
export function emitAct(t: Tx, draw: Draw, act: Act): Promise<void> {
  return append(t, draw, { ...act, participantId: null })
}

/** The first event of a transaction, by its draw: a run of a body has one of its own. */
const firstOf = new WeakMap<Draw, number>()

async function append(t: Tx, draw: Draw, event: Act & Pick<NewEvent, 'participantId'>): Promise<void> {
  const table = t.table(counters)
  const counter = await table.getForUpdate(EVENT_COUNTER)
  const seq = (counter?.value ?? 0) + 1
  const tx = firstOf.get(draw) ?? seq
  firstOf.set(draw, tx)
  await table.put({ id: EVENT_COUNTER, value: seq })
  await t.table(events).insert({
    key: String(seq),
    id: draw.id('event'),
    seq,
    at: event.at,
    type: event.type,
    participant_id: event.participantId,
    subject_kind: event.subject.kind,
    subject_id: event.subject.id,
    tx,
    ...keptData(event.data, draw),
  })
}

/** What an event tells, as its row keeps it: in the row, or as a file where it is large. */
function keptData(data: JsonObject, draw: Draw): Pick<EventRow, 'data' | 'data_file'> {
  const text = largeText(data)
  return text === undefined ? { data } : { data: {}, data_file: draw.file(text) }
}

/** What an event tells, wherever it lies. */
export async function dataOf({ blobs }: Pick<Context, 'blobs'>, { data, data_file }: EventRow): Promise<JsonObject> {
  return data_file === undefined ? data : (JSON.parse(await readText(blobs, data_file)) as JsonObject) // by keptData
}

/** Number of the newest event. */
export async function lastSeq(t: ReadTx): Promise<number> {
  return (await t.table(counters).get(EVENT_COUNTER))?.value ?? 0
}

/** Id of the counter that says up to where a participant's events are no longer kept. */
function removedCounter(participantId: string): string {
  return `events_removed:${participantId}`
}

/** Up to which number a participant's events have been removed; 0 where all there ever were are kept. */
export async function removedUpTo(t: ReadTx, participantId: string): Promise<number> {
  return (await t.table(counters).get(removedCounter(participantId)))?.value ?? 0
}

/** Remembers that an event is no longer kept: whoever asks for what came after an earlier one must be told. */
export async function markRemoved(t: Tx, { participant_id, seq }: EventRow): Promise<void> {
  if (participant_id === null) return
  const id = removedCounter(participant_id)
  await t.table(counters).getForUpdate(id)
  await t.table(counters).put({ id, value: seq })
}
