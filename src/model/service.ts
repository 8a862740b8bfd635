import { z } from 'zod'
import { Micro } from '../core/codecs.ts'

export const billingPeriods = ['monthly', 'annual'] as const
export type BillingPeriod = (typeof billingPeriods)[number]

/** `suspended`: while its provider is suspended. */
export const planStatuses = ['active', 'suspended', 'deleted'] as const

/** The values of a plan that existing quotes keep after an edit. */
export const PlanVersion = z.strictObject({
  /** The provider's net price; for a first-party plan, the price that buyers pay. */
  price: Micro,
  billing_period: z.enum(billingPeriods),
  service_ids: z.array(z.string()),
})
export type PlanVersion = z.infer<typeof PlanVersion>

/** An uploaded file in a row. */
export const StoredFile = z.strictObject({
  /** SHA-256 of its blob. */
  sha256: z.string(),
  size_bytes: z.int(),
  /** Plain file name. */
  name: z.string(),
  /** Declared type, else `application/octet-stream`. */
  content_type: z.string(),
})
export type StoredFile = z.infer<typeof StoredFile>

export const pricingModels = ['fixed', 'quote_required'] as const
export const serviceTypes = ['data_api', 'automated_service', 'human_service'] as const
export const fulfillmentTypes = ['instant', 'automated', 'human'] as const
/** State of a listing's endpoint, or of its provider's polling. */
export const webhookStatuses = ['healthy', 'failing', 'not_tried', 'polling'] as const
export type WebhookStatus = (typeof webhookStatuses)[number]
export type ServiceType = (typeof serviceTypes)[number]
export type FulfillmentType = (typeof fulfillmentTypes)[number]

type AnyJson = z.infer<ReturnType<typeof z.json>>

/** JSON that was validated before; validating it again took half of the time of a catalog page. */
export const KnownJson: z.ZodType<AnyJson, AnyJson> = z.any().meta({ id: 'JsonValue', description: 'any JSON value' })
export const KnownJsonObject = z.record(z.string(), KnownJson)
/** A JSON document: schemas, inputs, deliverables. */
export const JsonObject = z.record(z.string(), KnownJson)
export type JsonObject = z.infer<typeof JsonObject>

/**
 * Terms besides the price: how a delivery is checked, due and released. Fixed when quoted, proposed, bid or paid
 * (decisions §4).
 */
export const SaleTerms = z.strictObject({
  service_type: z.enum(serviceTypes),
  fulfillment_type: z.enum(fulfillmentTypes),
  estimated_delivery: z.string(),
  deliverable_schema: KnownJsonObject,
})
export type SaleTerms = z.infer<typeof SaleTerms>

/** The values of a listing that existing quotes keep after an edit. */
export const ListingVersion = SaleTerms.extend({
  /** null for `quote_required` without a price. */
  price: Micro.nullable(),
  pricing_model: z.enum(pricingModels),
})
export type ListingVersion = z.infer<typeof ListingVersion>
