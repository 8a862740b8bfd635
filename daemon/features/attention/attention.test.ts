import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Escrow, openEscrow } from '../../../fixtures/market/escrow.ts'
import { DAY_MS, HOUR_MS } from '../../../src/core/time.ts'
import type { AttentionKind } from '../../../src/model/words.ts'
import { commit } from '../../store/draw.ts'
import { services } from '../listings/rows.ts'
import { TEST_TYPE } from '../webhooks/health.ts'
import { enqueue } from '../webhooks/queue.ts'
import { deliveries } from '../webhooks/rows.ts'
import { deliveryWorker } from '../webhooks/worker.ts'

// @story one marketplace whose problems come and go

/* Trouble is told as long as it lasts, and no longer. */

let market: Escrow
beforeAll(async () => {
  market = await openEscrow({}, { crons: false })
})
afterAll(() => market.close())

type Item = {
  kind: AttentionKind
  grave: boolean
  subject: { id: string }
  amount: string | null
  fix: string
  sentence: string
}

async function look(): Promise<{ items: Item[]; counts: Partial<Record<AttentionKind, number>>; total: number }> {
  const { status, body } = await market.market.admin('GET', '/dashboard/api/admin/attention')
  expect(status).toBe(200)
  return body
}
const of = async (kind: AttentionKind) => (await look()).items.filter((item) => item.kind === kind)

test('a market without trouble says so', async () => {
  expect((await look()).items.filter(({ kind }) => kind !== 'cron')).toEqual([])
})

test('a dispute is told with its money until it is decided, and by a command that decides nothing', async () => {
  const who = await market.agent()
  const bought = await market.buy(await market.list('human'), who)
  const { job_id: id } = bought.body
  const done = { status: 'completed', deliverables: { words: 3 } }
  expect((await market.provider.call('POST', `/v1/jobs/${id}/update`, done)).status).toBe(200)
  const complaint = { reason: 'three is wrong', category: 'other' }
  const disputed = await who.pay(`/v1/jobs/${id}/dispute`, { body: complaint })
  expect([disputed.status, disputed.text]).toEqual([200, expect.any(String)])
  expect(await of('dispute')).toMatchObject([
    { grave: true, subject: { id }, amount: '0.525', fix: `souk admin jobs bundle ${id}` },
  ])
  const ruled = await market.market.admin('POST', `/dashboard/api/admin/jobs/${id}/resolve`, {
    body: { outcome: 'refund', reason: 'so it is' },
  })
  expect(ruled.status).toBe(200)
  expect(await of('dispute')).toEqual([])
})

test('a job past its promise is overdue in attention, in the list of jobs and in the river alike', async () => {
  const { body } = await market.buy(await market.list('human'), await market.agent())
  const admin = async (path: string) => (await market.market.admin('GET', `/dashboard/api/admin/${path}`)).body
  const all = async () => [
    (await of('overdue')).map(({ subject }) => subject.id),
    (await admin('jobs?filter=late:yes')).jobs.map(({ id }: { id: string }) => id),
    (await admin('river')).overdue,
  ]
  expect(await all()).toEqual([[], [], '0.00'])
  market.pass(2 * HOUR_MS)
  expect(await all()).toEqual([[body.job_id], [body.job_id], '0.525'])
  const [overdue] = await of('overdue')
  expect(overdue).toMatchObject({ grave: true, amount: '0.525' })
  await market.market.admin('POST', `/dashboard/api/admin/jobs/${body.job_id}/emergency-withdraw`, {
    body: { reason: 'late' },
  })
  expect(await all()).toEqual([[], [], '0.00'])
})

test('a step that is due and not taken is told, and gone once the monitor ran', async () => {
  const bought = await market.buy(await market.list('automated'), await market.agent())
  expect(await of('stuck')).toEqual([])
  market.pass(3 * DAY_MS)
  expect(await of('stuck')).toMatchObject([
    { subject: { id: bought.body.job_id }, fix: 'souk crons run escrow-monitor' },
  ])
  await market.monitor()
  await market.monitor()
  expect(await of('stuck')).toEqual([])
})

test('a question that nobody answers for a day is told', async () => {
  const who = await market.agent()
  const service = await market.list('human', { price: undefined, pricing_model: 'quote_required' })
  const asked = await who.pay(`/v1/services/${service}/inquire`, { body: { brief: { text: 'How long for ten?' } } })
  expect([asked.status, asked.text]).toEqual([200, expect.any(String)])
  expect(await of('inquiry')).toEqual([])
  market.pass(DAY_MS + HOUR_MS)
  expect((await of('inquiry')).map(({ subject }) => subject.id)).toEqual([asked.body.thread_id])
})

test('messages that were given up, and endpoints that fail', async () => {
  const service = await market.list('human')
  const { ctx, provider } = market
  const news = { participantId: provider.id, serviceId: service, type: 'new_message', data: {}, now: ctx().clock.now() }
  const row = await commit(ctx(), (t, draw) => enqueue(t, draw, news))
  if (!row) throw new Error('nothing was sent')
  await deliveryWorker.of(ctx()).idle()
  await commit(ctx(), async (t) => {
    const held = await t.table(deliveries).getForUpdate(row.id)
    const attempts = held?.attempts.map((one) => ({ ...one, error: 'It answered 500.' })) ?? []
    const dead = { state: 'dead', open: false, reason: 'HTTP 500', next_at: null } as const
    if (held) await t.table(deliveries).put({ ...held, ...dead, attempts })
    const listing = await t.table(services).getForUpdate(service)
    if (listing) await t.table(services).put({ ...listing, webhook_status: 'failing' })
  })
  expect(await of('delivery')).toMatchObject([{ subject: { id: row.id }, fix: `souk admin webhooks replay ${row.id}` }])
  const failing = (await of('endpoint')).find(({ subject }) => subject.id === service)
  expect(failing?.sentence).toMatch(/: It answered 500\.$/)
  const test = await commit(ctx(), (t, draw) => enqueue(t, draw, { ...news, type: TEST_TYPE }))
  if (!test) throw new Error('no test was sent')
  await deliveryWorker.of(ctx()).idle()
  await commit(ctx(), async (t) => {
    const held = await t.table(deliveries).getForUpdate(test.id)
    if (held) await t.table(deliveries).put({ ...held, state: 'dead', open: false, reason: 'HTTP 500', next_at: null })
  })
  expect((await of('delivery')).map(({ subject }) => subject.id)).toEqual([row.id])
  const replayed = await market.market.admin('POST', `/dashboard/api/admin/webhooks/${row.id}/replay`)
  expect([replayed.status, replayed.body.status]).toEqual([200, 'pending'])
  expect(await of('delivery')).toEqual([])
})

test('what the operator stopped is told, and counts add up', async () => {
  await market.setPaused({ platform: true, escrow: true })
  const { items, counts, total } = await look()
  expect(items.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['platform', 'escrow']))
  expect(Object.values(counts).reduce((sum, count) => sum + count, 0)).toBe(total)
  expect(total).toBeGreaterThanOrEqual(items.length)
  const firstPlain = items.findIndex(({ grave }) => !grave)
  expect(items.slice(firstPlain).some(({ grave }) => grave)).toBe(false)
  await market.setPaused({ platform: false, escrow: false })
})
