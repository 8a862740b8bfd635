import type { FulfillmentType, ServiceType } from '../../../src/model/service.ts'
import { openIndex } from './catalog-index.ts'

/** What the catalog knows of one active listing. Its provider's facts are copied in: put it again when they change. */
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
  /** Micro-USDC; null (priced by quote) is left out by price filters and sorts last. */
  readonly agent_price: bigint | null
  readonly verified: boolean
  /** 0 to 100; null is left out by `min_reputation` and sorts last. */
  readonly reputation: number | null
  readonly listed_at: number
}

export type CatalogSort = 'relevance' | 'price_asc' | 'price_desc' | 'reputation' | 'newest'

/** Filters of the catalog (decisions §7); equality is exact, bounds are inclusive. */
export type CatalogQuery = {
  /** Text of a stranger: every term must occur, the last may be a beginning. */
  readonly q?: string
  readonly category?: string
  readonly service_type?: ServiceType
  readonly fulfillment_type?: FulfillmentType
  readonly provider?: string
  readonly verified_only?: boolean
  readonly min_price?: bigint
  readonly max_price?: bigint
  readonly min_reputation?: number
  readonly tag?: string
  /** `relevance` without `q` is `newest`. */
  readonly sort: CatalogSort
  readonly limit: number
  readonly offset: number
}

export type CatalogPage = { readonly ids: string[]; readonly total: number }

/**
 * The derived catalog table: never a source of truth. Calls take effect in the order they are made.
 * `seq` is the store's sequence number that the table reflects, 0 when it holds nothing: catch up from there,
 * that seq included (puts may be repeated), or rebuild.
 */
export type Catalog = {
  /** Adds or replaces a listing. */
  readonly put: (doc: CatalogDoc, seq: number) => Promise<void>
  /** Drops a listing; an unknown id only moves the seq on. */
  readonly remove: (id: string, seq: number) => Promise<void>
  /** Replaces everything; until it is done queries answer from the old contents. */
  readonly rebuild: (docs: Iterable<CatalogDoc> | AsyncIterable<CatalogDoc>, seq: number) => Promise<void>
  readonly query: (query: CatalogQuery) => Promise<CatalogPage>
  readonly seq: () => number
  readonly close: () => Promise<void>
}

/** Opens the catalog in a file, made when missing and made anew when it cannot be read, or in memory. */
export async function openCatalog({ path }: { path: string }): Promise<Catalog> {
  const index = openIndex(path)
  return {
    put: async (doc, seq) => index.put(doc, seq),
    remove: async (id, seq) => index.remove(id, seq),
    rebuild: async (docs, seq) => {
      const all: CatalogDoc[] = []
      for await (const doc of docs) all.push(doc)
      index.rebuild(all, seq)
    },
    query: async (query) => index.query(query),
    seq: index.seq,
    close: async () => index.close(),
  }
}
