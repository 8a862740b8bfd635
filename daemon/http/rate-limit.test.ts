import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { holdTheMinute } from '../../fixtures/kit/time.ts'
import { type Marketplace, openMarketplace } from '../../fixtures/market/marketplace.ts'
import { registered } from '../../fixtures/market/people.ts'
import { MAX_FACILITATED, MAX_READS, MAX_WRITES } from './rate-limit.ts'

// @slow many callers, each up to its bound

let market: Marketplace
let goOn: () => void
beforeAll(async () => {
  market = await openMarketplace()
  goOn = holdTheMinute()
})
afterAll(async () => {
  goOn()
  await market.close()
})

/** As a proxy of this machine hands a request on. */
const from = (address: string, headers: Record<string, string> = {}) => ({ 'X-Forwarded-For': address, ...headers })

async function statuses(count: number, send: () => Promise<{ status: number }>): Promise<Record<number, number>> {
  const counts: Record<number, number> = {}
  for (let i = 0; i < count; i += 1) {
    const { status } = await send()
    counts[status] = (counts[status] ?? 0) + 1
  }
  return counts
}

describe('rate limits', () => {
  test('are off on a loopback bind', async () => {
    const read = () => market.call('GET', '/v1/terms')
    expect(await statuses(MAX_READS + 1, read)).toEqual({ 200: MAX_READS + 1 })
  })

  test('bound the reads of a forwarded address, finished pages too, and tell when to come back', async () => {
    const read = () => market.call('GET', '/v1/services/catalog', { headers: from('198.51.100.1') })
    expect(await statuses(MAX_READS, read)).toEqual({ 200: MAX_READS })
    const { status, headers, body } = await read()
    expect([status, body.code, headers.get('RateLimit-Limit')]).toEqual([429, 'rate_limited', String(MAX_READS)])
    expect(headers.get('RateLimit-Remaining')).toBe('0')
    expect(headers.get('Retry-After')).toBe(headers.get('RateLimit-Reset'))
    expect(body.retry_after).toBe(Number(headers.get('Retry-After')))
    expect((await market.call('GET', '/v1/services/catalog', { headers: from('198.51.100.2') })).status).toBe(200)
  })

  test('bound writes apart from reads, and count who shows a key by it', async () => {
    const ann = await registered(market, { type: 'agent', name: 'Ann' })
    const write = () =>
      market.call('POST', '/v1/terms/accept', {
        body: { version: 'v0' },
        headers: from('198.51.100.3', { 'X-API-Key': ann.key }),
      })
    expect(await statuses(MAX_WRITES + 1, write)).toEqual({ 400: MAX_WRITES, 429: 1 })
    const other = await market.call('POST', '/v1/terms/accept', { body: {}, headers: from('198.51.100.3') })
    expect(other.status).toBe(401)
    const read = await market.call('GET', '/v1/jobs', { headers: from('198.51.100.3', { 'X-API-Key': ann.key }) })
    expect(read.status).toBe(200)
  })

  test('count what a known server asks of the facilitator apart; who shows no key has the allowance of any writer', async () => {
    const shop = await registered(market, { type: 'provider', name: 'Shop' })
    const settle = (headers: Record<string, string> = {}) =>
      market.call('POST', '/facilitator/settle', { body: {}, headers: from('198.51.100.4', headers) })
    const known = () => settle({ 'X-API-Key': shop.key })
    expect(await statuses(MAX_WRITES + 1, known)).toEqual({ 400: MAX_WRITES + 1 })
    expect(await statuses(MAX_WRITES + 1, settle)).toEqual({ 401: MAX_WRITES, 429: 1 })
    expect((await known()).status).toBe(400)
    expect(MAX_FACILITATED).toBeGreaterThan(MAX_WRITES)
  })

  test('shut out an address that tries one credential after the other; without one it goes on', async () => {
    let tried = 0
    const guess = () => {
      tried += 1
      const key = `sk_${String(tried).padStart(40, '0')}`
      return market.call('GET', '/v1/jobs', { headers: from('2001:db8::1', { 'X-API-Key': key }) })
    }
    expect(await statuses(12, guess)).toEqual({ 401: 10, 429: 2 })
    expect((await market.call('GET', '/v1/terms', { headers: from('2001:db8::1') })).status).toBe(200)
  })
})

describe('a made-up key', () => {
  const madeUp = (i: number) => ({ 'X-API-Key': `sk_${String(i).padStart(40, '0')}` })

  test.each([
    ['an open row', 'GET', '/v1/terms'],
    ['a finished page', 'GET', '/v1/services/catalog'],
    ['the price of a row', 'POST', '/v1/discover'],
    ['a row data of the administrator', 'GET', '/metrics'],
    ['a page', 'GET', '/docs'],
  ])('is 401 also at %s', async (_, method, path) => {
    await market.call('GET', '/v1/services/catalog') // finished by now
    expect((await market.call(method, path)).status).not.toBe(429)
    for (const headers of [madeUp(1), { Authorization: `Bearer ${madeUp(1)['X-API-Key']}` }]) {
      const answer = await market.call(method, path, { headers })
      expect([answer.status, answer.body.code]).toEqual([401, 'unauthorized'])
    }
  })

  test('buys no fresh allowance: its address pays for it', async () => {
    const address = from('198.51.100.9')
    const read = (headers: Record<string, string> = {}) =>
      market.call('GET', '/v1/services/catalog', { headers: { ...address, ...headers } })
    for (let i = 0; i < 5; i += 1) expect((await read(madeUp(i))).status).toBe(401)
    expect(await statuses(MAX_READS - 5, read)).toEqual({ 200: MAX_READS - 5 })
    expect((await read()).status).toBe(429)
    expect((await read(madeUp(7))).status).toBe(429)
  })
})
