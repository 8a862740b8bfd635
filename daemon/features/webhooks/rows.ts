import { z } from 'zod'
import { DeliveryAttempt, deliveryStates } from '../../../src/model/delivery.ts'
import type { AnyCollection } from '../../store/port.ts'
import { defineCollection } from '../../store/port.ts'
/** Stored form of a delivery. Times are epoch milliseconds of the business clock unless said otherwise. */
export const DeliveryRow = z.strictObject({
  id: z.string(),
  version: z.int(),
  /** Place among all deliveries, in the order they were made. */
  number: z.int(),
  /** Stable over tries and replays: what the receiver tells copies by. */
  event_id: z.string(),
  type: z.string(),
  /** Whose endpoint it goes to. */
  participant_id: z.string(),
  /** The listing it is about, whose own endpoint goes before its provider's. */
  service_id: z.string().nullable(),
  job_id: z.string().nullable(),
  /** Endpoint of the last or next try; it follows the settings of its owner. */
  url: z.string(),
  /** Id or wallet of whose word it is, and that it is one: what nobody paid for goes behind what was paid for. */
  sender: z.string().exactOptional(),
  word: z.literal(true).exactOptional(),
  /** The bytes that are signed and sent, the same at every try; empty where they are a file, or somebody waited for a large one. */
  body: z.string(),
  /** SHA-256 of the file that holds large ones. */
  body_file: z.string().exactOptional(),
  state: z.enum(deliveryStates),
  /** True while pending in a lane: such rows are what the worker walks. */
  open: z.boolean(),
  /** Somebody waited for its answer, and did not pay for it. */
  unpaid: z.literal(true).exactOptional(),
  /** Why it ended without being taken. */
  reason: z.string().nullable(),
  /** Tries since it was made, or since its last replay; and how many there are at most. */
  tries: z.int(),
  max_tries: z.int(),
  next_at: z.int().nullable(),
  attempts: z.array(DeliveryAttempt),
  /** Whether there was a try, and wall time of the last one; 0 before it. */
  attempted: z.boolean(),
  attempted_at: z.int(),
  created_at: z.int(),
  /** Time of the last change; of its end, once it has ended. */
  at: z.int(),
})
export type DeliveryRow = z.infer<typeof DeliveryRow>

export const deliveries = defineCollection('deliveries', {
  schema: DeliveryRow,
  key: 'id',
  indexes: [
    { name: 'due', fields: ['next_at'], where: { field: 'open', equals: true } },
    {
      name: 'lane',
      fields: ['participant_id', 'url', 'word', 'next_at', 'number'],
      where: { field: 'open', equals: true },
    },
    { name: 'sender', fields: ['participant_id', 'sender'], where: { field: 'open', equals: true } },
    {
      name: 'tried',
      fields: ['service_id', 'attempted_at'],
      order: 'desc',
      where: { field: 'attempted', equals: true },
    },
    { name: 'ended', fields: ['at'], where: { field: 'open', equals: false } },
    { name: 'unpaid', fields: ['participant_id', 'number'], where: { field: 'unpaid', equals: true } },
    { name: 'newest', fields: ['number'], order: 'desc' },
    { name: 'job', fields: ['job_id', 'number'] },
    { name: 'state', fields: ['state', 'number'], order: 'desc' },
    { name: 'own', fields: ['participant_id', 'number'], order: 'desc' },
    { name: 'file', fields: ['body_file'], where: { field: 'body_file', present: true } },
    { name: 'own_state', fields: ['participant_id', 'state', 'number'], order: 'desc' },
  ],
})

export const webhookCollections: readonly AnyCollection[] = [deliveries]
