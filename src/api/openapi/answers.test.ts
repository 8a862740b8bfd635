import { expect, test } from 'vitest'
import { withoutExample } from '../../../fixtures/examples/answers.ts'
import { MAX_EXAMPLE_BYTES } from '../../../fixtures/examples/shorten.ts'
import { describedBy } from '../../../fixtures/kit/described.ts'
import { type Endpoint, isPaid, templatePath } from '../endpoint/define.ts'
import { api, type EndpointName, endpointNames } from '../index.ts'
import { openapiDocument, readAnswerExamples } from './document.ts'

const MAX_DESCRIPTION_BYTES = 1_500_000
const examples = await readAnswerExamples()
const names = endpointNames.map((name): Endpoint => api[name]).flatMap((endpoint) => endpoint.switch ?? [])
const switches = { paused: false, checkoutV2: false, enabled: new Set(names) }
const document = openapiDocument({ url: 'http://souk.test', switches, examples })
const fault = describedBy(document)

type Media = { readonly example?: unknown }
type Responses = Record<string, { readonly content?: Record<string, Media> }>

function described(name: EndpointName, status: number): unknown {
  const { method, path } = api[name]
  const paths = document.paths as Record<string, Record<string, { responses: Responses }>>
  return paths[templatePath(path)]?.[method.toLowerCase()]?.responses[status]?.content?.['application/json']?.example
}

function faultOf(name: EndpointName, status: number, body: unknown): string {
  const { method, path } = api[name]
  const headers = new Headers({
    'content-type': 'application/json',
    'x-request-id': 'req_1',
    'payment-required': 'it comes with every offer',
  })
  const answer = { status, body, headers, text: JSON.stringify(body) }
  return fault({ method, path: path.replaceAll(':', 'a-'), answer })
}

function answersJson({ reply }: Endpoint): boolean {
  return reply.kind === 'bytes'
    ? reply.contentType.startsWith('application/json')
    : ['json', 'json_or_page', 'feed'].includes(reply.kind)
}

const answered = endpointNames.filter((name) => answersJson(api[name]) && !(name in withoutExample))
const paid = endpointNames.filter((name) => isPaid(api[name]))

test.each(answered)('%s has an example of its answer that is as described', (name) => {
  const example = described(name, 200)
  expect(example).toBeDefined()
  expect(faultOf(name, 200, example)).toBe('')
  expect(Buffer.byteLength(JSON.stringify(example))).toBeLessThanOrEqual(MAX_EXAMPLE_BYTES)
})

test.each(paid)('%s has an example of what it asks for', (name) => {
  const example = described(name, 402)
  expect(example).toMatchObject({ code: 'payment_required', accepts: [{ scheme: 'exact' }] })
  expect(faultOf(name, 402, example)).toBe('')
})

test('nothing has an example that it does not need', () => {
  const wanted = { answer: answered, offer: paid }
  for (const [member, names] of Object.entries(wanted)) {
    const having = endpointNames.filter((name) => member in (examples[name] ?? {}))
    expect([member, having]).toEqual([member, names])
  }
  expect(Object.keys(examples).filter((name) => !(name in api))).toEqual([])
})

test('the description stays small enough to be read at once', () => {
  expect(Buffer.byteLength(JSON.stringify(document))).toBeLessThan(MAX_DESCRIPTION_BYTES)
})
