import type { EventType, OperatorEventType } from '../../src/model/event-types.ts'
import type { JsonObject } from '../../src/model/service.ts'
import type { Context } from '../kernel/context.ts'
import { counters } from '../kernel/rows.ts'
import { largeText, readText } from '../store/blobs.ts'
import type { Draw } from '../store/draw.ts'
import type { ReadTx, Tx } from '../store/port.ts'
import { type EventRow, events } from './rows.ts'

export type NewEvent = {
  readonly type: EventType
  /** Owner of the event; null for the platform. */
  readonly participantId: string | null
  readonly subject: { readonly kind: string; readonly id: string }
  readonly data: JsonObject
  readonly at: number
}

type Act = Omit<NewEvent, 'type' | 'participantId'> & { readonly type: OperatorEventType }

/** Id of the counter that numbers events, without gaps, in commit order. */
const EVENT_COUNTER = 'events'

/** Appends to the durable event log, within the transaction. */
export function emit(t: Tx, draw: Draw, event: NewEvent): Promise<void> {
  return append(t, draw, event)
}

/** Appends an administrator's action, which no participant's log shows. */
export function emitAct(t: Tx, draw: Draw, act: Act): Promise<void> {
  return append(t, draw, { ...act, participantId: null })
}

/** Number of each transaction's first event, by `Draw`. A transaction that is retried gets a new `Draw`. */
const firstOf = new WeakMap<Draw, number>()

async function append(t: Tx, draw: Draw, event: Omit<NewEvent, 'type'> & { readonly type: string }): Promise<void> {
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

/** Event data as stored: in the row, or as a file if it is large. */
function keptData(data: JsonObject, draw: Draw): Pick<EventRow, 'data' | 'data_file'> {
  const text = largeText(data)
  return text === undefined ? { data } : { data: {}, data_file: draw.file(text) }
}

/** Event data, from the row or its file. */
export async function dataOf({ blobs }: Pick<Context, 'blobs'>, { data, data_file }: EventRow): Promise<JsonObject> {
  return data_file === undefined ? data : (JSON.parse(await readText(blobs, data_file)) as JsonObject) // by keptData
}

/** Number of the newest event. */
export async function lastSeq(t: ReadTx): Promise<number> {
  return (await t.table(counters).get(EVENT_COUNTER))?.value ?? 0
}

function removedCounter(participantId: string): string {
  return `events_removed:${participantId}`
}

/** Number of a participant's newest removed event; 0 if none was removed. */
export async function removedUpTo(t: ReadTx, participantId: string): Promise<number> {
  return (await t.table(counters).get(removedCounter(participantId)))?.value ?? 0
}

/** Records that an event was removed, so that reading from an older cursor gives an error. */
export async function markRemoved(t: Tx, { participant_id, seq }: EventRow): Promise<void> {
  if (participant_id === null) return
  const id = removedCounter(participant_id)
  await t.table(counters).getForUpdate(id)
  await t.table(counters).put({ id, value: seq })
}
