import { z } from 'zod'
import { Micro } from '../core/codecs.ts'
import { type Usdc, usdc } from '../core/money.ts'
import { keysOf } from '../core/record.ts'

export const billingPeriods = ['monthly', 'annual'] as const
export type BillingPeriod = (typeof billingPeriods)[number]

/** `suspended`: the plan's provider is suspended. */
export const planStatuses = ['active', 'suspended', 'deleted'] as const

/** The terms of a plan that a quote keeps, even if the plan is edited later. */
export const PlanVersion = z.strictObject({
  /** The provider's net price; for a first-party plan, the price that buyers pay. */
  price: Micro,
  billing_period: z.enum(billingPeriods),
  service_ids: z.array(z.string()),
})
export type PlanVersion = z.infer<typeof PlanVersion>

export const pricingModels = ['fixed', 'quote_required'] as const
export const serviceTypes = ['data_api', 'automated_service', 'human_service'] as const
export const fulfillmentTypes = ['instant', 'automated', 'human'] as const
/** State of a listing's endpoint or, without an endpoint, of its provider's polling. */
export const webhookStatuses = ['healthy', 'failing', 'not_tried', 'polling'] as const
export type WebhookStatus = (typeof webhookStatuses)[number]
export type ServiceType = (typeof serviceTypes)[number]
export type FulfillmentType = (typeof fulfillmentTypes)[number]

type AnyJson = z.infer<ReturnType<typeof z.json>>

/** JSON that is already validated. Validating it again would take half of the time of a catalog page. */
export const KnownJson: z.ZodType<AnyJson, AnyJson> = z.any().meta({ id: 'JsonValue', description: 'any JSON value' })
export const KnownJsonObject = z.record(z.string(), KnownJson)
/** A JSON document: schemas, inputs, deliverables. */
export const JsonObject = z.record(z.string(), KnownJson)
export type JsonObject = z.infer<typeof JsonObject>

/**
 * Terms of a sale besides the price: how a delivery is checked, when it is due, and when its money is released. They
 * are fixed when a price is quoted, proposed, bid or paid (decisions §4).
 */
export const SaleTerms = z.strictObject({
  service_type: z.enum(serviceTypes),
  fulfillment_type: z.enum(fulfillmentTypes),
  estimated_delivery: z.string(),
  deliverable_schema: KnownJsonObject,
})
export type SaleTerms = z.infer<typeof SaleTerms>

/** Terms of a listing. A quote keeps them, even if the listing is edited later. */
export const ListingVersion = SaleTerms.extend({
  /** null for `quote_required` without a price. */
  price: Micro.nullable(),
  pricing_model: z.enum(pricingModels),
})
export type ListingVersion = z.infer<typeof ListingVersion>

const dollars = (amount: bigint): Usdc => usdc(amount * 1_000_000n)

/** Advertised paths with their price range, inclusive (specification, Discovery). */
export const namedServices = {
  'site-audit': { min: dollars(5n), max: dollars(5n) },
  'security-patch': { min: dollars(10n), max: dollars(10n) },
  'content-write': { min: dollars(25n), max: dollars(100n) },
  'seo-optimize': { min: dollars(15n), max: dollars(50n) },
  'design-update': { min: dollars(50n), max: dollars(200n) },
  'maintenance-plan': { min: dollars(50n), max: dollars(200n) },
} as const satisfies Record<string, { min: Usdc; max: Usdc }>
export type NamedService = keyof typeof namedServices

export const namedSlugs = keysOf(namedServices)
