import { z } from 'zod'
import { Micro } from '../core/codecs.ts'

export const billingPeriods = ['monthly', 'annual'] as const
export type BillingPeriod = (typeof billingPeriods)[number]

/** `suspended`: with its provider. */
export const planStatuses = ['active', 'suspended', 'deleted'] as const

/** All of a plan that an edit keeps good for those who were quoted it. */
export const PlanVersion = z.strictObject({
  /** What the provider nets, or, of the marketplace's own, what is paid; see `rules/pricing.ts`. */
  price: Micro,
  billing_period: z.enum(billingPeriods),
  service_ids: z.array(z.string()),
})
export type PlanVersion = z.infer<typeof PlanVersion>

/** A file that somebody uploaded, as rows keep it: what its blob is, and what its owner called it. */
export const StoredFile = z.strictObject({
  /** Name of its blob, 64 lower-case hex digits. */
  sha256: z.string(),
  size_bytes: z.int(),
  /** A plain file name: no folders, no control characters. */
  name: z.string(),
  /** As its owner said; `application/octet-stream` where that was no media type. */
  content_type: z.string(),
})
export type StoredFile = z.infer<typeof StoredFile>

export const pricingModels = ['fixed', 'quote_required'] as const
export const serviceTypes = ['data_api', 'automated_service', 'human_service'] as const
export const fulfillmentTypes = ['instant', 'automated', 'human'] as const
/** The way to the provider of a listing: its endpoint, or its polling where it has none. */
export const webhookStatuses = ['healthy', 'failing', 'not_tried', 'polling'] as const
export type WebhookStatus = (typeof webhookStatuses)[number]
export type ServiceType = (typeof serviceTypes)[number]
export type FulfillmentType = (typeof fulfillmentTypes)[number]

type AnyJson = z.infer<ReturnType<typeof z.json>>

/**
 * JSON as a parser made it, or as we did: nobody walks through it again. To do so was half of what a page of the
 * catalog cost, and held everybody up for as long as a large body took.
 */
export const KnownJson: z.ZodType<AnyJson, AnyJson> = z.any().meta({ id: 'JsonValue', description: 'any JSON value' })
export const KnownJsonObject = z.record(z.string(), KnownJson)
/** A JSON document as it comes in and is sent: listing schemas, inputs, deliverables. */
export const JsonObject = z.record(z.string(), KnownJson)
export type JsonObject = z.infer<typeof JsonObject>

/**
 * What a buyer is promised beside the price: how a delivery is checked, how soon it is due, and whether it is released
 * by itself. Frozen when it is quoted, proposed, bid or paid for a period (decisions §4).
 */
export const SaleTerms = z.strictObject({
  service_type: z.enum(serviceTypes),
  fulfillment_type: z.enum(fulfillmentTypes),
  estimated_delivery: z.string(),
  deliverable_schema: KnownJsonObject,
})
export type SaleTerms = z.infer<typeof SaleTerms>

/** All of a listing that an edit keeps good for those who were quoted it. */
export const ListingVersion = SaleTerms.extend({
  /** null under `quote_required` without a price. */
  price: Micro.nullable(),
  pricing_model: z.enum(pricingModels),
})
export type ListingVersion = z.infer<typeof ListingVersion>
