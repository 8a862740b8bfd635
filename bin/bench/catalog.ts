import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openCatalog } from '../../daemon/features/catalog/search/catalog.ts'
import type { CatalogDoc, CatalogQuery } from '../../daemon/features/catalog/search/select.ts'
import { type Measured, quantile } from './report.ts'

const LISTINGS = 100_000
const ROUNDS = 4
const QUERIES_PER_ROUND = 200
const SEARCH_P50_MS = 3
const SEARCH_P99_MS = 100
const WORDS = 20_000
const CATEGORIES = 20
const TAGS = 300
const PROVIDERS = 5_000
const PAGE = 20

/** Searches of a catalog whose words are as unevenly spread as those of a language. */
export async function catalog(): Promise<readonly Measured[]> {
  const dir = await mkdtemp(join(tmpdir(), 'souk-catalog-'))
  const random = generator(1)
  const docs = Array.from({ length: LISTINGS }, (_, n) => syntheticDoc(n, random))
  const table = await openCatalog(join(dir, 'catalog.db'), LISTINGS, () => docs)
  try {
    const rounds: number[][] = []
    while (rounds.length < ROUNDS) rounds.push(await times(QUERIES_PER_ROUND, () => table.query(search(docs, random))))
    const name = `search of ${LISTINGS} listings by one to three words or a prefix`
    return [
      {
        name: `${name}: p50`,
        values: rounds.map((round) => quantile(round, 0.5)),
        unit: 'ms',
        budget: { atMost: SEARCH_P50_MS },
      },
      {
        name: `${name}: p99`,
        values: rounds.map((round) => quantile(round, 0.99)),
        unit: 'ms',
        budget: { atMost: SEARCH_P99_MS },
      },
    ]
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

/** One to three words that listings hold, or the beginning of one: common words come often. */
function search(docs: readonly CatalogDoc[], random: Random): CatalogQuery {
  const all = pick(docs, random).description.split(' ')
  const found = (count: number) => Array.from({ length: count }, () => pick(all, random)).join(' ')
  const q = pick([found(1), found(2), found(3), found(1).slice(0, 3)], random)
  return { q, sort: 'relevance', limit: PAGE, offset: 0 }
}

async function times(count: number, work: () => Promise<unknown>): Promise<number[]> {
  const measured: number[] = []
  for (let n = 0; n < count; n += 1) {
    const start = performance.now()
    await work()
    measured.push(performance.now() - start)
  }
  return measured
}
