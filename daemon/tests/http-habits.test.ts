import { request } from 'node:http'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Marketplace, openMarketplace } from '../../fixtures/market/marketplace.ts'

// @slow every endpoint is asked in many wrong ways

/* What browsers, caches and shared HTTP libraries expect of any server. */

let market: Marketplace
beforeAll(async () => {
  market = await openMarketplace()
})
afterAll(() => market.close())

const catalog = '/v1/services/catalog'
const detail = async () => `/v1/services/${await market.serviceId('qr_code')}`
const openPaths = [catalog, '/health', '/openapi.json', '/discovery/resources', '/.well-known/x402', '/llms.txt']

/** The bytes as they came: `fetch` would unpack them. */
function raw(path: string, headers: Record<string, string>, method = 'GET') {
  return new Promise<{ status: number | undefined; head: Record<string, unknown>; bytes: Buffer }>((done, fail) => {
    const sent = request(`${market.url()}${path}`, { method, headers, agent: false }, (answer) => {
      const chunks: Buffer[] = []
      answer.on('data', (chunk: Buffer) => chunks.push(chunk))
      answer.on('end', () => done({ status: answer.statusCode, head: answer.headers, bytes: Buffer.concat(chunks) }))
    })
    sent.on('error', fail)
    sent.end()
  })
}

describe('a page of another origin', () => {
  const headers = { Origin: 'https://elsewhere.example' }

  test.each(openPaths)('reads %s, and a preflight is kept for a day', async (path) => {
    const read = await market.call('GET', path, { headers })
    expect([read.status, read.headers.get('access-control-allow-origin')]).toEqual([200, '*'])
    expect(read.headers.get('vary')).toMatch(/Origin/)
    const preflight = await raw(path, { ...headers, 'Access-Control-Request-Method': 'GET' }, 'OPTIONS')
    expect([preflight.status, preflight.head['access-control-max-age']]).toEqual([204, '86400'])
    expect((await market.call('HEAD', path)).status).toBe(200)
  })

  test.each(['/dashboard/api/admin/jobs', '/metrics', '/docs', '/'])('is not let in at %s', async (path) => {
    const { headers: told } = await market.call('GET', path, { headers })
    expect(told.get('access-control-allow-origin')).toBeNull()
  })
})

describe('a long answer', () => {
  test.each([...openPaths, '/docs'])('of %s is compressed for who takes it, and the same', async (path) => {
    for (let time = 0; time < 2; time += 1) {
      const plain = await raw(path, {})
      const packed = await raw(path, { 'Accept-Encoding': 'br, gzip;q=0.5' })
      if (plain.bytes.length < 1_024) continue
      expect([plain.head['content-encoding'], packed.head['content-encoding']]).toEqual([undefined, 'gzip'])
      expect(packed.head.vary).toMatch(/Accept-Encoding/)
      expect(packed.head['content-length']).toBe(String(packed.bytes.length))
      if (path === catalog) expect(gunzipSync(packed.bytes).equals(plain.bytes)).toBe(true)
      else expect(gunzipSync(packed.bytes).length).toBeGreaterThan(1_000)
    }
  })

  test('is not compressed for who refuses it', async () => {
    for (const header of ['gzip;q=0', 'br', 'identity']) {
      expect((await raw(catalog, { 'Accept-Encoding': header })).head['content-encoding']).toBeUndefined()
    }
  })
})

test('a catalog, a listing and the discovery list that did not change are a 304, until they do', async () => {
  const paths = [catalog, await detail(), '/discovery/resources', '/.well-known/x402', '/openapi.json', '/docs']
  for (const path of paths) {
    const first = await raw(path, {})
    const etag = String(first.head.etag)
    for (const headers of [{}, { 'Accept-Encoding': 'gzip' }]) {
      const again = await raw(path, { 'If-None-Match': etag, ...headers })
      expect([path, again.status, again.bytes.length, again.head.etag]).toEqual([path, 304, 0, etag])
    }
    expect((await raw(path, { 'If-None-Match': '"other"' })).status).toBe(200)
  }
})

describe('an Accept is weighed', () => {
  test.each([
    ['application/problem+json', 'application/problem+json'],
    ['application/problem+json;q=0.9, application/json;q=0.5', 'application/problem+json'],
    ['application/problem+json;q=0.1, application/json', 'application/json; charset=utf-8'],
    ['application/problem+json;q=0', 'application/json; charset=utf-8'],
    ['*/*', 'application/json; charset=utf-8'],
  ])('%s gets an error as %s', async (accept, type) => {
    const { headers } = await market.call('GET', '/v1/services/svc_none', { headers: { Accept: accept } })
    expect(headers.get('content-type')).toBe(type)
  })
})

describe('a query', () => {
  test('with parameters that nobody knows, or that say nothing, is as without them', async () => {
    const { body } = await market.call('GET', catalog)
    const other = await market.call('GET', `${catalog}?utm_source=x&category=&limit=&_=1`)
    expect([other.status, other.body.total]).toEqual([200, body.total])
    const unpaid = await market.call('POST', '/v1/discover?ref=abc', { body: {} })
    expect(unpaid.status).toBe(402)
  })

  test('of made-up parameters does not push finished pages out', async () => {
    const before = await market.call('GET', catalog)
    for (let i = 0; i < 600; i += 1) await market.call('GET', `${catalog}?made_up=${i}`)
    expect((await market.call('GET', catalog)).body.queried_at).toBe(before.body.queried_at)
  })

  test('with a bad value of a known one is refused by name', async () => {
    const refused = await market.call('GET', `${catalog}?limit=many&other=1`)
    expect([refused.status, refused.body.details[0].path]).toEqual([400, 'limit'])
  })
})

test.each(['/', '/docs', '/verification/consent/nothing', '/dashboard/traces/nothing'])(
  '%s is framed by nobody, and runs nothing that is not its own',
  async (path) => {
    const { headers } = await raw(path, { Accept: 'text/html' }).then(({ head }) => ({ headers: head }))
    expect(headers['content-type']).toMatch(/^text\/html/)
    expect(headers['content-security-policy']).toMatch(/default-src 'none'.*frame-ancestors 'none'/)
    expect([headers['x-content-type-options'], headers['x-frame-options']]).toEqual(['nosniff', 'DENY'])
  },
)
