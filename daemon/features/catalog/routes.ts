import { z } from 'zod'
import { api } from '../../../src/api/index.ts'
import type { catalogApi, servicesApi } from '../../../src/api/sections/services.ts'
import { AppError, invalidField, notFound } from '../../../src/core/error.ts'
import { DEFAULT_PAGE } from '../../../src/core/limits.ts'
import { parseAmount } from '../../../src/core/money.ts'
import { compact } from '../../../src/core/record.ts'
import { type Call, type FreeHandler, type FreeHandlers, validatorOf } from '../../endpoint/handler.ts'
import { pageCache } from '../../endpoint/page-cache.ts'
import { providerOf } from '../../kernel/rows.ts'
import { type ServiceRow, services } from '../listings/rows.ts'
import { MAX_LISTINGS } from '../listings/write.ts'
import { encodeListing, listingView } from './listing-routes.ts'
import { catalog } from './search/catalog.ts'
import type { CatalogQuery } from './search/select.ts'

type CatalogParams = Parameters<FreeHandler<typeof catalogApi.getCatalog>>[0]['query']

const MAX_SCORE = 100
const REFERRAL_HINT = 'Refer agents and providers and earn a share of platform fees: GET /v1/referrals/program'

export const catalogRoutes: FreeHandlers<typeof catalogApi & typeof servicesApi> = {
  /** A catalog page is cached until a listing or provider changes. */
  getCatalog: async ({ query: params }, call) => {
    const { ctx, now } = call
    if (params.mine) return ownListings(params, call)
    const query = catalogQuery(params)
    const version = pageCache.of(ctx).version()
    const { ids, total } = await catalog.of(ctx).query(query)
    const { limit, offset } = query
    const answer = { total, limit, offset, services: [], queried_at: now, referral_hint: REFERRAL_HINT }
    const listings = await Promise.all(ids.map((id) => encodedListing(call, id, version)))
    const shown = listings.filter((text) => text !== undefined).join()
    const around = JSON.stringify(z.encode(api.getCatalog.reply.schema, answer))
    const bytes = Buffer.from(around.replace(NO_SERVICES, () => `"services":[${shown}]`))
    return { bytes, etag: validatorOf(bytes), shared: true }
  },

  getService: async ({ params }, call) => {
    const row = await call.ctx.store.table(services).get(params.id)
    if (!row || row.status === 'deleted') throw notFound('The service')
    return viewOf(call, row, { detail: true })
  },
}

/** Placeholder that the listings replace. Only numbers precede it, so its first occurrence is the right one. */
const NO_SERVICES = '"services":[]'

/** A listing's JSON in a catalog page, cached until something changes; undefined if the listing is gone. */
async function encodedListing(call: CatalogCall, id: string, version: number): Promise<string | undefined> {
  const { ctx } = call
  const pages = pageCache.of(ctx)
  const known = pages.part(id)
  if (known !== undefined) return known
  const row = await ctx.store.table(services).get(id)
  if (!row) return undefined
  const text = encodeListing(await viewOf(call, row, { detail: false }))
  pages.setPart(id, text, version)
  return text
}

type CatalogCall = Parameters<FreeHandler<typeof catalogApi.getCatalog>>[1]

const ownStatuses = ['active', 'inactive', 'suspended'] as const

/** The caller's own listings except deleted ones, newest first. */
async function ownListings({ mine: _, limit = DEFAULT_PAGE, offset = 0, ...others }: CatalogParams, call: CatalogCall) {
  const { ctx, now, caller } = call
  if (!caller) throw new AppError('unauthorized', 'Your own listings need your key: send X-API-Key.')
  const other = Object.keys(compact(others))[0]
  if (other !== undefined) throw invalidField(other, 'cannot be combined with `mine`, which lists all your services')
  const own = await ctx.store.read(async (t) => {
    const pages = ownStatuses.map((status) =>
      t.table(services).page('provider', [caller.id, status], { limit: MAX_LISTINGS }),
    )
    return (await Promise.all(pages)).flatMap(({ rows }) => rows)
  })
  const shown = own.sort((one, two) => two.listed_at - one.listed_at).slice(offset, offset + limit)
  return {
    total: own.length,
    limit,
    offset,
    services: await Promise.all(shown.map((row) => viewOf(call, row, { detail: false }))),
    queried_at: now,
    referral_hint: REFERRAL_HINT,
  }
}

function catalogQuery({ min_price, max_price, min_reputation, sort, mine: _, ...rest }: CatalogParams): CatalogQuery {
  const reputation = min_reputation === undefined ? undefined : Number(min_reputation)
  if (reputation !== undefined && reputation > MAX_SCORE) throw invalidField('min_reputation', 'must be 0 to 100')
  return compact({
    ...rest,
    min_price: min_price === undefined ? undefined : parseAmount(min_price),
    max_price: max_price === undefined ? undefined : parseAmount(max_price),
    min_reputation: reputation,
    sort: sort ?? (rest.q ? 'relevance' : 'newest'),
    limit: rest.limit ?? DEFAULT_PAGE,
    offset: rest.offset ?? 0,
  })
}

export async function viewOf(
  { ctx, now }: Pick<Call, 'ctx' | 'now'>,
  service: ServiceRow,
  options: { detail: boolean },
) {
  const provider = await providerOf(ctx.store, service)
  return listingView(ctx.store, { service, provider, now, baseUrl: ctx.baseUrl() }, options)
}
