import { STATUS_CODES } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { z } from 'zod'
import { describedBy } from '../../fixtures/kit/described.ts'
import { type Answer, type Marketplace, openMarketplace } from '../../fixtures/market/marketplace.ts'
import { type Endpoint, isPaid, isShared } from '../../src/api/endpoint/define.ts'
import { api, type EndpointName, endpointNames } from '../../src/api/index.ts'
import { openapiDocument } from '../../src/api/openapi/document.ts'
import { bodyExamples } from '../../src/api/openapi/requests.ts'

const switches = { paused: false, checkoutV2: false, enabled: new Set<string>() }
const of = describedBy(openapiDocument({ url: 'http://souk.test', switches }))

const id = 'job_0123456789abcdef'
const sentence = 'The job was not found.'
const refusal = { error: sentence, code: 'not_found', message: sentence, request_id: 'req_1' }

function answer(status: number, body: unknown, headers: Record<string, string> = {}): Answer {
  const all = { 'content-type': 'application/json', 'x-request-id': 'req_1', ...headers }
  return { status, body, text: JSON.stringify(body), headers: new Headers(all) }
}

const asked = (given: Answer, path = `/v1/jobs/${id}`) => of({ method: 'GET', path, answer: given })

describe('an answer that is not as the description says is found', () => {
  test('and one that is passes', () => {
    expect(asked(answer(404, refusal))).toBe('')
  })

  test.each<[string, Answer, RegExp]>([
    ['a status that the row never gives', answer(418, refusal), /418 not_found is not described/],
    ['a code that the row never gives', answer(409, { ...refusal, code: 'deferred' }), /409 .* as described/],
    ['a member that is missing', answer(404, { ...refusal, message: undefined }), /'message'|as described/],
    ['a member that is not there', answer(200, { id, job_id: id, secret: 1 }), /additional properties/],
    [
      'another type of content',
      answer(404, refusal, { 'content-type': 'text/html' }),
      /as text\/html is not described/,
    ],
  ])('%s', (_, given, fault) => {
    expect(asked(given)).toMatch(fault)
  })

  test('a header that always comes', () => {
    const headless = answer(404, refusal)
    headless.headers.delete('x-request-id')
    expect(asked(headless)).toMatch(/lacks the header X-Request-Id/)
  })

  test('a row that is not described', () => {
    expect(asked(answer(200, {}), '/v1/nothing')).toMatch(/no such row/)
    expect(asked(answer(404, refusal), '/v1/nothing')).toBe('')
  })
})

describe('over HTTP', () => {
  let market: Marketplace
  beforeAll(async () => {
    market = await openMarketplace()
  })
  afterAll(() => market.close())

  // Marketplace.call throws where an answer is not as described.
  test.each(endpointNames.filter((name) => api[name].access.kind !== 'open'))(
    '%s tells who is refused in problem details, or what x402 needs',
    async (name) => {
      const { method, path } = api[name]
      const headers = { Accept: 'application/problem+json', 'X-API-Key': `sk_${'0'.repeat(40)}` }
      const { status, body, headers: sent } = await market.call(method, path.replaceAll(':', 'no-'), { headers })
      if (status === 402) expect(body.accepts).toHaveLength(1)
      else
        expect([sent.get('content-type'), body.status, body.title]).toEqual([
          'application/problem+json',
          status,
          STATUS_CODES[status],
        ])
    },
  )
})

describe('what caches and discovery tools read', () => {
  let market: Marketplace
  beforeAll(async () => {
    market = await openMarketplace()
  })
  afterAll(() => market.close())

  const plain = endpointNames.filter((name) => api[name].method === 'GET' && !api[name].path.includes(':'))

  // Marketplace.call throws where a 304 is not described.
  test.each(plain)('%s answers 304 to the validator that it gave, and nothing else does', async (name) => {
    const { path }: Endpoint = api[name]
    // The health report is another one each second.
    if (!isShared(api[name]) || name === 'getHealth') return
    const etag = (await market.call('GET', path)).headers.get('etag')
    const again = await market.call('GET', path, { headers: { 'If-None-Match': etag ?? 'none' } })
    expect(etag === null ? again.status : 304).toBe(again.status)
  })

  test('a paid row without a body refuses another media type as it is described', async () => {
    const bare = endpointNames.filter(
      (name) => api[name].method === 'POST' && isPaid(api[name]) && !('body' in api[name]),
    )
    expect(bare.length).toBeGreaterThan(0)
    for (const name of bare) {
      const path = api[name].path.replace(/:[A-Za-z]+/g, 'plan_0123456789abcdef')
      const headers = { 'X-BALANCE-AUTH': `sk_${'0'.repeat(40)}` }
      await market.call('POST', path, { headers, form: new FormData() })
    }
  })

  test('every paid row says its price in the form of published discovery tools', () => {
    const { paths } = openapiDocument({ url: 'http://souk.test', switches })
    const operations = Object.values(paths as object).flatMap((path) => Object.values(path as object))
    const paid = operations.filter((one) => 'x-price' in one)
    expect(paid.length).toBeGreaterThan(10)
    for (const { 'x-price': price, 'x-payment-info': info } of paid) {
      const shown =
        price === 'varies'
          ? { mode: 'dynamic', currency: 'USD', min: '0.001', max: '10000.00' }
          : { mode: 'fixed', currency: 'USD', amount: price.slice(1) }
      expect(info).toEqual({ price: shown, protocols: [{ x402: {} }] })
    }
  })
})

describe('an example', () => {
  const bodies = endpointNames.flatMap((name): [EndpointName, unknown, z.ZodType][] => {
    const { body }: Endpoint = api[name]
    return body ? [[name, bodyExamples[name], body.kind === 'json' ? body.schema : body.fields]] : []
  })

  test.each(bodies)('of %s is a body that the row takes', (_, example, schema) => {
    expect(example).toBeDefined()
    expect(schema.safeParse(example).error?.issues ?? []).toEqual([])
  })

  test('stands only where a body is taken', () => {
    expect(Object.keys(bodyExamples).toSorted()).toEqual(bodies.map(([name]) => name).toSorted())
  })
})
