import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parsePrice } from '../../../src/core/price.ts'
import { exampleInput } from '../../../src/schema/example.ts'
import { checkDeliverable, compileDeliverableSchema, compileInputSchema } from '../../../src/schema/schema.ts'
import type { PublicWeb } from '../../ports/web/web.ts'
import { firstPartyServices } from './index.ts'
import { houseOrder } from './order.ts'
import type { JsonInput } from './service/service.ts'

/**
 * The specification's table of observed inputs, in its words: `*` required, `a/b` choices, `=` default, `≤` characters
 * of a text or items of a list, `min..max` bounds of a number, `| way or way` where one way must be given.
 */
const observed: Record<string, string> = {
  accessibility_audit: 'site_url*: string',
  page_screenshot: 'url*: string; device: desktop/mobile = desktop; format: png/jpeg = png; full_page: boolean = false',
  style_guide: 'site_url*: string',
  tls_audit: 'domain*: string',
  seo_audit: 'site_url*: string',
  dns_health_audit: 'domain*: string',
  performance_analysis: 'site_url*: string',
  dependency_vulnerability_audit: 'ecosystem*: string; dependencies*: object of string ≤ 500',
  certificate_check: 'domain*: string',
  stock_data: 'symbol*: string; data_type: quote/historical = quote',
  text_to_speech: 'text*: string ≤ 5000; voice_id: string; model_id: string',
  pdf_generation:
    'html: string ≤ 102400; url: string; landscape: boolean = false; format: A4/Letter/A3/A5 = A4 | html or url',
  summarization:
    'text: string ≤ 50000; url: string; max_length: brief/standard/detailed = standard; format: paragraph/bullets = paragraph | text or url',
  sentiment_analysis: 'text*: string ≤ 10000',
  structured_web_extraction: 'url*: string; schema: object; prompt: string',
  translation: 'text*: string ≤ 50000; target_lang*: string; source_lang: string',
  weather: 'city: string; lat: number; lon: number; include_forecast: boolean = false | city or lat and lon',
  link_preview: 'url*: string',
  domain_availability: 'domain*: string',
  page_quality_audit: 'url*: string; strategy: mobile/desktop = mobile',
  crypto_price: 'coin_id*: string; vs_currency: string = usd',
  openapi_draft:
    'docs_url*: string ≤ 2048; endpoint_focus: string ≤ 300; target_format: json/yaml = json; nothing else',
  grant_matches:
    'profile*: string ≤ 800; keywords: array of string ≤ 60 ≤ 8; eligibility: string ≤ 200; agency: string ≤ 80; project_budget_usd: number >0..10000000000; days_needed_to_apply: integer 1..180 = 14; limit: integer 1..5 = 5',
  grant_application_checklist:
    'opportunity_id*: string ^[0-9]{1,12}$; profile: string ≤ 800; eligibility: string ≤ 200; project_budget_usd: number >0..10000000000; days_needed_to_apply: integer 1..180 = 21',
  grant_eligibility_brief:
    'opportunity_id*: string ^[0-9]{1,12}$; profile*: string ≤ 1000; eligibility: string ≤ 200; project_budget_usd: number >0..10000000000; days_needed_to_apply: integer 1..180 = 14',
  url_evidence_snapshot:
    'url*: uri ≤ 2048; expected_text: string ≤ 500; question: string ≤ 500; case_sensitive: boolean = false',
  qr_code: 'data*: string ≤ 2000; size: integer 50..1000 = 300; format: png/svg = png',
  audio_loudness_normalization: 'url*: uri; targetLufs: number -24..-12 = -16; maxSeconds: integer 1..180 = 180',
  website_research_context: 'url*: uri; maxPages: integer 1..3 = 3',
  api_integration_readiness: 'docs_url*: string ≤ 2048; use_case*: string ≤ 800; target_stack: string ≤ 300',
  tls_security_evidence: 'domain*: string ≤ 2048',
  api_changelog_actions: 'source_url*: string ≤ 2048; change_window: string ≤ 100; endpoint_focus: string ≤ 300',
}

/** Listings whose result stands under its own name in the specification. */
const resultKeys = [
  'openapi_draft',
  'grant_matches',
  'grant_application_checklist',
  'grant_eligibility_brief',
  'url_evidence_snapshot',
  'qr_code',
  'api_integration_readiness',
  'tls_security_evidence',
  'api_changelog_actions',
]

/** What such a page has nothing for; their own tests show what they deliver. */
const wantsMore: ReadonlySet<string> = new Set(['openapi_draft', 'api_changelog_actions', 'api_integration_readiness'])

/** Every address leads to the same small page. */
const anyPage: PublicWeb = {
  get: async (url) => ({
    url,
    status: 200,
    headers: { 'content-type': 'text/html' },
    body: Buffer.from('<title>A page</title><p>It says a little of what there is to say.</p>'),
    truncated: false,
    redirects: [],
    at: 0,
  }),
  resolve: async () => [{ address: '93.184.216.34', family: 4 }],
  check: () => undefined,
}

type Property = { [keyword: string]: unknown; type: string; items?: Property; additionalProperties?: Property }
type Input = {
  properties: Record<string, Property>
  required?: string[]
  anyOf?: { required: string[] }[]
  additionalProperties?: boolean
}

function inWords(schema: Input): string {
  const fields = Object.entries(schema.properties).map(
    ([name, property]) => `${name}${schema.required?.includes(name) ? '*' : ''}: ${propertyInWords(property)}`,
  )
  const ways = schema.anyOf?.map((way) => way.required.join(' and ')).join(' or ')
  const closed = schema.additionalProperties === false ? ['nothing else'] : []
  return [...fields, ...closed].join('; ') + (ways === undefined ? '' : ` | ${ways}`)
}

function propertyInWords(property: Property): string {
  const { type, enum: choices, format, pattern, items, additionalProperties, ...rest } = property
  const kind = Array.isArray(choices) ? choices.join('/') : String(format ?? type)
  const inner = items ?? additionalProperties
  const size = rest['maxLength'] ?? rest['maxItems'] ?? rest['maxProperties']
  const low = rest['minimum'] ?? (rest['exclusiveMinimum'] === undefined ? undefined : `>${rest['exclusiveMinimum']}`)
  return [
    kind,
    ...(inner === undefined ? [] : ['of', propertyInWords(inner)]),
    ...(pattern === undefined ? [] : [pattern]),
    ...(size === undefined ? [] : ['≤', size]),
    ...(low === undefined ? [] : [`${low}..${rest['maximum']}`]),
    ...(rest['default'] === undefined ? [] : ['=', rest['default']]),
  ].join(' ')
}

const read = (slug: string) => JSON.parse(readFileSync(`fixtures/listings/${slug}.json`, 'utf8'))
const observedSlugs = Object.keys(observed)
/** Those of the specification and whatever else there is. */
const slugs = readdirSync('fixtures/listings').map((name) => name.replace(/\.json$/, ''))

describe('the observed listings', () => {
  it('are 32, each in its file', () => {
    expect(observedSlugs).toHaveLength(32)
    expect(slugs).toEqual(expect.arrayContaining(observedSlugs))
  })

  it.each(observedSlugs)('%s takes the inputs of the specification', (slug) => {
    expect(inWords(read(slug).input_schema)).toBe(observed[slug])
  })

  it.each(slugs)('%s is a whole create body within every bound', (slug) => {
    const { name, description, price, estimated_delivery, tags, ...rest } = read(slug)
    expect(Object.keys(rest).sort()).toEqual(
      ['category', 'deliverable_schema', 'fulfillment_type', 'input_schema', 'pricing_model', 'service_type'].sort(),
    )
    expect(rest).toMatchObject({ pricing_model: 'fixed', category: expect.stringMatching(/^[a-z]+$/) })
    expect(['data_api instant', 'automated_service automated']).toContain(
      `${rest.service_type} ${rest.fulfillment_type}`,
    )
    expect(name.length).toBeLessThanOrEqual(100)
    expect(description.length).toBeGreaterThan(name.length)
    expect(parsePrice(price)).toBeGreaterThan(0n)
    expect(estimated_delivery).toMatch(/^(instant|\d+(-\d+)? (seconds|minutes))$/)
    expect(new Set(tags).size).toBe(tags.length)
    expect(() => compileDeliverableSchema(rest.deliverable_schema)).not.toThrow()
  })

  it.each(slugs)('%s has an example that its own schema accepts, and none without what is required', (slug) => {
    const { input_schema } = read(slug)
    const { validate } = compileInputSchema(input_schema)
    expect(validate(exampleInput(input_schema))).toMatchObject({ ok: true })
    expect(validate({}).ok).toBe(false)
  })

  it.each([...firstPartyServices.keys()])('%s shows what it answered, as its own schema has it', (slug) => {
    const { deliverable_schema: schema } = read(slug)
    const own = schema.type === undefined ? schema[slug] : schema
    expect(own.examples).toHaveLength(1)
    const [example] = own.examples
    expect(checkDeliverable(schema, own === schema ? example : { [slug]: example })).toMatchObject({ ok: true })
    expect(example.engine).toMatchObject({ name: expect.any(String), kind: expect.any(String) })
  })

  it('stand in the order of the house by category, each once', () => {
    expect([...houseOrder].sort()).toEqual(observedSlugs.toSorted())
    const categories = houseOrder.map((slug) => read(slug).category)
    const groups = categories.filter((category, at) => category !== categories[at - 1])
    expect(groups).toEqual([...new Set(groups)])
  })

  it('keep their result under its key where the specification names one', () => {
    const keyed = observedSlugs.filter((slug) => read(slug).deliverable_schema.type !== 'object')
    expect(keyed).toEqual(resultKeys)
    for (const slug of keyed) expect(Object.keys(read(slug).deliverable_schema)).toEqual([slug])
  })

  it.each<[string, unknown, boolean]>([
    ['sentiment_analysis', { sentiment: 'mixed', score: -1 }, true],
    ['sentiment_analysis', { sentiment: 'angry', score: 0 }, false],
    ['sentiment_analysis', { sentiment: 'neutral', score: 1.1 }, false],
    ['website_research_context', { dossier: {}, agent_context_markdown: '' }, true],
    ['website_research_context', { dossier: {} }, false],
    ['audio_loudness_normalization', { contentType: 'audio/wav' }, false],
  ])('%s: %j is a deliverable: %s', (slug, deliverable, ok) => {
    expect(checkDeliverable(read(slug).deliverable_schema, deliverable).ok).toBe(ok)
  })

  it('that need nothing but a page deliver what they declare', async () => {
    const plain = [...firstPartyServices].filter(([slug, { needs }]) => needs.length === 0 && !wantsMore.has(slug))
    expect(plain.length).toBeGreaterThan(0)
    for (const [slug, service] of plain) {
      const { input_schema, deliverable_schema } = read(slug)
      const input = exampleInput(input_schema) as JsonInput // an object of JSON values
      const deliverable = await service.run(input, new AbortController().signal, { web: anyPage })
      expect(checkDeliverable(deliverable_schema, deliverable)).toMatchObject({ ok: true })
    }
  })
})

it('the README names every function that needs nothing installed, and no other', () => {
  const everywhere = new Set<string>(['advisories', 'dns', 'grants', 'rdap', 'speech', 'tls'])
  const free = [...firstPartyServices].filter(([, { needs }]) => needs.every((name) => everywhere.has(name)))
  const [, count, told = ''] =
    /(\d+) of them need nothing installed: ([^.]+)\./.exec(readFileSync('README.md', 'utf8')) ?? []
  expect(Number(count)).toBe(free.length)
  expect([...told.matchAll(/`(\w+)`/g)].map(([, slug]) => slug).sort()).toEqual(free.map(([slug]) => slug).sort())
})

it('every command of the page of functions names one listing', () => {
  const plain = (text: string) => text.toLowerCase().replaceAll('_', ' ')
  const names = slugs.map((slug) => plain(JSON.parse(readFileSync(`fixtures/listings/${slug}.json`, 'utf8')).name))
  const page = readFileSync('docs/reference/functions.md', 'utf8')
  const bought = [...page.matchAll(/souk buy (?:'([^']+)'|(\S+))/g)].map(([, name = '', word = '']) =>
    plain(name || word),
  )
  expect(bought).toHaveLength(2 * firstPartyServices.size)
  expect(bought.filter((name) => names.filter((one) => one === name).length !== 1)).toEqual([])
})
