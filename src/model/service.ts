import { z } from 'zod'
import { Micro } from '../core/money.ts'

export const pricingModels = ['fixed', 'quote_required'] as const
export const serviceTypes = ['data_api', 'automated_service', 'human_service'] as const
export const fulfillmentTypes = ['instant', 'automated', 'human'] as const
export type ServiceType = (typeof serviceTypes)[number]
export type FulfillmentType = (typeof fulfillmentTypes)[number]

/** A JSON document as stored and sent: listing schemas, inputs, deliverables. */
export const JsonObject = z.record(z.string(), z.json())
export type JsonObject = z.infer<typeof JsonObject>

/**
 * What a buyer is promised beside the price: how a delivery is checked, how soon it is due, and whether it is released
 * by itself. Frozen when it is quoted, proposed, bid or paid for a period (decisions §4).
 */
export const SaleTerms = z.strictObject({
  service_type: z.enum(serviceTypes),
  fulfillment_type: z.enum(fulfillmentTypes),
  estimated_delivery: z.string(),
  deliverable_schema: JsonObject,
})
export type SaleTerms = z.infer<typeof SaleTerms>

/** All of a listing that an edit keeps good for those who were quoted it. */
export const ListingVersion = SaleTerms.extend({
  /** null under `quote_required` without a price. */
  price: Micro.nullable(),
  pricing_model: z.enum(pricingModels),
})
export type ListingVersion = z.infer<typeof ListingVersion>

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
  input_schema: JsonObject,
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
  listed_at: z.int(),
  updated_at: z.int(),
})
export type ServiceRow = z.infer<typeof ServiceRow>
