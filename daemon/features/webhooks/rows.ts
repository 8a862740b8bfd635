import { z } from 'zod'
import { DeliveryAttempt, deliveryStates } from '../../../src/model/delivery.ts'
import { type AnyCollection, defineCollection, stored } from '../../store/port.ts'

/** A stored delivery. Times are epoch milliseconds of business time, unless stated otherwise. */
export const deliveries = defineCollection('deliveries', {
  schema: z.strictObject({
    ...stored,
    /** Delivery number, in order of creation. */
    number: z.int(),
    /** The same for all attempts and replays, so that receivers can deduplicate. */
    event_id: z.string(),
    type: z.string(),
    participant_id: z.string(),
    /** The listing that the message is about. Its own endpoint takes precedence over its provider's. */
    service_id: z.string().nullable(),
    job_id: z.string().nullable(),
    /** Endpoint of the last or next attempt. If the owner changes the endpoint, a pending delivery is redirected. */
    url: z.string(),
    /** Id or wallet of the sender if it did not pay. Its message then waits behind paid messages. */
    sender: z.string().exactOptional(),
    word: z.literal(true).exactOptional(),
    /** Signed bytes, the same for all attempts. Empty if they are in `body_file`, or too large for a direct call. */
    body: z.string(),
    /** SHA-256 of a large body's file. */
    body_file: z.string().exactOptional(),
    state: z.enum(deliveryStates),
    /** True while the delivery is pending. The worker reads only pending deliveries. */
    open: z.boolean(),
    /** Set for a direct call whose work was not paid for. */
    unpaid: z.literal(true).exactOptional(),
    /** Why the message was not delivered; null if there is no reason. */
    reason: z.string().nullable(),
    /** Number of attempts since creation or the last replay. At most `max_tries`. */
    tries: z.int(),
    max_tries: z.int(),
    next_at: z.int().nullable(),
    attempts: z.array(DeliveryAttempt),
    /** Whether there was an attempt. `attempted_at` is the wall time of the last attempt, or 0. */
    attempted: z.boolean(),
    attempted_at: z.int(),
    created_at: z.int(),
    /** Time of the delivery's last change. */
    at: z.int(),
  }),
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
export type DeliveryRow = z.infer<typeof deliveries.schema>

export const webhookCollections: readonly AnyCollection[] = [deliveries]
