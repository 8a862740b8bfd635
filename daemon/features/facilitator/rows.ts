import { z } from 'zod'
import { Micro, StoredHex, StoredWallet } from '../../../src/core/codecs.ts'
import { facilitatedStates } from '../../../src/model/payment.ts'
import { type AnyCollection, defineCollection, stored } from '../../store/port.ts'

/** Number and gas of the settlements of one key on one day. */
const FacilitatorDayRow = z.strictObject({
  /** `<day>:<seller>`. The day is the number of UTC days since the epoch. */
  ...stored,
  day: z.int(),
  seller: z.string(),
  settlements: z.int(),
  gas: z.int(),
})

/** One authorization settled for another server. Written before it is sent to the chain. */
export const settlements = defineCollection('facilitator_settlements', {
  schema: z.strictObject({
    /** `network:asset:from:nonce`, as in the ids of payments to the marketplace. */
    ...stored,
    /** Participant id of the API key's owner; `local` if no key was needed. */
    seller: z.string(),
    /** SHA-256 of the requirement. A repeated request must have the same requirement. */
    requirement: z.string(),
    state: z.enum(facilitatedStates),
    x402_version: z.union([z.literal(1), z.literal(2)]),
    payer: StoredWallet,
    pay_to: StoredWallet,
    amount: Micro,
    valid_after: z.bigint(),
    valid_before: z.bigint(),
    nonce: StoredHex,
    signature: z.string(),
    /** The paid resource, as the server named it. */
    resource: z.string().nullable(),
    transaction: StoredHex.nullable(),
    /** Machine time in milliseconds after which the row is not needed: the authorization's end, or an earlier limit. */
    needed_until: z.int(),
    /** Epoch milliseconds by the machine's clock. */
    created_at: z.int(),
    settled_at: z.int().nullable(),
    handed_at: z.int().nullable(),
    /** Id of the daemon process that last began to send the success response (see `hand.ts`). */
    handed_by: z.string().optional(),
    /** How many times the success response was sent again because its delivery was uncertain. */
    doubts: z.int().optional(),
  }),
  indexes: [
    { name: 'newest', fields: ['created_at'], order: 'desc' },
    { name: 'state', fields: ['state', 'created_at'], order: 'desc' },
    { name: 'sent_payer', fields: ['payer'], where: { field: 'state', equals: 'sent' } },
    { name: 'needed', fields: ['needed_until'] },
  ],
})
export type SettlementRow = z.infer<typeof settlements.schema>

export const facilitatorDays = defineCollection('facilitator_days', {
  schema: FacilitatorDayRow,
  indexes: [{ name: 'day', fields: ['day'] }],
})

/** A resource of another server that was paid through this facilitator. The discovery list shows it. */
export const facilitatedResources = defineCollection('facilitated_resources', {
  schema: z.strictObject({
    /** SHA-256 of payee and URL. */
    ...stored,
    x402_version: z.union([z.literal(1), z.literal(2)]),
    resource: z.string(),
    pay_to: StoredWallet,
    /** The x402 payment requirement as received. */
    accepts: z.record(z.string(), z.json()),
    description: z.string(),
    mime_type: z.string(),
    service_name: z.string().nullable(),
    tags: z.array(z.string()),
    extensions: z.record(z.string(), z.json()),
    updated_at: z.int(),
  }),
  indexes: [{ name: 'updated', fields: ['updated_at'] }],
})
export type ResourceRow = z.infer<typeof facilitatedResources.schema>

export const facilitatorCollections: readonly AnyCollection[] = [settlements, facilitatorDays, facilitatedResources]
