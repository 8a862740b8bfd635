import { z } from 'zod'
import { KnownJsonObject, ListingVersion, webhookStatuses } from '../../../src/model/service.ts'
import type { AnyCollection } from '../../store/port.ts'
import { defineCollection } from '../../store/port.ts'
/** Stored form of a listing. */
export const ServiceRow = z.strictObject({
  ...ListingVersion.shape,
  id: z.string(),
  version: z.int(),
  provider_id: z.string(),
  name: z.string(),
  description: z.string(),
  /** The one before, and until when (wall time) it can still be bought; absent where nothing was edited. */
  previous: z.strictObject({ version: ListingVersion, until: z.int() }).exactOptional(),
  /** How often price or terms were edited: names the version that a plan bundles. */
  edits: z.int().exactOptional(),
  input_schema: KnownJsonObject,
  category: z.string(),
  tags: z.array(z.string()),
  webhook_url: z.string().nullable(),
  /** Slug of the first-party service that fulfils it, null for a provider's own. */
  first_party_slug: z.string().nullable(),
  /** Which of the two observed listing forms is shown (decisions §7). */
  form: z.enum(['newer', 'older']),
  /** `suspended`: was active when its provider was suspended. */
  status: z.enum(['active', 'inactive', 'suspended', 'deleted']),
  webhook_healthy: z.boolean(),
  /** What that rests on; absent in rows written before it was kept (`webhookStatusOf`). */
  webhook_status: z.enum(webhookStatuses).exactOptional(),
  /** Business time of the next test message of ours, and that one is to be sent. */
  probe_at: z.int().exactOptional(),
  probing: z.literal(true).exactOptional(),
  listed_at: z.int(),
  updated_at: z.int(),
})
export type ServiceRow = z.infer<typeof ServiceRow>

export const services = defineCollection('services', {
  schema: ServiceRow,
  key: 'id',
  indexes: [
    { name: 'provider', fields: ['provider_id', 'status', 'listed_at'], order: 'desc' },
    { name: 'slug', fields: ['first_party_slug'] },
    { name: 'status', fields: ['status', 'listed_at'], order: 'desc' },
    { name: 'healthy', fields: ['provider_id', 'status'], where: { field: 'webhook_healthy', equals: true } },
    { name: 'probe', fields: ['status', 'probe_at'], where: { field: 'probing', equals: true } },
  ],
})

/** When a provider last read its events: what stands for an endpoint where there is none. */
export const PollRow = z.strictObject({
  /** Id of the participant. */
  id: z.string(),
  version: z.int(),
  /** Business time, to the minute. */
  polled_at: z.int(),
  /** Whether that counts as polling still. */
  live: z.boolean(),
})
export type PollRow = z.infer<typeof PollRow>

export const polls = defineCollection('polls', {
  schema: PollRow,
  key: 'id',
  indexes: [{ name: 'live', fields: ['polled_at'], where: { field: 'live', equals: true } }],
})

export const listingCollections: readonly AnyCollection[] = [services, polls]
