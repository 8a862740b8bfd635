import type { ListingChange, NewListing } from '../../../src/api/sections/services.ts'
import { invalidField } from '../../../src/core/error.ts'
import type { Usdc } from '../../../src/core/money.ts'
import { parsePrice } from '../../../src/core/price.ts'
import { compact } from '../../../src/core/record.ts'
import type { FulfillmentType, ServiceType } from '../../../src/model/service.ts'
import type { ServiceRow } from './rows.ts'

/** The body of a request that creates a listing, in domain form. */
export type ListingFields = Pick<
  ServiceRow,
  | 'name'
  | 'description'
  | 'price'
  | 'pricing_model'
  | 'service_type'
  | 'fulfillment_type'
  | 'estimated_delivery'
  | 'category'
  | 'tags'
  | 'input_schema'
  | 'deliverable_schema'
  | 'webhook_url'
  | 'form'
>

const serviceTypeOf: Readonly<Record<FulfillmentType, ServiceType>> = {
  instant: 'data_api',
  automated: 'automated_service',
  human: 'human_service',
}

const fulfillmentTypeOf: Readonly<Record<ServiceType, FulfillmentType>> = {
  data_api: 'instant',
  automated_service: 'automated',
  human_service: 'human',
}

const usualDelivery: Readonly<Record<FulfillmentType, string>> = {
  instant: 'instant',
  automated: '1 hour',
  human: '3 days',
}

const ANY_OBJECT = { type: 'object' }
/** Schema that accepts any deliverable. */
const ANYTHING = {}
const NO_CATEGORY = 'other'
/** Default fulfilment, because existing client packages do not send one (decisions §7). */
const USUAL_FULFILLMENT = 'automated'

/**
 * Reads the body of a request that creates a listing (decisions §7), without compiling its schemas.
 * @param at dotted path of the body in the request, such as `services.0.`
 * @throws AppError invalid_request that names the field.
 */
export function readListing(body: NewListing, at = ''): ListingFields {
  const fulfillment = fulfillmentOf(body) ?? USUAL_FULFILLMENT
  const pricingModel = body.pricing_model ?? 'fixed'
  return {
    name: body.name,
    description: body.description,
    price: checkedPrice(readPrice(body.price, at) ?? null, { pricingModel, at }),
    pricing_model: pricingModel,
    service_type: body.service_type ?? serviceTypeOf[fulfillment],
    fulfillment_type: fulfillment,
    estimated_delivery: body.estimated_delivery ?? usualDelivery[fulfillment],
    category: body.category ?? NO_CATEGORY,
    tags: body.tags ?? [],
    input_schema: body.input_schema ?? ANY_OBJECT,
    deliverable_schema: body.deliverable_schema ?? ANYTHING,
    webhook_url: body.webhook_url ?? null,
    form: body.form ?? 'newer',
  }
}

/** A listing with a change applied. If only fulfilment or only service type changes, the other one is derived. */
export function changedListing(row: ServiceRow, body: ListingChange): ServiceRow {
  const { fulfillment_type: _, price, ...given } = body
  const isSameType = body.service_type === row.service_type
  const fulfillment =
    (isSameType ? fulfillmentOf({ ...body, service_type: undefined }) : fulfillmentOf(body)) ?? row.fulfillment_type
  const inferred = fulfillment === row.fulfillment_type ? row.service_type : serviceTypeOf[fulfillment]
  const changed = { ...row, ...compact(given), fulfillment_type: fulfillment }
  const amount = price === undefined ? row.price : (readPrice(price, '') ?? null)
  return {
    ...changed,
    service_type: body.service_type ?? inferred,
    price: checkedPrice(amount, { pricingModel: changed.pricing_model, at: '' }),
  }
}

type Kinds = Pick<ListingChange, 'fulfillment_type' | 'service_type'>

/** Fulfilment type, given or derived from the service type; undefined if neither is given. */
function fulfillmentOf({ fulfillment_type: type, service_type }: Kinds): FulfillmentType | undefined {
  if (type !== undefined) return type === 'async' ? 'automated' : type
  return service_type && fulfillmentTypeOf[service_type]
}

function readPrice(price: NewListing['price'], at: string): Usdc | undefined {
  return price === undefined || price === null ? undefined : parsePrice(price, `${at}price`)
}

type Pricing = { readonly pricingModel: ServiceRow['pricing_model']; readonly at: string }

function checkedPrice(price: Usdc | null, { pricingModel, at }: Pricing): Usdc | null {
  if (price === null && pricingModel === 'fixed') {
    throw invalidField(`${at}price`, 'required: only a listing with pricing_model quote_required may omit it')
  }
  return price
}
