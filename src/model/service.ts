import { z } from 'zod'
import { Micro } from '../core/codecs.ts'

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
