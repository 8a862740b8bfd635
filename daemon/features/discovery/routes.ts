import type { z } from 'zod'
import { type Endpoint, isPaid, templatePath } from '../../../src/api/endpoint/define.ts'
import { acceptsV2, clientLines, discoveryMembers } from '../../../src/api/endpoint/x402.ts'
import { api, endpointNames } from '../../../src/api/index.ts'
import { pricePromises } from '../../../src/api/price-promises.ts'
import type { discoveryApi } from '../../../src/api/sections/discovery.ts'
import { isEnabled, statusOf } from '../../../src/api/status.ts'
import { networks } from '../../../src/core/authorization.ts'
import { checksumAddress, isAddress, toWallet } from '../../../src/core/hex.ts'
import { DEFAULT_PAGE, paymentWindows } from '../../../src/core/limits.ts'
import { formatPrice } from '../../../src/core/money.ts'
import type { JsonObject } from '../../../src/model/service.ts'
import type { FreeHandlers } from '../../endpoint/handler.ts'
import { schemas } from '../../engines/schemas.ts'
import { type Context, localToken } from '../../kernel/context.ts'
import { catalog } from '../catalog/search/catalog.ts'
import type { CatalogQuery } from '../catalog/search/select.ts'
import { type ServiceRow, services } from '../listings/rows.ts'
import { payableSplit } from '../listings/versions.ts'
import { requirementOf } from '../payments/offer.ts'
import { proofSigner } from '../payments/proofs.ts'
import { guideMarkdown, guideSteps } from './guide.ts'

/** Maximum listings to look at, to find one that suits a first purchase. */
const MAX_SAMPLES = 100

/** A guide for agents in llms.txt form: purpose, descriptions, how to buy, endpoints. */
async function llmsText(ctx: Context): Promise<string> {
  const base = ctx.baseUrl()
  const { rows } = await ctx.store.table(services).page('status', ['active'], { limit: MAX_SAMPLES })
  const sample = rows.find((row) => row.first_party_slug !== null && row.price !== null)
  return [
    '# Agent service marketplace',
    '',
    '> Agents find, buy and verify services here. Reads are free; purchases are paid by x402 (USDC) or from a balance.',
    '',
    '## Descriptions',
    '',
    `- [OpenAPI](${base}${api.getOpenapi.path}): every operation with its schemas`,
    `- [Reference](${base}${api.getDocs.path}): the OpenAPI description as a web page`,
    `- [Catalog](${base}${api.getCatalog.path}): every listing, free`,
    `- [x402 discovery](${base}${api.listResources.path}): paid resources with their payment terms`,
    `- [Health](${base}${api.getHealth.path}): which endpoints are available now`,
    '',
    guideMarkdown(guideSteps(base, sample)).replace(/^# /, '## ').replaceAll('\n## ', '\n### '),
    '## What a price promises',
    '',
    ...pricePromises,
    '',
    ...['## Paying with x402 client packages', '', ...clientLines(localToken(ctx)), ''],
    ...sections(ctx),
  ].join('\n')
}

function sections(ctx: Context): string[] {
  const switches = ctx.switches.now()
  const shown = endpointNames
    .map((name): Endpoint => api[name])
    .filter((row) => row.access.kind !== 'admin' && isEnabled(row, switches) && statusOf(row, switches) !== 'deferred')
  return [...Map.groupBy(shown, (row) => row.section)].flatMap(([section, rows]) => [
    `## ${section}`,
    '',
    ...rows.map((row) => `- \`${row.method} ${templatePath(row.path)}\` (${costOf(row)}): ${row.summary}`),
    '',
  ])
}

function costOf(row: Endpoint): string {
  if (!isPaid(row)) return row.access.kind === 'open' ? 'free' : 'key'
  return row.access.price === 'varies' ? 'x402, price varies' : `x402, ${formatPrice(row.access.price)}`
}

/** Maximum listings in the manifest; the discovery list has all of them. */
const MAX_MANIFEST_LISTINGS = 500

export const discoveryRoutes: FreeHandlers<typeof discoveryApi> = {
  listResources: async ({ query }, { ctx }) => {
    const { limit = DEFAULT_PAGE, offset = 0, ...filter } = query
    const { resources, total } = await resourcesOf(ctx, filter, { sort: 'newest', limit, offset })
    return { x402Version: 2, items: resources, pagination: { limit, offset, total } }
  },

  /** The cursor is an offset, so a listing added between two pages may shift results by one. */
  searchResources: async ({ query }, { ctx }) => {
    const { limit = DEFAULT_PAGE, cursor, query: q, ...filter } = query
    const offset = Number(cursor ?? 0)
    const { resources, total } = await resourcesOf(ctx, filter, { sort: 'relevance', q, limit, offset })
    const next = offset + limit < total ? String(offset + limit) : null
    return { x402Version: 2, resources, pagination: { limit, cursor: next } }
  },

  getManifest: async (_input, { ctx }) => {
    const base = ctx.baseUrl()
    const { ids } = await catalog
      .of(ctx)
      .query({ sort: 'newest', limit: MAX_MANIFEST_LISTINGS, offset: 0, payable_only: true })
    const rows: readonly Pick<ServiceRow, 'id'>[] = await ctx.store.table(services).getMany(ids)
    return {
      version: 1,
      x402Version: 2,
      resources: [...fixedUrls(ctx), ...rows.map((row) => purchaseUrl(ctx, row))],
      payTo: payTo(ctx),
      network: ctx.chain.network,
      ...(await proofSigner(ctx)),
      discovery: `${base}${api.listResources.path}`,
      search: `${base}${api.searchResources.path}`,
      openapi: `${base}${api.getOpenapi.path}`,
      instructions: `${base}${api.getLlmsText.path}`,
    }
  },

  getLlmsText: async (_input, { ctx }) => llmsText(ctx),
}

async function resourcesOf(
  ctx: Context,
  filter: DiscoveryFilter,
  query: Omit<CatalogQuery, 'payable_only'>,
): Promise<{ resources: PaidResource[]; total: number }> {
  if (!offersFor(ctx, filter)) return { resources: [], total: 0 }
  const { ids, total } = await catalog.of(ctx).query({ ...query, payable_only: true })
  const rows = await ctx.store.table(services).getMany(ids)
  const resources = await Promise.all(rows.map((row) => resourceOf(ctx, row)))
  return { resources: resources.filter((one) => one !== undefined), total }
}

/** URLs of enabled paid endpoints without a path parameter. */
function fixedUrls(ctx: Context): string[] {
  const switches = ctx.switches.now()
  return endpointNames
    .map((name): Endpoint => api[name])
    .filter((row) => isPaid(row) && isEnabled(row, switches) && statusOf(row, switches) !== 'deferred')
    .filter(({ path }) => templatePath(path) === path)
    .map(({ path }) => `${ctx.baseUrl()}${path}`)
}

type PaidResource = z.output<typeof discoveryApi.listResources.reply.schema>['items'][number]

export type DiscoveryFilter = {
  readonly type?: string | undefined
  readonly payTo?: string | undefined
  readonly scheme?: string | undefined
  readonly network?: string | undefined
  readonly extensions?: string | undefined
}

/** Whether the marketplace matches a filter. All its listings take the same payment, so either all match or none. */
function offersFor({ chain }: Context, filter: DiscoveryFilter): boolean {
  const names: readonly string[] = [chain.network, networks[chain.network].caip2]
  return (
    (filter.type ?? 'http') === 'http' &&
    (filter.scheme ?? 'exact') === 'exact' &&
    (filter.payTo === undefined || (isAddress(filter.payTo) && toWallet(filter.payTo) === chain.payTo)) &&
    (filter.network === undefined || names.includes(filter.network)) &&
    (filter.extensions === undefined || filter.extensions === 'bazaar')
  )
}

function purchaseUrl(ctx: Context, { id }: Pick<ServiceRow, 'id'>): string {
  return `${ctx.baseUrl()}${api.purchaseService.path.replace(':id', id)}`
}

/** A fixed-price listing as a resource of the x402 discovery lists; undefined if it needs a quote. */
async function resourceOf(ctx: Context, service: ServiceRow): Promise<PaidResource | undefined> {
  const price = payableSplit(service)?.agent
  if (price === undefined) return undefined
  const settle = service.fulfillment_type === 'instant' ? 'last' : 'first'
  const offer = requirementOf(ctx, { price, settle, description: service.name })
  const { serviceName = service.id, tags = [] } = discoveryMembers({ serviceName: service.name, tags: service.tags })
  return {
    resource: purchaseUrl(ctx, service),
    type: 'http',
    x402Version: 2,
    accepts: [acceptsV2({ ...offer, maxTimeoutSeconds: paymentWindows[settle].maxTimeoutSeconds })],
    lastUpdated: service.updated_at,
    description: service.description,
    mimeType: 'application/json',
    serviceName,
    tags,
    extensions: { bazaar: await bazaarOf(ctx, service) },
  }
}

/** Describes how to call a paid listing (x402 v2, extension `bazaar`). */
async function bazaarOf(ctx: Context, service: ServiceRow): Promise<JsonObject> {
  const body = (await schemas.of(ctx).example(service.input_schema, { who: service.provider_id })) ?? {}
  const input = { type: 'http', method: 'POST', bodyType: 'json', body }
  return {
    info: { input },
    schema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: {
        input: {
          type: 'object',
          properties: {
            type: { const: 'http' },
            method: { const: 'POST' },
            bodyType: { const: 'json' },
            body: service.input_schema,
          },
          required: ['type', 'method', 'bodyType', 'body'],
        },
      },
      required: ['input'],
    },
    routeTemplate: api.purchaseService.path,
  }
}

/** The `pay_to` address, checksummed. */
function payTo({ chain }: Context): string {
  return checksumAddress(chain.payTo)
}
