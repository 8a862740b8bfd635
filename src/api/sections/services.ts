import { z } from 'zod'
import { Amount, idOf, namedObject, Price, Time } from '../../core/codecs.ts'
import { MAX_NAME_CHARS, MAX_TEXT_CHARS } from '../../core/limits.ts'
import { usdc } from '../../core/money.ts'
import {
  fulfillmentTypes,
  JsonObject,
  KnownJson,
  KnownJsonObject,
  pricingModels,
  serviceTypes,
  webhookStatuses,
} from '../../model/service.ts'
import { tiers } from '../../model/words.ts'
import { PublicName, paged, pageQuery, QueryBoolean, WebhookUrl } from '../endpoint/common.ts'
import { endpointsWith, json, jsonBody, key, open, openOrKey, paid } from '../endpoint/define.ts'

const endpoint = endpointsWith({ section: 'Discovery and listings' })
export const MAX_QUERY_CHARS = 200
export const MAX_TAGS = 20
export const MAX_TAG_CHARS = 40
export const DISCOVER_PRICE = usdc(1_000n)
export const catalogSorts = ['relevance', 'price_asc', 'price_desc', 'reputation', 'newest'] as const

const Fixed = z.strictObject({ fixed: Price.nullable() })

/** Reputation score; a new subject starts with 75. */
export const Reputation = namedObject('Reputation', {
  score: z.number(),
  confidence: z.number(),
  is_new: z.boolean(),
  dimensions: z.strictObject({
    quality: z.number(),
    speed: z.number(),
    reliability: z.number(),
    communication: z.number(),
  }),
  total_jobs: z.int(),
  successful_jobs: z.int(),
  failed_jobs: z.int(),
  disputed_jobs: z.int(),
  completion_rate: z.number().nullable().optional(),
  by_service_type: z
    .record(z.string(), z.strictObject({ score: z.number(), confidence: z.number(), total_jobs: z.int() }))
    .optional(),
})

export const Trust = namedObject('Trust', {
  verdict: z.enum(['verified', 'degraded', 'failed', 'unknown', 'withheld']),
  level: z.int(),
  level_name: z.string(),
  confidence: z.number(),
  sandbox_verified: z.boolean(),
  disputed: z.boolean(),
  risk_flags: z.array(z.string()),
  issued_at: Time.nullable(),
  expires_at: Time.nullable(),
  subject_id: z.string().nullable(),
  subject_count: z.int(),
  trust_url: z.string().nullable(),
  first_party: z.boolean(),
  score: z.int().nullable(),
  is_new: z.boolean(),
})

/** A listing in either format, `newer` or `older` (specification, Resources). */
export const Listing = namedObject('Listing', {
  id: idOf('service'),
  service_id: idOf('service'),
  provider_id: idOf('participant'),
  provider_name: z.string(),
  provider_type: z.enum(['provider', 'both']),
  provider_verification_tier: z.enum(tiers),
  name: z.string(),
  description: z.string(),
  price: Fixed,
  pricing_model: z.enum(pricingModels),
  service_type: z.enum(serviceTypes),
  fulfillment_type: z.enum(fulfillmentTypes),
  estimated_delivery: z.string(),
  input_schema: KnownJsonObject,
  deliverable_schema: KnownJsonObject,
  category: z.string(),
  tags: z.array(z.string()),
  status: z.enum(['active', 'inactive']),
  listed_at: Time,
  updated_at: Time,
  endpoint: z.string(),
  platform_fee_pct: z.number(),
  agent_price: Fixed,
  provider_net_price: Fixed,
  provider_receives_pct: z.number().optional(),
  webhook_healthy: z.boolean(),
  webhook_status: z.enum(webhookStatuses).meta({ description: 'details of `webhook_healthy`; an extension' }),
  first_party: z.boolean().optional(),
  slug: z.string().optional().meta({ description: 'short name of a first-party listing; an extension' }),
  provider_reputation: z.union([z.number(), Reputation]).nullable(),
  provider_confidence: z.number().optional(),
  provider_is_new: z.boolean().optional(),
  provider_dimensions: z.record(z.string(), z.number()).optional(),
  provider_completed_jobs: z.int().optional(),
  provider_completion_rate: z.number().nullable().optional(),
  provider_trust: Trust.optional(),
  service_reputation: Reputation.optional(),
  service_type_reputation: Reputation.optional(),
})

const CatalogPrice = z
  .string()
  .regex(/^\d{1,12}(\.\d{1,6})?$/, 'must be a decimal amount such as 0.50')
  .meta({ description: 'bound on agent_price, USDC' })

/** Purchase response: an instant result, or a ticket (decisions §8). */
export const PurchaseAnswer = z.strictObject({
  job_id: idOf('job'),
  thread_id: idOf('thread'),
  status: z.enum(['completed', 'dispatched']),
  service_id: idOf('service').optional(),
  result: KnownJson.optional(),
  deliverables: z.array(KnownJson).optional(),
  status_url: z.string().optional(),
  amount: Amount,
  subscription_id: idOf('subscription')
    .optional()
    .meta({ description: 'only if a subscription pays for the purchase' }),
  receipt_id: idOf('receipt'),
  access_token: z.string().nullable().optional(),
  secret_withheld: z.boolean().optional(),
})

const PriceText = z.union([z.string(), z.number()])
/** Valid prices (decisions §5). */
export const PriceInput = z
  .union([PriceText, z.strictObject({ fixed: PriceText })], 'must be like "0.50", "$0.50", 0.5 or {"fixed": "0.50"}')
  .meta({ description: 'USDC, a multiple of 0.001 from 0.001 to 10000' })

/** Fields of a new listing (decisions §7). It may be created alone, in an onboarding, or from a file. */
export const listingFields = {
  name: PublicName,
  description: z.string().max(MAX_TEXT_CHARS),
  price: PriceInput.nullable().optional().meta({ description: 'may be omitted with `quote_required`' }),
  pricing_model: z.enum(pricingModels).optional().meta({ description: '(default: fixed)' }),
  service_type: z
    .enum(serviceTypes)
    .optional()
    .meta({ description: 'default: follows from `fulfillment_type`, else automated_service' }),
  fulfillment_type: z
    .enum([...fulfillmentTypes, 'async'])
    .optional()
    .meta({ description: 'default: follows from `service_type`, else automated; async is read as automated' }),
  estimated_delivery: z.string().min(1).max(MAX_NAME_CHARS).optional(),
  category: z.string().trim().min(1).max(MAX_NAME_CHARS).optional(),
  tags: z.array(z.string().trim().min(1).max(MAX_TAG_CHARS)).max(MAX_TAGS).optional(),
  input_schema: JsonObject.optional().meta({ description: 'JSON Schema 2020-12 of the buyer’s input' }),
  deliverable_schema: JsonObject.optional().meta({
    description: 'a schema, or an object with the schema under the deliverable’s name',
  }),
  webhook_url: WebhookUrl.nullable().optional(),
  form: z.enum(['newer', 'older']).optional().meta({ description: 'format in which the listing is shown' }),
}
export const NewListing = z.strictObject(listingFields)
export const ListingChange = NewListing.partial().extend({ status: z.enum(['active', 'inactive']).optional() })
export type NewListing = z.output<typeof NewListing>
export type ListingChange = z.output<typeof ListingChange>

export const OwnListing = Listing.extend({
  webhook_url: z.string().nullable(),
  break_even: Price.optional().meta({
    description: 'only when a listing is created at a lower price: the least whose fee pays the gas of a sale',
  }),
}).meta({ id: 'OwnListing' })

/** A step of the guide, with a request that runs on this marketplace. */
const GuideStep = z.strictObject({
  title: z.string(),
  text: z.string(),
  request: z.strictObject({
    method: z.string(),
    url: z.string(),
    headers: z.record(z.string(), z.string()),
    body: JsonObject.optional(),
  }),
  curl: z.string(),
})

export const catalogApi = {
  getCatalog: endpoint({
    path: '/v1/services/catalog',
    access: openOrKey,
    query: z.strictObject({
      q: z.string().max(MAX_QUERY_CHARS).optional().meta({ description: 'full-text search' }),
      category: z.string().max(MAX_QUERY_CHARS).optional(),
      service_type: z.enum(serviceTypes).optional(),
      fulfillment_type: z.enum(fulfillmentTypes).optional(),
      provider: z.string().max(MAX_QUERY_CHARS).optional().meta({ description: 'participant id' }),
      verified_only: QueryBoolean.optional().meta({ description: 'identity-verified providers only' }),
      min_price: CatalogPrice.optional(),
      max_price: CatalogPrice.optional(),
      min_reputation: z
        .string()
        .regex(/^\d{1,3}(\.\d+)?$/, 'must be a number from 0 to 100')
        .optional(),
      tag: z.string().max(MAX_QUERY_CHARS).optional(),
      sort: z.enum(catalogSorts).optional(),
      mine: QueryBoolean.optional().meta({
        description: 'only your own listings, including inactive ones; cannot be combined with other filters',
      }),
      ...pageQuery,
    }),
    reply: json({ ...paged, services: z.array(Listing), queried_at: Time, referral_hint: z.string() }),
    summary:
      'list listings; query `q` does full-text search; `verified_only=true` restricts to identity-verified providers; also filters by category, price, provider reputation',
  }),
}

export const servicesApi = {
  getService: endpoint({
    path: '/v1/services/:id',
    access: open,
    reply: json(Listing),
    summary: "listing detail, enriched with the provider's trust verdict and verification tier",
  }),
}

export const discoverApi = {
  discover: endpoint({
    method: 'POST',
    path: '/v1/discover',
    access: paid(DISCOVER_PRICE),
    reply: json({
      services: z.array(Listing),
      total: z.int(),
      next: z.string().nullable().meta({ description: 'URL of the complete catalog, if this list is cut off' }),
      guide: z.strictObject({ steps: z.array(GuideStep) }),
      guide_markdown: z.string(),
    }),
    summary: 'returns full catalog and a getting-started guide',
  }),
}

export const listingsApi = {
  createService: endpoint({
    path: '/v1/services',
    access: key('provider'),
    needsTerms: true,
    body: jsonBody(NewListing),
    reply: json(OwnListing),
    errors: ['conflict'],
    summary: 'list a new service',
  }),

  updateService: endpoint({
    method: 'PUT',
    path: '/v1/services/:id',
    access: key('provider'),
    needsTerms: true,
    body: jsonBody(ListingChange),
    reply: json(OwnListing),
    errors: ['not_found', 'conflict'],
    summary: 'update a listing',
  }),

  deleteService: endpoint({
    method: 'DELETE',
    path: '/v1/services/:id',
    access: key('provider'),
    needsTerms: true,
    reply: json({ id: idOf('service'), service_id: idOf('service'), deleted: z.literal(true) }),
    errors: ['not_found', 'conflict'],
    summary: 'remove a listing',
  }),
}

export const purchaseApi = {
  purchaseService: endpoint({
    path: '/v1/services/:id/purchase',
    access: paid('varies', { bundled: true }),
    body: jsonBody(JsonObject.meta({ description: 'the fields of the listing’s input_schema' })),
    reply: json(PurchaseAnswer, { secrets: ['access_token'] }),
    errors: ['not_found', 'input_invalid', 'quote_required', 'provider_failed'],
    summary: 'buy a fixed-price service; creates an asynchronous job',
  }),
}
