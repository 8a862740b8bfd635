import { z } from 'zod'
import { JsonObject } from '../../src/model/service.ts'
import { type AnyCollection, defineCollection, stored } from '../store/port.ts'

/** One entry of the durable event log; `seq` is the cursor, gapless in commit order. */
export const events = defineCollection('events', {
  schema: z.strictObject({
    /** `seq` as text, as in cursors. */
    key: z.string(),
    ...stored,
    seq: z.int(),
    at: z.int(),
    type: z.string(),
    /** Owner of the event; null for the platform. */
    participant_id: z.string().nullable(),
    subject_kind: z.string(),
    subject_id: z.string(),
    /** Number of the first event in this event's transaction; absent in rows of earlier versions. */
    tx: z.int().exactOptional(),
    /** Empty if the data is large. `data_file` then has the SHA-256 of the file with the data. */
    data: z.record(z.string(), z.json()),
    data_file: z.string().exactOptional(),
  }),
  key: 'key',
  indexes: [
    { name: 'seq', fields: ['seq'] },
    { name: 'own', fields: ['participant_id', 'seq'] },
    { name: 'file', fields: ['data_file'], where: { field: 'data_file', present: true } },
  ],
})
export type EventRow = z.infer<typeof events.schema>

/** One entry of the audit log, written in the transaction of the administrator's action. */
export const adminActs = defineCollection('admin_acts', {
  schema: z.strictObject({
    /** `seq` as text. */
    ...stored,
    /** Number of the action: without gaps, in commit order. */
    seq: z.int(),
    at: z.int(),
    /** Wall time, because actions can move business time. */
    wall_at: z.int(),
    /** Always `admin`, because there is one administrator. */
    actor: z.string(),
    request_id: z.string(),
    /** `platform.pause`, `cron.run`, … */
    act: z.string(),
    subject_kind: z.string(),
    subject_id: z.string(),
    reason: z.string().nullable(),
    /** False if the action changed nothing, for example because it was repeated. */
    changed: z.boolean(),
    detail: JsonObject,
  }),
  indexes: [{ name: 'seq', fields: ['seq'], order: 'desc' }],
})
export type AdminActRow = z.infer<typeof adminActs.schema>

export const eventCollections: readonly AnyCollection[] = [events, adminActs]
