import type { z } from 'zod'
import { type Endpoint, templatePath } from '../../../src/api/endpoint/define.ts'
import { api } from '../../../src/api/index.ts'
import { formatPrice } from '../../../src/core/money.ts'
import type { JsonObject } from '../../../src/model/service.ts'
import { exampleInput } from '../../../src/schema/example.ts'
import type { ServiceRow } from '../listings/rows.ts'

type Step = z.output<(typeof api.discover)['reply']['schema']>['guide']['steps'][number]

type Recipe = {
  readonly title: string
  readonly text: string
  readonly row: Endpoint
  readonly params?: Readonly<Record<string, string>>
  readonly query?: string
  readonly body?: JsonObject
  readonly headers?: Readonly<Record<string, string>>
}

/** Headers whose values are shell variables, which the caller's shell replaces. */
const PAYMENT = { 'X-PAYMENT': '$X_PAYMENT' }
const KEY = { 'X-API-Key': '$SOUK_API_KEY' }

const newListing = {
  name: 'Word count',
  description: 'Counts the words of a text.',
  price: '0.05',
  fulfillment_type: 'automated',
  estimated_delivery: '5 minutes',
  category: 'text',
  tags: ['text'],
  input_schema: { type: 'object', properties: { text: { type: 'string', maxLength: 5000 } }, required: ['text'] },
}

/** The first steps as requests that can be run. `sample` is a listing to buy. */
export function guideSteps(baseUrl: string, sample: ServiceRow | undefined): Step[] {
  return recipes(sample).map((recipe) => stepOf(baseUrl, recipe))
}

function recipes(sample: ServiceRow | undefined): Recipe[] {
  return [
    {
      title: 'Search the catalog',
      text: 'Free. Filter by q, category, service_type, fulfillment_type, min_price, max_price, tag and sort.',
      row: api.getCatalog,
      query: 'sort=newest&limit=20',
    },
    ...(sample ? purchase(sample) : []),
    {
      title: 'Register',
      text: `Costs ${formatPrice(api.register.access.price)}, paid by x402: the signature proves the wallet. The response shows the API key once.`,
      row: api.register,
      body: { name: 'my agent', type: 'both' },
      headers: PAYMENT,
    },
    { title: 'See your jobs', text: 'Free; needs the API key.', row: api.listJobs, headers: KEY },
    {
      title: 'List a service of your own',
      text: 'Free for providers; needs the API key. The buyer pays the price and the platform fee.',
      row: api.createService,
      body: newListing,
      headers: KEY,
    },
  ]
}

function purchase(sample: ServiceRow): Recipe[] {
  const target = { params: { id: sample.id }, body: (exampleInput(sample.input_schema) ?? {}) as JsonObject } // JSON made from a JSON schema
  return [
    {
      title: 'Look at a service',
      text: 'Free. input_schema describes the input, agent_price the cost.',
      row: api.getService,
      params: target.params,
    },
    {
      title: 'Ask for its price',
      text: 'Without a payment the response is 402 with the payment to sign, in x402 versions 1 and 2.',
      row: api.purchaseService,
      ...target,
    },
    {
      title: 'Buy it',
      text: 'Send the same request with the signed payment. Instant services return the result, others a job.',
      row: api.purchaseService,
      ...target,
      headers: PAYMENT,
    },
  ]
}

function stepOf(baseUrl: string, { title, text, row, params = {}, query, body, headers = {} }: Recipe): Step {
  const path = templatePath(row.path).replace(/\{(\w+)\}/g, (_, name: string) => params[name] ?? name)
  const request = {
    method: row.method,
    url: `${baseUrl}${path}${query === undefined ? '' : `?${query}`}`,
    headers: { ...(body ? { 'Content-Type': 'application/json' } : {}), ...headers },
    ...(body ? { body } : {}),
  }
  return { title, text, request, curl: curlOf(request) }
}

function curlOf({ method, url, headers, body }: Step['request']): string {
  return [
    `curl -X ${method} ${quoted(url)}`,
    // Double quotes, so that the shell replaces the variables. These headers contain no untrusted text.
    ...Object.entries(headers).map(([name, value]) => `-H "${name}: ${value}"`),
    ...(body ? [`--data ${quoted(JSON.stringify(body))}`] : []),
  ].join(' ')
}

/** Quotes a word for a POSIX shell, because examples come from providers' schemas, which are untrusted. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

export function guideMarkdown(steps: readonly Step[]): string {
  const parts = steps.map(({ title, text, curl }, i) => `## ${i + 1}. ${title}\n\n${text}\n\n    ${curl}`)
  return `# Getting started\n\n${parts.join('\n\n')}\n`
}
