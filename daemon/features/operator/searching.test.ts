import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Escrow, openEscrow } from '../../../fixtures/market/escrow.ts'
import { jobIn } from '../../../fixtures/market/job-states.ts'
import type { Person } from '../../../fixtures/market/people.ts'
import * as lists from '../../../src/api/endpoint/list-fields.ts'
import { holdOrders, jobOrders } from '../../../src/api/endpoint/list-orders.ts'
import { api, endpointNames } from '../../../src/api/index.ts'
import { exampleOf, type ListFields, sortWords } from '../../../src/core/filter.ts'
import { amountOf } from '../../../src/core/money.ts'
import { account } from '../ledger/legs.ts'

const JOBS = '/dashboard/api/admin/jobs'

let escrow: Escrow
let ann: Person
let ben: Person
beforeAll(async () => {
  escrow = await openEscrow()
  ann = await escrow.agent()
  ben = await escrow.agent()
  for (const [status, buyer] of [
    ['dispatched', ann],
    ['disputed', ann],
    ['released', ben],
    ['failed', ben],
    ['dispatched', ben],
  ] as const)
    await jobIn(escrow, { status, buyer })
})
afterAll(() => escrow.close())

const ask = (path: string, query: Record<string, string>) =>
  escrow.market.admin('GET', `${path}?${new URLSearchParams(query)}`)

type Job = { id: string; status: string; buyer: { wallet: string }; amount: string; created_at: string }
const everyJob = async (): Promise<Job[]> => (await ask(JOBS, { limit: '100' })).body.jobs

/** Every list data of the administrator that can be searched, with its fields. */
const searchable = endpointNames.flatMap((name) => {
  const { query, path } = { query: undefined, ...api[name] }
  if (query === undefined || !('filter' in query.shape)) return []
  const sorts: readonly string[] = query.shape.sort.unwrap().options
  const own = sorts.filter((word) => !Object.hasOwn({ ...jobOrders, ...holdOrders }, word))
  const fields = Object.values<ListFields>(lists).find((one) => String(sortWords(one)) === String(own))
  return fields === undefined ? [] : [{ path, fields, sorts }]
})

test('lists of jobs, threads, people, listings, money, messages and acts can be searched', () => {
  expect(searchable.map(({ path }) => path.split('/').at(-1)).toSorted()).toEqual(
    [
      'holds',
      'jobs',
      'log',
      'participants',
      'payees',
      'payouts',
      'plans',
      'postings',
      'products',
      'subscriptions',
      'services',
      'threads',
      'verification',
      'webhooks',
    ].toSorted(),
  )
})

test.each(searchable)(
  '$path takes each of its fields, and names one that is wrong',
  async ({ path, fields, sorts }) => {
    for (const [name, field] of Object.entries(fields)) {
      const [, example = ''] = /like (\S+)/.exec(exampleOf(name, field)) ?? []
      const filter = example || (field.kind === 'choice' ? `${name}:${field.choices.join(',')}` : `${name}:yes`)
      const found = await ask(path, { filter })
      expect([filter, found.status, typeof found.body.searched?.of]).toEqual([filter, 200, 'number'])
    }
    for (const sort of sorts) expect([sort, (await ask(path, { sort })).status]).toEqual([sort, 200])
    const strange = await ask(path, { filter: 'colour:red' })
    expect([strange.status, strange.body.details[0].path]).toEqual([400, 'filter'])
    expect(strange.body.message).toContain(Object.keys(fields).join(', '))
    const unsorted = await ask(path, { sort: 'colour' })
    expect([unsorted.status, unsorted.body.details[0].path]).toEqual([400, 'sort'])
    expect((await ask(path, {})).body.searched).toBeUndefined()
  },
)

test('a filter counts over the whole list, and pages through what it found', async () => {
  const all = await everyJob()
  const own = all.filter(({ status, buyer }) => status === 'dispatched' && buyer.wallet === ben.account.address)
  const found = await ask(JOBS, { filter: `status:dispatched buyer:${ben.account.address}` })
  expect(found.body).toMatchObject({ total: own.length, jobs: own.map(({ id }) => ({ id })) })
  const pages = []
  for (let offset = 0; offset < all.length; offset += 2)
    pages.push(...(await ask(JOBS, { sort: '-status', limit: '2', offset: String(offset) })).body.jobs)
  expect(pages.map(({ status }) => status)).toEqual(
    all
      .map(({ status }) => status)
      .toSorted()
      .toReversed(),
  )
  expect(new Set(pages.map(({ id }) => id)).size).toBe(all.length)
})

test('whatever statuses are asked for, the same jobs are found as by looking at all of them', async () => {
  const all = await everyJob()
  const { choices } = lists.jobFields.status
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(fc.constantFrom(...choices), { minLength: 1, maxLength: 4 }),
      fc.boolean(),
      fc.constantFrom(undefined, ann, ben),
      async (statuses, not, buyer) => {
        const words = [`status:${not ? '!' : ''}${statuses}`, ...(buyer ? [`buyer:${buyer.id}`] : [])]
        const { body } = await ask(JOBS, { filter: words.join(' '), limit: '100' })
        const meant = all.filter(
          (job) => statuses.includes(job.status) !== not && (!buyer || job.buyer.wallet === buyer.account.address),
        )
        expect(new Set(body.jobs.map(({ id }: Job) => id))).toEqual(new Set(meant.map(({ id }) => id)))
        expect(body.total).toBe(meant.length)
      },
    ),
    { numRuns: 25 },
  )
})

test('a filter goes together with the party and the status that were asked for', async () => {
  const found = await ask(JOBS, { participant: ann.id, status: 'disputed', filter: 'age:<30d', sort: 'amount' })
  expect(found.body).toMatchObject({ total: 1, jobs: [{ status: 'disputed' }], searched: { rows: 1, of: 1 } })
  expect((await ask(JOBS, { role: 'buyer', filter: 'age:<1h' })).body.details[0].path).toBe('role')
})

test('what is held stands by when it moves, what waits for somebody before it, and what is worst stands first', async () => {
  const { holds, total } = (await ask('/dashboard/api/admin/holds', { sort: 'soonest', limit: '100' })).body
  const whole = (await ask('/dashboard/api/admin/holds', { limit: '100' })).body
  const nameOf = ({ account: name }: { account: string }) => name
  expect([total, holds.map(nameOf).toSorted()]).toEqual([whole.total, whole.holds.map(nameOf).toSorted()])
  expect(holds[0]).toMatchObject({ next_event: 'remind', job: { status: 'disputed' } })
  const times = holds.slice(1).map(({ next_event_at: at }: { next_event_at: string }) => at)
  expect(times).toEqual(times.toSorted())
  const { jobs } = (await ask(JOBS, { sort: 'worst', limit: '100' })).body
  expect(jobs[0].status).toBe('disputed')
  expect(jobs.slice(-2).map(({ status }: Job) => status)).toEqual(['failed', 'released'])
})

test('who looks through conversations is written down with what was looked for', async () => {
  await ask('/dashboard/api/admin/threads', { filter: 'age:<1h', sort: 'age' })
  const { body } = await ask('/dashboard/api/admin/log', { filter: 'act:thread.list', limit: '1' })
  expect(body.acts).toMatchObject([{ act: 'thread.list', detail: { filter: 'age:<1h', sort: 'age' } }])
})

type Payee = { participant_id: string; due: string; paid: string; earned: string; held: string }

test('every seller is a payee once: what is due to it is what its account holds, and with what was paid all it earned', async () => {
  await jobIn(escrow, { status: 'verified', buyer: ann })
  await escrow.monitor()
  const { payees } = (await ask('/dashboard/api/admin/payees', { limit: '100', sort: '-due' })).body
  const { body } = await ask('/dashboard/api/admin/participants', { limit: '100', filter: 'type:provider,both' })
  expect(payees.length).toBeGreaterThan(0)
  expect(payees.some(({ earned }: Payee) => amountOf(earned) > 0n)).toBe(true)
  expect(payees.some(({ held }: Payee) => amountOf(held) > 0n)).toBe(true)
  const dues = []
  for (const { participant_id: id, due, paid, earned } of payees as Payee[]) {
    expect(body.participants.map((one: { id: string }) => one.id)).toContain(id)
    expect(amountOf(due)).toBe(await escrow.booked(account.provider(id)))
    expect(amountOf(earned)).toBe(amountOf(due) + amountOf(paid))
    dues.push(amountOf(due))
  }
  expect(dues).toEqual(dues.toSorted((a, b) => Number(b - a)))
  expect(new Set(payees.map(({ participant_id: id }: Payee) => id)).size).toBe(payees.length)
})
