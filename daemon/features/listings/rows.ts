import { z } from 'zod'
import { KnownJsonObject, ListingVersion, webhookStatuses } from '../../../src/model/service.ts'
import { type AnyCollection, defineCollection, stored } from '../../store/port.ts'

export const services = defineCollection('services', {
  schema: z.strictObject({
    ...ListingVersion.shape,
    ...stored,
    provider_id: z.string(),
    name: z.string(),
    description: z.string(),
    /** The previous version, and until when (wall time) it can be bought. */
    previous: z.strictObject({ version: ListingVersion, until: z.int() }).exactOptional(),
    /** Number of edits. A plan's bundle refers to a version by this number. */
    edits: z.int().exactOptional(),
    input_schema: KnownJsonObject,
    category: z.string(),
    tags: z.array(z.string()),
    webhook_url: z.string().nullable(),
    /** Slug of the first-party service; null for a provider's listing. */
    first_party_slug: z.string().nullable(),
    /** Which of the two listing forms to show (decisions §7). */
    form: z.enum(['newer', 'older']),
    /** `suspended`: not sold while its provider is suspended or an engine that it needs is missing. */
    status: z.enum(['active', 'inactive', 'suspended', 'deleted']),
    webhook_healthy: z.boolean(),
    /** Absent in rows of earlier versions (see `webhookStatusOf`). */
    webhook_status: z.enum(webhookStatuses).exactOptional(),
    /** Business time of the next test message. */
    probe_at: z.int().exactOptional(),
    probing: z.literal(true).exactOptional(),
    listed_at: z.int(),
    updated_at: z.int(),
  }),
  indexes: [
    { name: 'provider', fields: ['provider_id', 'status', 'listed_at'], order: 'desc' },
    { name: 'slug', fields: ['first_party_slug'] },
    { name: 'status', fields: ['status', 'listed_at'], order: 'desc' },
    { name: 'healthy', fields: ['provider_id', 'status'], where: { field: 'webhook_healthy', equals: true } },
    { name: 'probe', fields: ['status', 'probe_at'], where: { field: 'probing', equals: true } },
  ],
})
export type ServiceRow = z.infer<typeof services.schema>

/** When a provider last polled its events. A provider that polled recently needs no webhook endpoint. */
export const polls = defineCollection('polls', {
  schema: z.strictObject({
    /** Id of the participant. */
    ...stored,
    /** Business time, to the minute. */
    polled_at: z.int(),
    /** Whether the provider still counts as polling. */
    live: z.boolean(),
  }),
  indexes: [{ name: 'live', fields: ['polled_at'], where: { field: 'live', equals: true } }],
})
export type PollRow = z.infer<typeof polls.schema>

export const listingCollections: readonly AnyCollection[] = [services, polls]
