import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Person, registered } from '../../../fixtures/market/people.ts'
import { openRequests, type Requests } from '../../../fixtures/market/postings.ts'
import { postings } from './rows.ts'

/* `GET /v1/postings`: what a reader sees of a list that others write to. */

let requests: Requests
let writers: Person[]
beforeAll(async () => {
  requests = await openRequests()
  writers = [requests.poster, await requests.market.agent(), await requests.market.agent()]
})
afterAll(() => requests.close())

type Page = { postings: { id: string; status: string; title: string }[]; total: number; next_cursor: string | null }

async function list(query: Record<string, string | number> = {}): Promise<Page> {
  const text = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
  const answer = await requests.market.market.call('GET', `/v1/postings?${text.join('&')}`)
  if (answer.status !== 200) throw new Error(answer.text)
  return answer.body
}

/** Reads on from a cursor until nothing is left. */
async function drain(from: string, seen: string[], limit: number): Promise<string> {
  let cursor = from
  for (;;) {
    const page = await list({ cursor, limit })
    seen.push(...page.postings.map(({ id }) => id))
    expect(page.next_cursor).not.toBeNull()
    cursor = page.next_cursor as string
    if (page.postings.length === 0) return cursor
  }
}

/** One writer's work: it posts, and some of its postings it cancels, or they are bid on. */
const work = fc.array(fc.constantFrom('post', 'post', 'post', 'cancel', 'bid'), { maxLength: 12 })
const plan = fc.record({
  writers: fc.tuple(work, work, work),
  /** Page sizes of the poller, while the others write. */
  limits: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 12 }),
})

async function write(who: Person, acts: readonly string[]): Promise<string[]> {
  const made: string[] = []
  for (const act of acts) {
    const last = made.at(-1)
    if (act === 'post') made.push(await requests.post({}, who))
    // Both may be refused, where it was cancelled before: they only have to move the row.
    else if (last && act === 'cancel') await who.call('POST', `/v1/postings/${last}/cancel`)
    else if (last) await requests.market.provider.call('POST', `/v1/postings/${last}/bids`, bidBody())
  }
  for (const id of made) await who.call('POST', `/v1/postings/${id}/cancel`)
  return made
}

const bidBody = () => ({ price_usd: 1, eta_hours: 1, service_id: requests.service })

test('a poller sees each posting once and in order, whatever is written meanwhile', async () => {
  let start = await drain('0', [], 100)
  await fc.assert(
    fc.asyncProperty(plan, async ({ writers: works, limits }) => {
      const seen: string[] = []
      let cursor = start
      let isWriting = true
      const writing = Promise.all(works.map((acts, at) => write(writers[at] as Person, acts))).finally(() => {
        isWriting = false
      })
      for (let turn = 0; isWriting; turn += 1) {
        const page = await list({ cursor, limit: limits[turn % limits.length] as number })
        seen.push(...page.postings.map(({ id }) => id))
        cursor = page.next_cursor as string
      }
      const made = (await writing).flat()
      start = await drain(cursor, seen, 100)
      const rows = await requests.market.ctx().store.table(postings).getMany(made)
      const inOrder = rows.toSorted((a, b) => a.number - b.number).map(({ id }) => id)
      expect(seen).toEqual(inOrder)
    }),
    { numRuns: 10 },
  )
})

describe('the list', () => {
  let ids: string[]
  let other: Person
  beforeAll(async () => {
    other = await registered(requests.market.market, { type: 'agent' })
    ids = []
    for (const change of [
      { title: 'Fold a paper boat', category: 'origami', budget_max_usd: 5 },
      { title: 'Fold a crane', category: 'origami', budget_max_usd: 15, brief: { note: 'zweihundert Kraniche' } },
      { title: 'Paint a boat', category: 'painting', budget_max_usd: 15 },
    ]) {
      ids.push(await requests.post(change, other))
    }
    await other.call('POST', `/v1/postings/${ids[2]}/cancel`)
  })
  const [boat, crane, paint] = [0, 1, 2]
  const found = async (query: Record<string, string | number>) =>
    (await list({ ...query, limit: 100 })).postings.map(({ id }) => ids.indexOf(id)).filter((at) => at >= 0)

  test.each<[Record<string, string | number>, number[]]>([
    [{ category: 'origami' }, [boat, crane]],
    [{ category: 'origami', status: 'cancelled' }, []],
    [{ category: 'painting', status: 'cancelled' }, [paint]],
    [{ category: 'origami', max_budget_usd: 5 }, [boat]],
    [{ category: 'origami', min_budget_usd: '5.01' }, [crane]],
    [{ q: 'kraniche' }, [crane]],
    [{ q: 'bo fold' }, []],
    [{ q: 'fold bo' }, [boat]],
    [{ q: 'boat', status: 'open' }, [boat]],
    [{ q: 'boat', category: 'painting' }, [paint]],
    [{ q: '"!?' }, []],
    [{ category: "origami' or 1=1 --" }, []],
  ])('%j', async (query, expected) => {
    expect(await found(query)).toEqual(expected)
  })

  test('finds what was made after a time, with an offset too', async () => {
    const first = await requests.posting(ids[0] as string)
    const time = new Date(first.created_at)
    expect(await found({ created_after: time.toISOString(), category: 'origami' })).toEqual(
      first.created_at === (await requests.posting(ids[1] as string)).created_at ? [] : [crane],
    )
    const before = new Date(first.created_at - 1).toISOString().replace('Z', '+00:00')
    expect(await found({ created_after: before, category: 'origami' })).toEqual([boat, crane])
  })

  test('pages by offset and by cursor alike, with the whole number of what matches', async () => {
    const query = { category: 'origami', limit: 1 }
    const one = await list(query)
    expect([one.total, one.postings[0]?.id]).toEqual([2, ids[0]])
    const byOffset = await list({ ...query, offset: 1 })
    const byCursor = await list({ ...query, cursor: one.next_cursor as string })
    expect(byOffset.postings).toEqual(byCursor.postings)
    expect(byCursor.next_cursor).toBe(byOffset.next_cursor)
    const end = await list({ ...query, cursor: byCursor.next_cursor as string })
    expect([end.postings, end.total, end.next_cursor]).toEqual([[], 2, byCursor.next_cursor])
    expect((await list({ category: 'none such' })).next_cursor).toBe('0')
  })

  test('in a search goes by relevance: a word in the title before one further down, and no cursor', async () => {
    const inBrief = await requests.post({ title: 'Anything', brief: { text: 'a quokka' }, category: 'zoo' }, other)
    const inTitle = await requests.post({ title: 'Quokka wanted', category: 'zoo' }, other)
    const { postings: hits, next_cursor, total } = await list({ q: 'quokka' })
    expect([hits.map(({ id }) => id), next_cursor, total]).toEqual([[inTitle, inBrief], null, 2])
    expect((await list({ q: 'quokka', limit: 1, offset: 1 })).postings[0]?.id).toBe(inBrief)
  })

  test.each([
    ['q=boat&cursor=1', 'cursor'],
    ['cursor=x', 'cursor'],
    ['cursor=-1', 'cursor'],
    ['cursor=1&offset=1', 'cursor'],
    ['status=sold', 'status'],
    ['created_after=today', 'created_after'],
    ['min_budget_usd=cheap', 'min_budget_usd'],
    ['limit=101', 'limit'],
  ])('?%s is a 400 that names the parameter', async (query, path) => {
    const answer = await requests.market.market.call('GET', `/v1/postings?${query}`)
    expect([answer.status, answer.body.details?.[0].path]).toEqual([400, path])
  })

  test('is the same after a restart', async () => {
    const before = await list({ limit: 100 })
    const search = await list({ q: 'boat' })
    await requests.market.market.restart()
    expect(await list({ limit: 100 })).toEqual(before)
    expect(await list({ q: 'boat' })).toEqual(search)
    expect(await list({ limit: 1, offset: before.total - 1 })).toMatchObject({ total: before.total })
  })
})
