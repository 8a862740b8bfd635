import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openCatalog } from '../../daemon/features/catalog/search/catalog.ts'
import type { CatalogDoc, CatalogQuery } from '../../daemon/features/catalog/search/query.ts'
import type { Measured } from './report.ts'

export type CatalogFigures = {
  readonly listings: number
  readonly buildMs: number
  /** Longest time in which the event loop did not turn during the build. */
  readonly buildStallMs: number
  readonly fileMb: number
  readonly putP50Ms: number
  /** Query times by kind of query, one figure a round. */
  readonly queries: Readonly<Record<string, Rounds>>
}
type Rounds = { readonly p50Ms: readonly number[]; readonly p99Ms: readonly number[] }

const LISTINGS = 100_000
const ROUNDS = 4
const QUERIES_PER_ROUND = 200
const SEARCH_P50_MS = 3
const SEARCH_P99_MS = 100
const PUTS = 200
const WORDS = 20_000
const CATEGORIES = 20
const TAGS = 300
const PROVIDERS = 5_000
const PAGE = 20
/** One to three words that listings hold, or the beginning of one. */
const SEARCH = 'one to three words or a prefix'

/** The section of the report: budgets are those of the design, at 100,000 listings. */
export async function catalog(): Promise<readonly Measured[]> {
  const { listings, buildMs, buildStallMs, fileMb, putP50Ms, queries } = await benchCatalog()
  const detail = `${listings} listings: built in ${buildMs} ms, longest stall ${buildStallMs} ms, ${fileMb} MB, put ${putP50Ms} ms`
  return Object.entries(queries).flatMap(([kind, { p50Ms, p99Ms }]) => {
    const isSearch = kind === SEARCH
    const budgetOf = (ms: number) => (isSearch ? { atMost: ms } : ({ informs: true } as const))
    return [
      {
        name: `catalog, ${kind}: p50`,
        values: p50Ms,
        unit: 'ms',
        budget: budgetOf(SEARCH_P50_MS),
        ...(isSearch ? { detail } : {}),
      },
      { name: `catalog, ${kind}: p99`, values: p99Ms, unit: 'ms', budget: budgetOf(SEARCH_P99_MS) },
    ]
  })
}

/** Measures the catalog table over listings whose words are as unevenly spread as those of a language. */
export async function benchCatalog({ listings = LISTINGS, seed = 1 } = {}): Promise<CatalogFigures> {
  const dir = await mkdtemp(join(tmpdir(), 'souk-catalog-'))
  const path = join(dir, 'catalog.db')
  const random = generator(seed)
  const docs = Array.from({ length: listings }, (_, n) => syntheticDoc(n, random))
  const table = await openCatalog({ path })
  try {
    const stall = watchLoop()
    const buildMs = round(await timed(() => table.rebuild(docs, listings)))
    const buildStallMs = round(stall())
    const puts = await times(PUTS, (n) => table.put(pick(docs, random), listings + n))
    const queries: Record<string, Rounds> = {}
    for (const [kind, make] of Object.entries(kinds(docs, random))) {
      const rounds: number[][] = []
      while (rounds.length < ROUNDS) rounds.push(await times(QUERIES_PER_ROUND, () => table.query(make())))
      queries[kind] = { p50Ms: rounds.map(at(0.5)), p99Ms: rounds.map(at(0.99)) }
    }
    const fileMb = round((await stat(path)).size / 2 ** 20)
    return { listings, buildMs, buildStallMs, fileMb, putP50Ms: at(0.5)(puts), queries }
  } finally {
    await table.close()
    await rm(dir, { recursive: true })
  }
}

type Random = () => number

/** Park and Miller's generator: the same listings in every run. */
function generator(seed: number): Random {
  let state = seed
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
}

const pick = <T>(from: readonly T[], random: Random): T => from[Math.floor(random() * from.length)] as T

/** Zipf: the word of rank r is about 1/r as frequent as the first. */
function word(random: Random): string {
  const rank = Math.floor(WORDS ** random())
  return `${'bdfgklmnprstvz'[rank % 14]}${'aeiou'[Math.floor(rank / 14) % 5]}${rank.toString(36)}`
}

const words = (from: number, to: number, random: Random) =>
  Array.from({ length: from + Math.floor(random() * (to - from)) }, () => word(random)).join(' ')

function syntheticDoc(n: number, random: Random): CatalogDoc {
  const provider = Math.floor(PROVIDERS * random() ** 2)
  const tags = Array.from({ length: 1 + Math.floor(random() * 4) }, () => `tag${Math.floor(TAGS * random() ** 2)}`)
  return {
    id: `svc_${n.toString(16).padStart(16, '0')}`,
    name: words(2, 6, random),
    tags: [...new Set(tags)],
    category: `category${Math.floor(CATEGORIES * random() ** 2)}`,
    description: words(20, 60, random),
    provider_id: `p_${provider.toString(16).padStart(16, '0')}`,
    provider_name: `provider ${provider}`,
    service_type: pick(['data_api', 'automated_service', 'human_service'], random),
    fulfillment_type: pick(['instant', 'automated', 'human'], random),
    payable: true,
    agent_price: random() < 0.05 ? null : BigInt(1 + Math.floor(100_000 * random() ** 3)) * 1_000n,
    verified: random() < 0.2,
    reputation: random() < 0.3 ? null : Math.round(random() * 1_000) / 10,
    listed_at: n * 1_000,
  }
}

/** What people ask for: words that listings hold, so common ones come often. */
function kinds(docs: readonly CatalogDoc[], random: Random): Record<string, () => CatalogQuery> {
  const page = () => ({ limit: PAGE, offset: Math.floor(random() ** 4 * 1_000) })
  const found = (count: number) => {
    const all = pick(docs, random).description.split(' ')
    return Array.from({ length: count }, () => pick(all, random)).join(' ')
  }
  const search = (q: string): CatalogQuery => ({ q, sort: 'relevance', limit: PAGE, offset: 0 })
  return {
    'one word': () => search(found(1)),
    'two words': () => search(found(2)),
    'three words': () => search(found(3)),
    prefix: () => search(found(1).slice(0, 3)),
    'commonest word': () => search(word(() => 0)),
    'word, filtered, by price': () => ({ ...search(found(1)), verified_only: true, sort: 'price_asc' }),
    [SEARCH]: () => search(pick([found(1), found(2), found(3), found(1).slice(0, 3)], random)),
    newest: () => ({ sort: 'newest', ...page() }),
    'category, by price': () => ({ category: pick(docs, random).category, sort: 'price_asc', ...page() }),
    dearest: () => ({ sort: 'price_desc', ...page() }),
    'tag, by reputation': () => ({ tag: pick(pick(docs, random).tags, random), sort: 'reputation', ...page() }),
    'provider, newest': () => ({ provider: pick(docs, random).provider_id, sort: 'newest', ...page() }),
    'price range, reputation': () => ({
      min_price: BigInt(Math.floor(random() * 1e6)),
      max_price: BigInt(Math.floor(random() * 1e8)),
      min_reputation: 50,
      sort: 'reputation',
      ...page(),
    }),
    'every filter': () => {
      const doc = pick(docs, random)
      const { category, service_type, fulfillment_type, provider_id: provider } = doc
      return { category, service_type, fulfillment_type, provider, sort: 'price_desc', ...page() }
    },
  }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}

async function times(count: number, work: (n: number) => Promise<unknown>): Promise<number[]> {
  const measured: number[] = []
  for (let n = 0; n < count; n += 1) measured.push(await timed(() => work(n)))
  return measured
}

function at(share: number): (measured: readonly number[]) => number {
  return (measured) => {
    const sorted = measured.toSorted((a, b) => a - b)
    return round(sorted[Math.floor(sorted.length * share)] as number) // share < 1, and something was measured
  }
}

/** @returns the longest time, until called, in which the event loop did not turn. */
function watchLoop(): () => number {
  let last = performance.now()
  let longest = 0
  let running = true
  const turn = () => {
    const now = performance.now()
    longest = Math.max(longest, now - last)
    last = now
    if (running) setImmediate(turn)
  }
  setImmediate(turn)
  return () => {
    running = false
    return longest
  }
}

function round(ms: number): number {
  return Math.round(ms * 100) / 100
}
