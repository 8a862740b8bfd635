import type { JsonObject } from '../../src/model/service.ts'
import { counters, events } from './collections.ts'
import type { Draw } from './draw.ts'
import type { Tx } from './port.ts'

export type NewEvent = {
  readonly type: string
  /** Whose event it is; null for the platform's own. */
  readonly participantId: string | null
  readonly subject: { readonly kind: string; readonly id: string }
  readonly data: JsonObject
  readonly at: number
}

/** Id of the counter that numbers events without gaps, in commit order. */
const EVENT_COUNTER = 'events'

/** Appends to the durable event log in the transaction of what happened. */
export async function emit(t: Tx, draw: Draw, event: NewEvent): Promise<void> {
  const table = t.table(counters)
  const counter = await table.getForUpdate(EVENT_COUNTER)
  const seq = (counter?.value ?? 0) + 1
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
    data: event.data,
  })
}
