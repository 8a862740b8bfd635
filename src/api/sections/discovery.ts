import { z } from 'zod'
import { namedObject, Time } from '../../core/codecs.ts'
import { clampedLimit, MAX_OFFSET, queryInt } from '../endpoint/common.ts'
import { endpointsWith, json, open, text } from '../endpoint/define.ts'
import { AcceptsV2 } from '../endpoint/x402.ts'
import { MAX_QUERY_CHARS } from './services.ts'

const endpoint = endpointsWith({ origin: 'ours', section: 'Discovery for agents' })
const MAX_CURSOR_CHARS = 20
const MAX_FILTER_CHARS = 200

/** A resource in the x402 discovery lists. */
const DiscoveredResource = namedObject('DiscoveredResource', {
  resource: z.string().meta({ description: 'absolute URL that returns 402 without a payment' }),
  type: z.literal('http'),
  x402Version: z.literal(2),
  accepts: z.array(AcceptsV2).min(1),
  lastUpdated: Time,
  description: z.string(),
  mimeType: z.string(),
  serviceName: z.string(),
  tags: z.array(z.string()),
  extensions: z.record(z.string(), z.json()).meta({ description: '`bazaar`: description of the paid request' }),
})

const filter = z.string().max(MAX_FILTER_CHARS).optional()
/** Filters that x402 clients send; unknown values match nothing. */
const filters = {
  type: filter,
  payTo: filter,
  scheme: filter,
  network: filter.meta({ description: 'name or CAIP-2 id' }),
  extensions: filter,
  limit: clampedLimit,
}

export const discoveryApi = {
  listResources: endpoint({
    path: '/discovery/resources',
    access: open,
    query: z.strictObject({ ...filters, offset: queryInt({ min: 0, max: MAX_OFFSET }).optional() }),
    reply: json({
      x402Version: z.literal(2),
      items: z.array(DiscoveredResource),
      pagination: z.strictObject({ limit: z.int(), offset: z.int(), total: z.int() }),
    }),
    summary: 'x402 discovery list from the catalog',
  }),

  searchResources: endpoint({
    path: '/discovery/search',
    access: open,
    query: z.strictObject({
      ...filters,
      query: z.string().min(1).max(MAX_QUERY_CHARS),
      cursor: z.string().regex(/^\d+$/, 'must be next_cursor of the previous page').max(MAX_CURSOR_CHARS).optional(),
    }),
    reply: json({
      x402Version: z.literal(2),
      resources: z.array(DiscoveredResource),
      pagination: z.strictObject({ limit: z.int(), cursor: z.string().nullable() }),
    }),
    summary: 'x402 discovery search',
  }),

  getManifest: endpoint({
    path: '/.well-known/x402',
    access: open,
    reply: json({
      version: z.literal(1),
      x402Version: z.literal(2),
      resources: z.array(z.string()).meta({ description: 'absolute URLs of paid endpoints, newest listings first' }),
      payTo: z.string(),
      network: z.string(),
      signer: z.string().meta({ description: 'address whose key signs offers and receipts' }),
      kid: z.string().meta({ description: 'did:key of this key, as a JWS names it' }),
      discovery: z.string(),
      search: z.string(),
      openapi: z.string(),
      instructions: z.string(),
    }),
    summary: 'x402 manifest',
  }),

  getLlmsText: endpoint({ path: '/llms.txt', access: open, reply: text, summary: 'plain-text guide for agents' }),
}
