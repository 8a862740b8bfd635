import { type Endpoint, isPaid, templatePath } from '../../../src/api/endpoint/define.ts'
import { api, endpointNames } from '../../../src/api/index.ts'
import { isEnabled, statusOf } from '../../../src/api/status.ts'
import { DEFAULT_PAGE } from '../../../src/core/limits.ts'
import type { FreeHandler } from '../../endpoint/handler.ts'
import type { World } from '../../kernel/world.ts'
import type { CatalogQuery } from '../catalog/search/query.ts'
import { type ServiceRow, services } from '../listings/rows.ts'
import { llmsText } from './llms-text.ts'
import { type DiscoveryFilter, offersFor, payTo, purchaseUrl, type Resource, resourceOf } from './resources.ts'

/** Listings that the manifest names; the discovery list pages through all. */
const MAX_MANIFEST_LISTINGS = 500

export const listResources: FreeHandler<typeof api.listResources> = async ({ query }, { world }) => {
  const { limit = DEFAULT_PAGE, offset = 0, ...filter } = query
  const { resources, total } = await resourcesOf(world, filter, { sort: 'newest', limit, offset })
  return { x402Version: 2, items: resources, pagination: { limit, offset, total } }
}

/** The cursor is the place of the next result; a listing added meanwhile may move results by one. */
export const searchResources: FreeHandler<typeof api.searchResources> = async ({ query }, { world }) => {
  const { limit = DEFAULT_PAGE, cursor, query: q, ...filter } = query
  const offset = Number(cursor ?? 0)
  const { resources, total } = await resourcesOf(world, filter, { sort: 'relevance', q, limit, offset })
  const next = offset + limit < total ? String(offset + limit) : null
  return { x402Version: 2, resources, pagination: { limit, cursor: next } }
}

async function resourcesOf(
  world: World,
  filter: DiscoveryFilter,
  query: Omit<CatalogQuery, 'payable_only'>,
): Promise<{ resources: Resource[]; total: number }> {
  if (!offersFor(world, filter)) return { resources: [], total: 0 }
  const { ids, total } = await world.catalog.query({ ...query, payable_only: true })
  const rows = await world.store.table(services).getMany(ids)
  const resources = await Promise.all(rows.map((row) => resourceOf(world, row)))
  return { resources: resources.filter((one) => one !== undefined), total }
}

export const getManifest: FreeHandler<typeof api.getManifest> = async (_input, { world }) => {
  const base = world.baseUrl()
  const { ids } = await world.catalog.query({
    sort: 'newest',
    limit: MAX_MANIFEST_LISTINGS,
    offset: 0,
    payable_only: true,
  })
  const rows: readonly Pick<ServiceRow, 'id'>[] = await world.store.table(services).getMany(ids)
  return {
    version: 1,
    x402Version: 2,
    resources: [...fixedUrls(world), ...rows.map((row) => purchaseUrl(world, row))],
    payTo: payTo(world),
    network: world.chain.network,
    discovery: `${base}${api.listResources.path}`,
    search: `${base}${api.searchResources.path}`,
    openapi: `${base}${api.getOpenapi.path}`,
    instructions: `${base}${api.getLlmsText.path}`,
  }
}

/** Paid rows without a parameter in their path, as long as they answer. */
function fixedUrls(world: World): string[] {
  const flags = world.flags()
  return endpointNames
    .map((name): Endpoint => api[name])
    .filter((row) => isPaid(row) && isEnabled(row, flags) && statusOf(row, flags) !== 'deferred')
    .filter(({ path }) => templatePath(path) === path)
    .map(({ path }) => `${world.baseUrl()}${path}`)
}

export const getLlmsText: FreeHandler<typeof api.getLlmsText> = async (_input, { world }) => llmsText(world)
