import fc from 'fast-check'
import { expect, test } from 'vitest'
import { jobDraft } from '../../../fixtures/kit/rows.ts'
import { MAX_SEARCHED_ROWS, parseFilter } from '../../../src/core/filter.ts'
import { DAY_MS } from '../../../src/core/time.ts'
import { type JobStatus, jobStatuses } from '../../../src/model/job.ts'
import { nextMembers } from '../../kernel/machine.ts'
import { participants } from '../../kernel/rows.ts'
import { openMemoryStore } from '../../store/memory/open.testkit.ts'
import type { Collection, Draft, Reader, Row, Store } from '../../store/port.ts'
import { nextOf } from '../jobs/job-deadlines.ts'
import { isEnd } from '../jobs/machine.ts'
import { type JobRow, jobParties, jobs } from '../jobs/rows.ts'
import { isLate } from '../jobs/view.ts'
import { jobList } from './party-facts.ts'
import { partyPage } from './party-page.ts'

// @slow a hundred thousand jobs

const NOW = 100 * DAY_MS

type Drawn = {
  readonly status: JobStatus
  readonly created: number
  readonly deadline: number | null
  readonly estimate: number | null
}

/** As the machine leaves a job in this state; one without a deadline waits for nothing. */
function draftOf({ status, created, deadline, estimate }: Drawn, number: number): Draft<JobRow> {
  const dispute = null
  const at = { status, created_at: created, deadline_at: deadline, estimate_ms: estimate, dispute }
  const next = nextOf({ ...at, service_type: 'human_service' }, created)
  const ended = isEnd(status) ? { ended_at: created, ended_by: 'system' as const } : { ended_at: null, ended_by: null }
  return { ...jobDraft(number, { buyer: 0, provider: 1 }), ...at, ...ended, open: next !== null, ...nextMembers(next) }
}

async function storeOf(drawn: readonly Drawn[]): Promise<Store> {
  const store = openMemoryStore([jobs, jobParties, participants], { freeze: false })
  await store.tx(async (t) => {
    for (const [number, one] of drawn.entries()) await t.table(jobs).insert(draftOf(one, number))
  })
  return store
}

/** The order in plain words of the rows themselves, without what serves it. */
function plainly(rows: readonly JobRow[]): string[] {
  const due = ({ next_event_at: at }: JobRow) => at ?? Number.POSITIVE_INFINITY
  const byDue = (some: readonly JobRow[]) =>
    some.toSorted((a, b) => {
      if (due(a) === due(b)) return a.id.localeCompare(b.id)
      return due(a) < due(b) ? -1 : 1
    })
  const disputed = rows.filter(({ status }) => status === 'disputed')
  const late = rows.filter((job) => isLate(job, NOW))
  const ended = rows.filter(({ status }) => isEnd(status))
  const calm = rows.filter((job) => ![...disputed, ...late, ...ended].includes(job))
  const newest = ended.toSorted((a, b) => b.created_at - a.created_at || b.id.localeCompare(a.id))
  return [...byDue(disputed), ...byDue(late), ...byDue(calm), ...newest].map(({ id }) => id)
}

type Slice = readonly [limit: number, offset: number]

const look = (store: Pick<Store, 'read' | 'table'>, text: string, [limit, offset]: Slice) => {
  const list = jobList({ table: (of) => store.table(of) }, NOW)
  const parsed = parseFilter(text, list.fields)
  if (!parsed.ok) throw new Error(parsed.problem)
  return partyPage(store, list, { filter: parsed.filter, sort: 'worst', limit, offset, now: NOW })
}

const drawn = fc.record({
  status: fc.constantFrom(...jobStatuses),
  created: fc.integer({ min: NOW - 9, max: NOW - 1 }),
  deadline: fc.option(fc.integer({ min: NOW - 5, max: NOW + 5 })),
  estimate: fc.option(fc.integer({ min: 1, max: 9 })),
})

test('whatever jobs there are, page after page has the worst first, each job once', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(drawn, { maxLength: 40 }), fc.integer({ min: 1, max: 9 }), async (some, limit) => {
      const store = await storeOf(some)
      const { rows } = await store.table(jobs).page('newest', [], { limit: 1_000 })
      const found: string[] = []
      for (let offset = 0; offset < some.length + limit; offset += limit) {
        const page = await look(store, '', [limit, offset])
        expect([page.total, page.searched]).toEqual([some.length, { rows: some.length, of: some.length }])
        found.push(...page.rows.map(({ id }) => id))
      }
      expect(found).toEqual(plainly(rows))
      for (const [text, passes] of [
        ['open:yes', ({ status }: JobRow) => !isEnd(status)],
        ['late:yes', (job: JobRow) => isLate(job, NOW)],
        ['status:disputed,failed', ({ status }: JobRow) => status === 'disputed' || status === 'failed'],
      ] as const) {
        const page = await look(store, text, [100, 0])
        expect([text, page.rows.map(({ id }) => id)]).toEqual([text, plainly(rows.filter(passes))])
        expect(page.total).toBe(page.rows.length)
      }
      await store.close()
    }),
  )
})

/** The same store, with the rows counted that are read from it. */
function counted(store: Store): { readonly store: Pick<Store, 'read' | 'table'>; readonly read: () => number } {
  let read = 0
  const table = <R extends Row>(collection: Collection<R>): Reader<R> => {
    const reader = store.table(collection)
    return {
      get: (key) => reader.get(key),
      getMany: (keys) => reader.getMany(keys),
      count: (index, prefix) => reader.count(index, prefix),
      async page(index, prefix, query) {
        const page = await reader.page(index, prefix, query)
        read += page.rows.length
        return page
      },
    }
  }
  return { store: { table, read: () => Promise.reject(new Error('a sorted list reads row by row')) }, read: () => read }
}

const calm = { status: 'released', created: NOW - DAY_MS, deadline: null, estimate: null } as const
const open = { status: 'dispatched', created: NOW, deadline: NOW + DAY_MS, estimate: null } as const

test('a page over a hundred thousand jobs looks at the few that are open, and at no more of the others than it shows', async () => {
  const [many, few, limit] = [100_000, 300, 50]
  const ended = Array.from({ length: many - few }, (_, n): Drawn => ({ ...calm, created: calm.created + n }))
  const store = await storeOf([...ended, ...Array.from({ length: few }, () => open)])
  const { store: watched, read } = counted(store)
  const first = await look(watched, '', [limit, 0])
  expect([first.total, first.rows.length]).toEqual([many, limit])
  expect(read()).toBe(few)
  const next = await look(watched, '', [limit, few])
  expect(next.rows.every(({ status }) => status === 'released')).toBe(true)
  expect(read()).toBeLessThan(4 * few + 1_000)
  await store.close()
})

test('more open jobs than are looked at are told, and those that are due soonest are shown', async () => {
  const count = MAX_SEARCHED_ROWS + 3
  const store = await storeOf([
    calm,
    ...Array.from({ length: count }, (_, n) => ({ ...open, deadline: NOW + count - n })),
  ])
  const { rows, total, searched } = await look(store, '', [1, 0])
  expect(rows).toMatchObject([{ deadline_at: NOW + 1 }])
  expect([total, searched]).toEqual([MAX_SEARCHED_ROWS + 1, { rows: MAX_SEARCHED_ROWS + 1, of: count + 1 }])
  const last = await look(store, '', [5, MAX_SEARCHED_ROWS])
  expect(last.rows).toMatchObject([{ status: 'released' }])
  await store.close()
})
