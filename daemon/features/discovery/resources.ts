import type { z } from 'zod'
import { acceptsV2, discoveryMembers } from '../../../src/api/endpoint/x402.ts'
import { api } from '../../../src/api/index.ts'
import type { discoveryApi } from '../../../src/api/sections/discovery.ts'
import { networks } from '../../../src/core/authorization.ts'
import { checksumAddress, isAddress, toWallet } from '../../../src/core/hex.ts'
import { paymentWindows } from '../../../src/core/limits.ts'
import type { JsonObject } from '../../../src/model/service.ts'
import { schemas } from '../../engines/schemas.ts'
import type { Context } from '../../kernel/context.ts'
import type { ServiceRow } from '../listings/rows.ts'
import { payableSplit } from '../listings/versions.ts'
import { requirementOf } from '../payments/offer.ts'

export type PaidResource = z.output<typeof discoveryApi.listResources.reply.schema>['items'][number]

export type DiscoveryFilter = {
  readonly type?: string | undefined
  readonly payTo?: string | undefined
  readonly scheme?: string | undefined
  readonly network?: string | undefined
  readonly extensions?: string | undefined
}

/** Whether the marketplace matches a filter. All its listings take the same payment, so either all match or none. */
export function offersFor({ chain }: Context, filter: DiscoveryFilter): boolean {
  const names: readonly string[] = [chain.network, networks[chain.network].caip2]
  return (
    (filter.type ?? 'http') === 'http' &&
    (filter.scheme ?? 'exact') === 'exact' &&
    (filter.payTo === undefined || (isAddress(filter.payTo) && toWallet(filter.payTo) === chain.payTo)) &&
    (filter.network === undefined || names.includes(filter.network)) &&
    (filter.extensions === undefined || filter.extensions === 'bazaar')
  )
}

export function purchaseUrl(ctx: Context, { id }: Pick<ServiceRow, 'id'>): string {
  return `${ctx.baseUrl()}${api.purchaseService.path.replace(':id', id)}`
}

/** A fixed-price listing as a resource of the x402 discovery lists; undefined if it needs a quote. */
export async function resourceOf(ctx: Context, service: ServiceRow): Promise<PaidResource | undefined> {
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
export function payTo({ chain }: Context): string {
  return checksumAddress(chain.payTo)
}
