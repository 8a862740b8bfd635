import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Marketplace, openMarketplace } from '../../../fixtures/market/marketplace.ts'
import { registered } from '../../../fixtures/market/people.ts'
import { pricePromises } from '../../../src/api/price-promises.ts'
import { compileInputSchema } from '../../../src/schema/schema.ts'

let market: Marketplace
beforeAll(async () => {
  market = await openMarketplace()
  const carl = await registered(market, { type: 'provider', name: 'Carl' })
  const quoted = {
    name: 'By quote',
    description: 'ask first',
    pricing_model: 'quote_required',
    fulfillment_type: 'human',
  }
  expect((await carl.call('POST', '/v1/services', quoted)).status).toBe(200)
  const priced = { ...quoted, name: 'By quote, from a dollar', price: '1.00' }
  expect((await carl.call('POST', '/v1/services', priced)).status).toBe(200)
})
afterAll(() => market.close())

const get = async (path: string) => (await market.call('GET', path)).body

describe('the x402 discovery list', () => {
  test('holds every priced listing with the terms that its own 402 asks for', async () => {
    const { items, pagination } = await get('/discovery/resources?limit=100')
    expect(pagination).toEqual({ limit: 100, offset: 0, total: items.length })
    expect(items.length).toBeGreaterThan(3)
    for (const item of items) {
      const { pathname } = new URL(item.resource)
      const offer = await market.call('POST', pathname)
      const required = JSON.parse(Buffer.from(offer.headers.get('PAYMENT-REQUIRED') ?? '', 'base64').toString())
      expect([item.resource, item.accepts]).toEqual([required.resource.url, required.accepts])
      // The 402 itself carries the short form, so that whoever meets it first can list it.
      const { bazaar } = required.extensions
      expect(compileInputSchema(bazaar.schema).validate(bazaar.info).ok).toBe(true)
      expect(bazaar.routeTemplate).toBe(item.extensions.bazaar.routeTemplate)
      expect(item.serviceName).not.toMatch(/By quote/)
      expect(compileInputSchema(item.extensions.bazaar.schema).validate(item.extensions.bazaar.info).ok).toBe(true)
    }
  })

  test('pages full, without a gap or a repetition, past listings that no payment buys', async () => {
    const { pagination } = await get('/discovery/resources')
    const seen = new Set<string>()
    for (let offset = 0; offset < pagination.total; offset += 2) {
      const { items } = await get(`/discovery/resources?limit=2&offset=${offset}`)
      expect(items).toHaveLength(Math.min(2, pagination.total - offset))
      for (const { resource } of items) seen.add(resource)
    }
    expect(seen.size).toBe(pagination.total)
  })

  test.each([
    ['network=base', true],
    ['network=eip155:8453', true],
    ['network=solana', false],
    ['scheme=exact&type=http', true],
    ['type=mcp', false],
    ['payTo=0x0000000000000000000000000000000000000001', false],
    ['extensions=bazaar', true],
  ])('filtered by %s finds something: %s', async (query, found) => {
    expect((await get(`/discovery/resources?${query}`)).items.length > 0).toBe(found)
  })

  test('a page that is larger than there are is the largest there is', async () => {
    const { status, body } = await market.call('GET', '/discovery/resources?limit=5000')
    expect([status, body.pagination.limit]).toEqual([200, 100])
  })

  test.each([['limit=0'], ['limit=x'], ['offset=-1']])('%s is a 400', async (query) => {
    expect((await market.call('GET', `/discovery/resources?${query}`)).status).toBe(400)
  })
})

describe('the x402 discovery search', () => {
  test('finds by text, and follows its cursor to the end', async () => {
    const { resources } = await get('/discovery/search?query=qr')
    expect(resources[0].serviceName).toBe('QR code')
    const first = await get('/discovery/search?query=a&limit=1')
    const second = await get(`/discovery/search?query=a&limit=1&cursor=${first.pagination.cursor}`)
    expect(second.resources[0].resource).not.toBe(first.resources[0].resource)
    expect((await get('/discovery/search?query=unicorn')).resources).toEqual([])
  })

  test('needs a query', async () => {
    const { status, body } = await market.call('GET', '/discovery/search')
    expect([status, body.details[0].path]).toEqual([400, 'query'])
  })
})

test('the manifest names paid addresses, and each answers 402', async () => {
  const { resources, discovery } = await get('/.well-known/x402')
  expect(discovery).toBe(`${market.url()}/discovery/resources`)
  expect(resources).toContain(`${market.url()}/v1/register`)
  for (const resource of resources) {
    expect((await market.call('POST', new URL(resource).pathname)).status).toBe(402)
  }
})

test('llms.txt is a guide with links that lead somewhere', async () => {
  const { text, headers } = await market.call('GET', '/llms.txt')
  expect(headers.get('content-type')).toBe('text/plain; charset=utf-8')
  expect(text).toMatch(/^# .+\n\n> .+\n\n## Descriptions\n/)
  for (const [, link] of text.matchAll(/\]\((http[^)]+)\)/g)) {
    expect([link, (await market.call('GET', new URL(link as string).pathname)).status]).toEqual([link, 200])
  }
  expect(text).not.toContain('/dashboard/api/admin')
})

test('llms.txt tells buyers how to say what they pay at most, and how long a price stays good', async () => {
  const { text } = await market.call('GET', '/llms.txt')
  for (const promise of pricePromises) expect(text).toContain(promise)
})
