import type { FulfillmentType, ServiceType } from '../../../../src/model/service.ts'

/** Catalog data of one active listing, including facts of its provider. Write it again when any of its data changes. */
export type CatalogDoc = {
  readonly id: string
  readonly name: string
  readonly tags: readonly string[]
  readonly category: string
  readonly description: string
  readonly provider_id: string
  readonly provider_name: string
  readonly service_type: ServiceType
  readonly fulfillment_type: FulfillmentType
  /** Micro-USDC; null (quote required) is excluded by price filters and sorts last. */
  readonly agent_price: bigint | null
  readonly verified: boolean
  /** Whether paying the price buys the listing. A quote-required listing may show a price, but is not payable. */
  readonly payable: boolean
  /** 0 to 100; null is excluded by `min_reputation` and sorts last. */
  readonly reputation: number | null
  readonly listed_at: number
}

export type CatalogSort = 'relevance' | 'price_asc' | 'price_desc' | 'reputation' | 'newest'

/** Filters of the catalog (decisions §7). Strings match exactly, bounds are inclusive. */
export type CatalogQuery = {
  /** Search text: all terms must occur; the last may be a prefix. */
  readonly q?: string
  readonly category?: string
  readonly service_type?: ServiceType
  readonly fulfillment_type?: FulfillmentType
  readonly provider?: string
  readonly verified_only?: boolean
  readonly payable_only?: boolean
  readonly min_price?: bigint
  readonly max_price?: bigint
  readonly min_reputation?: number
  readonly tag?: string
  /** `relevance` without `q` sorts like `newest`. */
  readonly sort: CatalogSort
  readonly limit: number
  readonly offset: number
}

export type CatalogPage = { readonly ids: string[]; readonly total: number }
