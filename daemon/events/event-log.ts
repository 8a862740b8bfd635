import { isDeepStrictEqual } from 'node:util'
import type { EventType, OperatorEventType } from '../../src/model/event-types.ts'
import type { JsonObject } from '../../src/model/service.ts'
import type { Context } from '../kernel/context.ts'
import { counters, nextNumber } from '../kernel/rows.ts'
import { largeText, readText } from '../store/blobs.ts'
import type { Draw, ReadTx, Tx } from '../store/port.ts'
import { adminActs, type EventRow, events } from './rows.ts'

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

export async function dataOf({ blobs }: Pick<Context, 'blobs'>, { data, data_file }: EventRow): Promise<JsonObject> {
  return data_file === undefined ? data : (JSON.parse(await readText(blobs, data_file)) as JsonObject) // by keptData
}

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

/** An action that may change something is also an event type; a read is not. */
type Change = { readonly act: OperatorEventType; readonly changed: boolean }
type Read = { readonly act: string; readonly changed: false }

type AdminAct = (Change | Read) & {
  readonly subject: { readonly kind: string; readonly id: string }
  readonly reason?: string | null
  readonly detail?: JsonObject
  /** Request id, business time and wall time of the action, and the client session of a read. */
  readonly by: {
    readonly requestId: string
    readonly now: number
    readonly wall: number
    readonly sitting?: string | undefined
    readonly isGlance?: boolean
  }
}

/** Number of newest actions searched for an earlier entry of the same read. */
const SITTING_ACTS = 100

/**
 * Logs an administrator's read in the transaction `t`. A read repeated in a client session is logged once. So are all
 * its glances together: a session that reads under the cursor leaves one line that says so.
 */
export async function auditRead(
  t: Tx,
  draw: Draw,
  read: Omit<AdminAct, 'act' | 'changed'> & Pick<Read, 'act'>,
): Promise<void> {
  const { sitting, isGlance } = read.by
  const glanced = { subject: { kind: 'sitting', id: sitting ?? '' }, detail: { glance: true } }
  const act = isGlance && sitting !== undefined ? { ...read, ...glanced } : read
  const detail = { ...act.detail, ...(sitting === undefined ? {} : { sitting }) }
  const { rows } =
    sitting === undefined ? { rows: [] } : await t.table(adminActs).page('seq', [], { limit: SITTING_ACTS })
  const isSame = (row: (typeof rows)[number]) => row.act === act.act && row.subject_id === act.subject.id
  if (rows.some((row) => isSame(row) && isDeepStrictEqual(row.detail, detail))) return
  await audit(t, draw, { ...act, detail, changed: false })
}

const ADMINISTRATOR = 'admin'
const ACT_COUNTER = 'admin_acts'

/** Logs an administrator's action in the transaction `t`. An action that changed something also emits an event. */
export async function audit(t: Tx, draw: Draw, act: AdminAct): Promise<void> {
  const seq = await nextNumber(t, ACT_COUNTER)
  const { subject, by, detail = {}, reason = null } = act
  await t.table(adminActs).insert({
    id: String(seq),
    seq,
    at: by.now,
    wall_at: by.wall,
    actor: ADMINISTRATOR,
    request_id: by.requestId,
    act: act.act,
    subject_kind: subject.kind,
    subject_id: subject.id,
    reason,
    changed: act.changed,
    detail,
  })
  if (act.changed) {
    const data = reason === null ? detail : { ...detail, reason }
    await emitAct(t, draw, { type: act.act, subject, data, at: by.now })
  }
}
