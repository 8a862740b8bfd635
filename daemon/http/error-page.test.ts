import { load } from 'cheerio'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { holdTheMinute } from '../../fixtures/kit/time.ts'
import { type Answer, type Marketplace, openMarketplace } from '../../fixtures/market/marketplace.ts'
import { type Endpoint, hasPages } from '../../src/api/endpoint/define.ts'
import { api, endpointNames } from '../../src/api/index.ts'
import { AppError, type ErrorCode, errorCodes } from '../../src/core/error.ts'
import { errorPage } from './error-page.ts'
import { MAX_READS } from './rate-limit.ts'

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
const people = { Accept: BROWSER }
const nobody = '0'.repeat(64)

let market: Marketplace
beforeAll(async () => {
  market = await openMarketplace()
})
afterAll(() => market.close())

/** What a page says, after what every page has to have. */
function read({ text, headers }: Answer) {
  const page = load(text)
  expect([page('html').attr('lang'), page('main > h1').length, page('script, style, link, img').length]).toEqual([
    'en',
    1,
    0,
  ])
  expect(page('title').text()).toBe(page('h1').text())
  expect(headers.get('content-security-policy')).toContain("default-src 'none'")
  expect([headers.get('cache-control'), headers.get('x-content-type-options'), headers.get('vary')]).toEqual([
    'no-store',
    'nosniff',
    'Accept',
  ])
  expect(page('main').text()).toContain(headers.get('x-request-id'))
  return { title: page('h1').text(), text: page('main').text(), page }
}

const links = [`/dashboard/traces/${nobody}`, `/verification/consent/${nobody}`]

describe('a link that opens nothing', () => {
  test.each(links)('%s is told to a person on a page, under the same status', async (path) => {
    const answer = await market.call('GET', path, { headers: people })
    expect([answer.status, answer.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8'])
    const { title, text } = read(answer)
    expect(title).toBe('Page not found')
    expect(text).toMatch(/^\s*Page not found\s+This link was .* or is unknown\.\s+What to do next\s+\S/)
  })

  test.each(links)('%s is told to a program in JSON, or in problem details', async (path) => {
    const plain = await market.call('GET', path)
    expect([plain.status, plain.body.code, plain.headers.get('vary')]).toEqual([
      404,
      'not_found',
      'Accept, Accept-Encoding',
    ])
    const problem = await market.call('GET', path, { headers: { Accept: 'application/problem+json, text/html;q=0.5' } })
    expect([problem.headers.get('content-type'), problem.body.status]).toEqual(['application/problem+json', 404])
  })
})

describe('what happens before a row', () => {
  test('a method that the page has not', async () => {
    const answer = await market.call('POST', '/docs', { headers: people, body: {} })
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS'])
    expect(read(answer).title).toBe('Method not allowed')
  })

  test('too many requests: how long to wait stands on the page', async () => {
    const headers = { ...people, 'X-Forwarded-For': '198.51.100.9' }
    const open = () => market.call('GET', links[0] as string, { headers })
    const goOn = holdTheMinute()
    for (let sent = 0; sent < MAX_READS; sent += 1) await open()
    const answer = await open()
    goOn()
    expect([answer.status, answer.headers.get('ratelimit-limit')]).toEqual([429, String(MAX_READS)])
    const { title, text } = read(answer)
    expect([title, text]).toEqual([
      'Too many requests',
      expect.stringContaining(`Wait ${answer.headers.get('retry-after')} seconds.`),
    ])
  })

  test('an address where nothing is leads a person on, and answers the API’s callers as ever', async () => {
    const lost = await market.call('GET', '/dashbord', { headers: people })
    const { title, page } = read(lost)
    expect([lost.status, title, page('a').attr('href')]).toEqual([404, 'Page not found', '/docs'])
    for (const [path, headers] of [
      ['/v1/nothing', people],
      ['/dashbord', {}],
    ] as const) {
      const answer = await market.call('GET', path, { headers })
      expect([answer.status, answer.body.code]).toEqual([404, 'not_found'])
    }
  })
})

test('rows of the API answer in JSON whatever a browser prefers', async () => {
  for (const path of ['/v1/jobs', '/v1/services/svc_0123456789abcdef', '/dashboard/api/admin/jobs']) {
    const answer = await market.call('GET', path, { headers: people })
    expect([path, typeof answer.body.code]).toEqual([path, 'string'])
  }
})

test('no address has both: a page, and a row that programs alone use', () => {
  const paged = endpointNames.map((name): Endpoint => api[name]).filter(hasPages)
  const there = endpointNames
    .map((name): Endpoint => api[name])
    .filter(({ path }) => paged.some((endpoint) => endpoint.path === path))
  expect(there).toEqual(paged)
  expect(paged.map(({ path }) => path).toSorted()).toEqual([
    '/',
    '/dashboard/traces/:token',
    '/docs',
    '/v1/receipts/:id',
    '/v1/verification/consent',
    '/verification/consent/:token',
  ])
})

test.each(Object.keys(errorCodes) as ErrorCode[])(
  '%s has a title, a next step, and markup in its texts is inert',
  (code) => {
    const evil = '<script>alert(1)</script>'
    const details = [
      { path: evil, message: evil },
      { path: 'agree', message: 'must be true' },
    ]
    const error = new AppError(code, evil, { details, retryAfter: 5 })
    const page = load(errorPage({ error, requestId: 'req_1', endpoint: undefined }).markup)
    expect([page('script').length, page('li').length, page('h1').text().length > 3]).toEqual([0, 2, true])
    expect(page('h2 + p').text()).toMatch(/^Wait 5 seconds\. [A-Z].{10,}\.$/)
  },
)
