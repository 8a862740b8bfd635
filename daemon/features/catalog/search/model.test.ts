import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { type Catalog, openCatalog } from './catalog.ts'
import type { CatalogDoc, CatalogQuery } from './select.ts'

// @slow random histories

const idOf = (n: number) => `svc_${n.toString(16).padStart(16, '0')}`

function listing(n: number, facts: Partial<CatalogDoc> = {}): CatalogDoc {
  return {
    id: idOf(n),
    name: 'A service',
    tags: [],
    category: 'web',
    description: 'Does something.',
    provider_id: 'p_0000000000000001',
    provider_name: 'Acme',
    service_type: 'data_api',
    fulfillment_type: 'instant',
    agent_price: 1_000n,
    verified: false,
    payable: true,
    reputation: null,
    listed_at: n,
    ...facts,
  }
}

const query = (q: Partial<CatalogQuery> = {}): CatalogQuery => ({ sort: 'newest', limit: 20, offset: 0, ...q })
const many = (length: number, facts: (n: number) => Partial<CatalogDoc> = () => ({})) =>
  Array.from({ length }, (_, n) => listing(n, facts(n)))

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function open(docs: readonly CatalogDoc[] = []): Promise<Catalog> {
  const catalog = await openCatalog(':memory:', 1, () => docs)
  cleanups.push(() => catalog.close())
  return catalog
}

/** The catalog as a list: every answer looked up by going through all of it. */
function naive(docs: Iterable<CatalogDoc>, q: CatalogQuery): { ids: string[]; total: number; ranked: boolean } {
  const terms = wordsOf(q.q ?? '')
  const found = [...docs].filter((doc) => passes(doc, q) && holds(doc, terms, q.q !== undefined))
  const sort = q.sort === 'relevance' ? 'newest' : q.sort
  found.sort((a, b) => orders[sort](a, b) || (a.id < b.id ? -1 : 1))
  const ids = found.slice(q.offset, q.offset + q.limit).map(({ id }) => id)
  return { ids, total: found.length, ranked: q.sort === 'relevance' && q.q !== undefined }
}

const wordsOf = (text: string) => text.toLowerCase().match(/[a-z0-9]+/g) ?? []

function holds(doc: CatalogDoc, terms: string[], asked: boolean): boolean {
  if (terms.length === 0) return !asked
  const words = [doc.name, ...doc.tags, doc.category, doc.description, doc.provider_name].flatMap(wordsOf)
  const distinct = [...new Set(terms)]
  return distinct.every((term, i) =>
    words.some((word) => (i < distinct.length - 1 ? word === term : word.startsWith(term))),
  )
}

function passes(doc: CatalogDoc, q: CatalogQuery): boolean {
  return [
    same(q.category, doc.category),
    same(q.service_type, doc.service_type),
    same(q.fulfillment_type, doc.fulfillment_type),
    same(q.provider, doc.provider_id),
    same(q.verified_only || undefined, doc.verified),
    same(q.payable_only || undefined, doc.payable),
    within(doc.agent_price, q.min_price, q.max_price),
    within(doc.reputation, q.min_reputation),
    q.tag === undefined || doc.tags.includes(q.tag),
  ].every(Boolean)
}

const same = (wanted: unknown, is: unknown) => wanted === undefined || wanted === is

function within<T extends bigint | number>(is: T | null, min?: T, max?: T): boolean {
  if (min === undefined && max === undefined) return true
  return is !== null && (min === undefined || is >= min) && (max === undefined || is <= max)
}

type Order = (a: CatalogDoc, b: CatalogDoc) => number
const orders: Record<'price_asc' | 'price_desc' | 'reputation' | 'newest', Order> = {
  price_asc: (a, b) => Number((a.agent_price ?? 10n ** 15n) - (b.agent_price ?? 10n ** 15n)),
  price_desc: (a, b) => Number((b.agent_price ?? -1n) - (a.agent_price ?? -1n)),
  reputation: (a, b) => (b.reputation ?? -1) - (a.reputation ?? -1),
  newest: (a, b) => b.listed_at - a.listed_at,
}

const VOCABULARY = ['alpha', 'alphabet', 'beta', 'gamma', 'api', 'apis', 'x1']
const anyText = fc.array(fc.constantFrom(...VOCABULARY), { maxLength: 4 }).map((words) => words.join(' '))
const anyDoc = fc
  .record({
    n: fc.integer({ min: 0, max: 30 }),
    name: anyText,
    tags: fc.array(fc.constantFrom('t1', 't 2', 'API'), { maxLength: 2 }),
    category: fc.constantFrom('web', 'data'),
    description: anyText,
    provider_id: fc.constantFrom('p_1', 'p_2'),
    provider_name: fc.constantFrom('Acme', 'Beta Corp'),
    service_type: fc.constantFrom('data_api' as const, 'human_service' as const),
    fulfillment_type: fc.constantFrom('instant' as const, 'human' as const),
    agent_price: fc.option(fc.bigInt(1n, 5n).map((step) => step * 1_000n)),
    verified: fc.boolean(),
    payable: fc.boolean(),
    reputation: fc.option(fc.constantFrom(0, 40, 75.5, 100)),
    listed_at: fc.integer({ min: 0, max: 5 }),
  })
  .map(({ n, ...facts }) => listing(n, facts))

const anyQuery = fc
  .record(
    {
      q: fc
        .array(fc.constantFrom(...VOCABULARY, 'al', 'ap', 'Acme', 'web', '"', 'NEAR(', '*', 'name:'), {
          minLength: 1,
          maxLength: 3,
        })
        .map((words) => words.join(' ')),
      category: fc.constantFrom('web', 'data', 'none'),
      service_type: fc.constantFrom('data_api' as const, 'human_service' as const),
      fulfillment_type: fc.constantFrom('instant' as const, 'human' as const),
      provider: fc.constantFrom('p_1', 'p_2'),
      verified_only: fc.boolean(),
      payable_only: fc.boolean(),
      min_price: fc.bigInt(0n, 5_000n),
      max_price: fc.bigInt(0n, 5_000n),
      min_reputation: fc.constantFrom(0, 40, 76),
      tag: fc.constantFrom('t1', 't 2', 'api'),
      sort: fc.constantFrom('relevance', 'price_asc', 'price_desc', 'reputation', 'newest'),
      limit: fc.integer({ min: 1, max: 10 }),
      offset: fc.integer({ min: 0, max: 12 }),
    },
    { requiredKeys: ['sort', 'limit', 'offset'] },
  )
  .map((q) => q as CatalogQuery) // its members are absent where they are not drawn

type Step = { readonly put: CatalogDoc } | { readonly remove: number }
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 20, arbitrary: anyDoc.map((put) => ({ put })) },
  { weight: 5, arbitrary: fc.integer({ min: 0, max: 30 }).map((remove) => ({ remove })) },
)

function take(catalog: Catalog, model: Map<string, CatalogDoc>, step: Step): Promise<void> {
  if ('put' in step) {
    model.set(step.put.id, step.put)
    return catalog.put(step.put)
  }
  model.delete(idOf(step.remove))
  return catalog.remove(idOf(step.remove))
}

describe('the catalog', () => {
  it('answers as a walk through all listings would: same set, total and order', async () => {
    const scenario = fc.record({
      first: fc.uniqueArray(anyDoc, { selector: ({ id }) => id }),
      steps: fc.array(anyStep, { maxLength: 60 }),
      queries: fc.array(anyQuery, { minLength: 1, maxLength: 10 }),
    })
    await fc.assert(
      fc.asyncProperty(scenario, async ({ first, steps, queries }) => {
        const catalog = await openCatalog(':memory:', 1, () => first)
        const model = new Map(first.map((doc) => [doc.id, doc]))
        for (const step of steps) await take(catalog, model, step)
        for (const q of queries) {
          const { ids, total, ranked } = naive(model.values(), q)
          const page = await catalog.query(q)
          expect(page.total).toBe(total)
          if (!ranked) expect(page.ids).toEqual(ids)
          const all = naive(model.values(), { ...q, limit: 1_000, offset: 0 }).ids
          expect(all).toEqual(expect.arrayContaining(page.ids))
          expect(new Set(page.ids).size).toBe(ids.length)
        }
        await catalog.close()
      }),
      { numRuns: 200 },
    )
  })

  it('finds nothing, and never fails, for any text that it cannot read', async () => {
    const catalog = await open(many(3))
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 300 }), async (q) => {
        const { ids, total } = await catalog.query(query({ q, sort: 'relevance' }))
        expect(ids).toHaveLength(Math.min(total, 20))
      }),
    )
    const hostile = [
      '"',
      "' or 1=1 --",
      'name:service',
      'NEAR(a b)',
      'a AND',
      '*',
      '^service',
      '{name}: x',
      '\0',
      '(((',
    ]
    const totals = await Promise.all(hostile.map(async (q) => (await catalog.query(query({ q }))).total))
    expect(totals.every((total) => total === 0 || total === 3)).toBe(true)
    expect((await catalog.query(query({ q: `service ${'zebra '.repeat(500)}` }))).total).toBe(0)
  })

  it.each<[string, string]>([
    ['weather api', 'all words, wherever they stand'],
    ['WEATHER', 'either case'],
    ['weath', 'the beginning of the last word'],
    ['cafe', 'without its accent'],
    ['ＣＡＦＥ', 'in full width'],
    ['東京', 'characters without spaces between'],
    ['the weather', 'without the words that say nothing'],
  ])('finds a listing by %s: %s', async (q) => {
    const catalog = await open()
    await catalog.put(listing(1, { name: 'Weather', tags: ['api'], description: 'Café forecasts for 東京都.' }))
    await catalog.put(listing(2, { name: 'Weapon', description: 'Rapid.' }))
    expect(await catalog.query(query({ q, sort: 'relevance' }))).toEqual({ ids: [idOf(1)], total: 1 })
  })

  it('ranks a hit in the name before one in the description', async () => {
    const catalog = await open()
    await catalog.put(listing(1, { name: 'Weather forecast' }))
    for (const n of [2, 3, 4]) await catalog.put(listing(n, { description: 'Tells the weather as it was.' }))
    const { ids } = await catalog.query(query({ q: 'weather', sort: 'relevance' }))
    expect(ids[0]).toBe(idOf(1))
    expect(ids).toHaveLength(4)
  })

  it('shows a changed listing as it is now', async () => {
    const catalog = await open()
    await catalog.put(listing(1, { name: 'Old words', tags: ['old'] }))
    await catalog.put(listing(1, { name: 'New words', tags: ['new'] }))
    const totals = ['old', 'new']
      .flatMap((word) => [query({ q: word }), query({ tag: word })])
      .map((q) => catalog.query(q))
    expect((await Promise.all(totals)).map(({ total }) => total)).toEqual([0, 0, 1, 1])
  })

  it('pages through a word that is everywhere without losing or repeating a listing', async () => {
    const count = 12_345
    const catalog = await open(many(count, (n) => (n % 3 === 0 ? { name: 'api' } : { description: 'api' })))
    const seen: string[] = []
    for (let offset = 0; offset < count; offset += 1_000) {
      const page = await catalog.query(query({ q: 'api', sort: 'relevance', limit: 1_000, offset }))
      expect(page.total).toBe(count)
      seen.push(...page.ids)
    }
    expect(new Set(seen).size).toBe(count)
    expect(seen).toHaveLength(count)
    const named = seen.slice(0, count / 3).map((id) => Number.parseInt(id.slice('svc_'.length), 16) % 3)
    expect(new Set(named)).toEqual(new Set([0]))
  })
})
