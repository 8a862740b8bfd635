import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { z } from 'zod'
import { describedBy } from '../../fixtures/kit/described.ts'
import { type Answer, type Marketplace, openMarketplace } from '../../fixtures/market/marketplace.ts'
import type { Endpoint } from '../../src/api/endpoint/define.ts'
import { api, type EndpointName, endpointNames } from '../../src/api/index.ts'
import { openapiDocument } from '../../src/api/openapi/document.ts'
import { bodyExamples } from '../../src/api/openapi/examples.ts'

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
          body.code,
        ])
    },
  )
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
