import { closeSync, existsSync, openSync, statSync, writeFileSync, writeSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { postingDraft } from '../../../fixtures/kit/rows.ts'
import { usdc } from '../../../src/core/money.ts'
import { postingStatuses } from '../../../src/model/words.ts'
import { collections } from '../../app.ts'
import { termsOf } from '../../store/fulltext/terms.ts'
import { openMemoryStore } from '../../store/memory/open.testkit.ts'
import type { Store } from '../../store/port.ts'
import { type PostingRow, postings } from './rows.ts'
import { MAX_RANKED, openPostingSearch, type PostingQuery, type PostingSearch } from './search.ts'

let folder: string
let path: string
let store: Store
const faults: unknown[] = []
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'souk-postings-'))
  path = join(folder, 'postings.db')
  store = openMemoryStore(collections)
  faults.length = 0
})
afterEach(() => rm(folder, { recursive: true }))

const open = (at = path): Promise<PostingSearch> =>
  openPostingSearch({ store, path: at, onFault: (error) => faults.push(error) })

const insert = (rows: readonly Partial<PostingRow>[], from = 1) =>
  store.tx(async (t) => {
    for (const [at, row] of rows.entries()) await t.table(postings).insert({ ...postingDraft(from + at), ...row })
  })

const change = (number: number, patch: Partial<PostingRow>) =>
  store.tx(async (t) => {
    const row = await t.table(postings).getForUpdate(postingDraft(number).id)
    if (row) await t.table(postings).put({ ...row, ...patch })
  })

type Hiding = { readonly number: number; readonly isHidden: boolean }

async function hide(hidings: readonly Hiding[]): Promise<void> {
  for (const { number, isHidden } of hidings) {
    await store.tx(async (t) => {
      const row = await t.table(postings).getForUpdate(postingDraft(number).id)
      if (!row) return
      const { poster_suspended: _was, ...shown } = row
      await t.table(postings).put(isHidden ? { ...shown, poster_suspended: true } : shown)
    })
  }
}

const page = { now: 0, limit: 100, offset: 0 }
const numbers = ({ ids }: { ids: readonly string[] }) => ids.map((id) => Number.parseInt(id.slice(-8), 16))

const word = fc.constantFrom('boat', 'paper', 'Fold', 'crane', 'Größe')
const posting = fc.record({
  title: fc.array(word, { minLength: 1, maxLength: 3 }).map((words) => words.join(' ')),
  brief: fc.record({ deep: fc.array(word, { maxLength: 2 }) }),
  category: fc.constantFrom('a', 'b'),
  status: fc.constantFrom(...postingStatuses),
  budget_max: fc.bigInt(1n, 5n).map(usdc),
  created_at: fc.integer({ min: 0, max: 5 }),
  expires_at: fc.integer({ min: 0, max: 5 }),
})
/** What is out of sight while its poster is suspended. */
const hiding = fc.array(fc.record({ number: fc.integer({ min: 1, max: 20 }), isHidden: fc.boolean() }), {
  maxLength: 8,
})
const query = fc.record(
  {
    status: fc.constantFrom(...postingStatuses),
    category: fc.constantFrom('a', 'b', 'c'),
    q: fc
      .array(fc.constantFrom('boat', 'paper', 'grosse', 'GRÖSSE', 'cra'), { minLength: 1, maxLength: 2 })
      .map((all) => all.join(' ')),
    created_after: fc.integer({ min: 0, max: 5 }),
    min_budget: fc.bigInt(1n, 5n),
    max_budget: fc.bigInt(1n, 5n),
    after: fc.integer({ min: 0, max: 30 }),
    now: fc.integer({ min: 0, max: 6 }),
  },
  { requiredKeys: ['now'] },
)

function matches(row: PostingRow, asked: Asked): boolean {
  const status = row.status === 'open' && row.expires_at <= asked.now ? 'expired' : row.status
  const words = termsOf(`${row.title} ${row.category} ${JSON.stringify(Object.values(row.brief))}`)
  const terms = asked.q === undefined ? [] : [...new Set(termsOf(asked.q))]
  const isFound = terms.every((term, at) =>
    words.some((one) => (at === terms.length - 1 ? one.startsWith(term) : one === term)),
  )
  return [
    !row.poster_suspended,
    isFound,
    asked.status === undefined || status === asked.status,
    asked.category === undefined || row.category === asked.category,
    asked.created_after === undefined || row.created_at > asked.created_after,
    asked.min_budget === undefined || row.budget_max >= asked.min_budget,
    asked.max_budget === undefined || row.budget_max <= asked.max_budget,
  ].every(Boolean)
}

type Asked = Omit<PostingQuery, 'limit' | 'offset'>

/** That the table answers a query as a walk over all rows does. */
function compare(search: PostingSearch, all: readonly PostingRow[], { after, ...one }: Asked): void {
  const expected = all.filter((row) => matches(row, one)).map(({ number }) => number)
  const found = search.query({ ...page, ...one })
  const inOrder = one.q === undefined ? numbers(found) : numbers(found).sort((a, b) => a - b)
  expect([one, inOrder, found.total]).toEqual([one, expected, expected.length])
  if (one.q !== undefined) return
  const rest = search.query({ ...page, ...one, after })
  expect(numbers(rest)).toEqual(expected.filter((number) => number > (after ?? 0)))
}

test('answers what a walk over all rows would, whether they were there before it or came and changed later', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(posting, { maxLength: 20 }),
      fc.array(query, { maxLength: 8 }),
      fc.record({ early: fc.nat(20), hidings: hiding }),
      async (rows, asked, { early, hidings }) => {
        store = openMemoryStore(collections)
        await insert(rows.slice(0, early))
        const search = await open(':memory:')
        await insert(rows.slice(early), early + 1 > rows.length ? rows.length + 1 : early + 1)
        await hide(hidings)
        if (rows.length > 0) await change(1, { status: 'cancelled', open: false })
        const all = (await store.table(postings).page('number', [], { limit: 100 })).rows
        for (const one of asked) compare(search, all, one)
        await search.close()
      },
    ),
    { numRuns: 40 },
  )
})

test('more matches than are ranked come whole, page by page, each once', async () => {
  const count = MAX_RANKED + 300
  await insert(Array.from({ length: count }, () => ({ title: 'common words' })))
  const search = await open()
  const seen = []
  for (let offset = 0; offset < count + 100; offset += 90) {
    const found = search.query({ ...page, q: 'common', limit: 90, offset })
    expect(found.total).toBe(count)
    seen.push(...found.ids)
  }
  expect([seen.length, new Set(seen).size]).toEqual([count, count])
  await search.close()
})

describe('the file', () => {
  const found = (search: PostingSearch) => numbers(search.query({ ...page, q: 'needle' })).sort()

  /** What only somebody else would do: it stays until the table is made anew. */
  function tamper(): void {
    const db = new DatabaseSync(path)
    db.exec('delete from doc where n = 1')
    db.close()
  }

  test('is kept over a stop in order, and made anew after any other end', async () => {
    await insert([{ title: 'needle' }, { title: 'a second needle' }])
    await (await open()).close()
    tamper()
    const kept = await open()
    expect(found(kept)).toEqual([2])
    // It is left as it is, as by a process that dies.
    const fresh = await open()
    expect(found(fresh)).toEqual([1, 2])
    await fresh.close()
    tamper()
    await insert([{ title: 'needle that it did not see' }], 3)
    const late = await open()
    expect(found(late)).toEqual([1, 2, 3])
    await late.close()
  })

  test.each<[string, () => void]>([
    ['is no database', () => writeFileSync(path, 'not a database, but long enough to be looked at '.repeat(100))],
    ['is gone', () => undefined],
  ])('that %s is made anew', async (_, spoil) => {
    await insert([{ title: 'needle' }])
    spoil()
    const search = await open()
    expect([found(search), existsSync(path), faults]).toEqual([[1], true, []])
    await search.close()
  })

  test('that turns out damaged is refused, then made anew, and no posting is missing', async () => {
    const rows = Array.from({ length: 2_000 }, (_, at) => ({
      title: `needle in stack ${at}`,
      brief: { text: `hay ${at}`.repeat(20) },
    }))
    for (let from = 0; from < rows.length; from += 1_000) await insert(rows.slice(from, from + 1_000), from + 1)
    await (await open()).close()
    const search = await open()
    overwrite(path)
    expect(() => {
      for (let at = 0; at < rows.length; at += 1) search.query({ ...page, q: `stack ${at}` })
    }).toThrow(expect.objectContaining({ code: 'unavailable' }))
    expect(faults).toHaveLength(1)
    await insert([{ title: 'needle that came meanwhile' }], rows.length + 1)
    await untilAnswered(() => search.query({ ...page, q: 'needle' }))
    expect(search.query({ ...page, q: 'needle' }).total).toBe(rows.length + 1)
    await search.close()
  })
})

/** Everything but the head of a file. */
function overwrite(file: string): void {
  const keep = 64 * 1024
  const junk = Buffer.alloc(statSync(file).size - keep, 0xff)
  const handle = openSync(file, 'r+')
  writeSync(handle, junk, 0, junk.length, keep)
  closeSync(handle)
}

async function untilAnswered(ask: () => unknown): Promise<void> {
  for (;;) {
    try {
      ask()
      return
    } catch {
      // It is being made anew.
      await new Promise((done) => setImmediate(done))
    }
  }
}
