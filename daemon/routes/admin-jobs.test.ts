import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Escrow, openEscrow } from '../../fixtures/escrow.ts'
import { jobIn } from '../../fixtures/job-states.ts'
import type { Person } from '../../fixtures/people.ts'

const path = '/dashboard/api/admin/jobs'
const reason = { reason: 'the provider is gone' }

let market: Escrow
let ann: Person
let ben: Person
const ids: Record<'first' | 'second' | 'third', string> = { first: '', second: '', third: '' }
beforeAll(async () => {
  market = await openEscrow()
  ann = await market.agent()
  ben = await market.agent()
  ids.first = (await jobIn(market, { status: 'dispatched', buyer: ann })).id
  ids.second = (await jobIn(market, { status: 'disputed', buyer: ann })).id
  ids.third = (await jobIn(market, { status: 'dispatched', buyer: ben })).id
})
afterAll(() => market.close())

test('lists all jobs, newest first, by status, party and role, a slice at a time', async () => {
  const found = async (query: string) => {
    const { body } = await market.market.admin('GET', `${path}?${query}`)
    return [body.total, new Set(body.jobs.map((job: { id: string }) => job.id))]
  }
  const { first, second, third } = ids
  expect(await found('')).toEqual([3, new Set([first, second, third])])
  expect(await found('status=dispatched')).toEqual([2, new Set([first, third])])
  expect(await found(`participant=${ann.id}`)).toEqual([2, new Set([first, second])])
  expect(await found(`participant=${ann.account.address}&status=disputed`)).toEqual([1, new Set([second])])
  expect(await found(`participant=${market.provider.id}&role=provider&limit=2`)).toEqual([3, new Set([third, second])])
  expect(await found(`participant=${market.provider.id}&role=buyer`)).toEqual([0, new Set()])
  expect((await found('limit=1&offset=2'))[0]).toBe(3)
  const { body } = await market.market.admin('GET', `${path}?status=disputed`)
  expect(body.jobs[0]).toMatchObject({ id: second, dispute: { status: 'open' }, escrow: { next_event: 'resolve' } })
})

test.each(['status=lost', 'role=buyer', 'participant=nobody', 'limit=0'])(
  '?%s is a 400 that names it',
  async (query) => {
    const refused = await market.market.admin('GET', `${path}?${query}`)
    expect([refused.status, refused.body.details[0].path]).toEqual([400, query.split('=')[0]])
  },
)

test('acts are for administrators, who say why, and are written down', async () => {
  const act = `${path}/${ids.third}/emergency-withdraw`
  expect((await ann.call('POST', act, reason)).status).toBe(401)
  expect((await market.market.admin('POST', act, { body: {} })).status).toBe(400)
  expect((await market.market.admin('POST', act, { body: { reason: ' ' } })).status).toBe(400)
  const withdrawn = await market.market.admin('POST', act, { body: reason })
  expect([withdrawn.status, withdrawn.body.status, withdrawn.body.escrow.status]).toEqual([200, 'refunded', 'refunded'])
  const ruled = await market.market.admin('POST', `${path}/${ids.second}/resolve`, {
    body: { ...reason, outcome: 'split', buyer_amount: '0.25' },
  })
  expect(ruled.body.dispute).toMatchObject({ resolution: 'split', buyer_amount: '0.25' })
  const log = await market.market.admin('GET', '/dashboard/api/admin/log')
  expect(log.body.acts.slice(0, 2)).toMatchObject([
    {
      act: 'job.resolve',
      subject: { kind: 'job', id: ids.second },
      detail: { outcome: 'split', buyer_amount: '0.25' },
    },
    { act: 'job.withdraw', subject: { kind: 'job', id: ids.third }, ...reason },
  ])
  expect(await market.faults()).toEqual([])
})

test('a withdrawal of a disputed hold decides the dispute for the buyer', async () => {
  const { id } = await jobIn(market, { status: 'disputed', buyer: ben })
  const { body } = await market.market.admin('POST', `${path}/${id}/emergency-withdraw`, { body: reason })
  expect([body.status, body.dispute.status, body.dispute.resolution]).toEqual(['refunded', 'resolved', 'refund'])
})
