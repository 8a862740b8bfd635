import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { enqueue } from '../../daemon/features/webhooks/queue.ts'
import { deliveries } from '../../daemon/features/webhooks/rows.ts'
import { deliveryWorker } from '../../daemon/features/webhooks/worker.ts'
import { commit } from '../../daemon/store/draw.ts'
import { openProvider, type Provider } from '../../fixtures/kit/provider.ts'
import { openRemoteMarket, type RemoteMarket } from '../../fixtures/kit/remote-market.ts'

/* A provider who looks at what was sent to them, and has it sent again. */

let shop: RemoteMarket
let hook: Provider
let service: string
let participant: string

beforeAll(async () => {
  shop = await openRemoteMarket()
  hook = await openProvider()
  for (const name of ['ann', 'bob']) {
    await shop.json(['wallet', 'new', name])
    await shop.json(['wallet', 'fund', name])
    const { id } = await shop.json(['account', 'register', '--role', 'provider', '--as', name])
    if (name === 'ann') participant = id
  }
  service = await listed(`webhook_url=${hook.url}`)
})
afterAll(async () => {
  await shop.market.close()
  await hook.close()
})
beforeEach(() => {
  hook.received.length = 0
  hook.answer = () => ({ body: 'taken' })
})

async function listed(...more: string[]): Promise<string> {
  const fields = ['name=Echo', 'description=Echoes', 'price=0.50', 'fulfillment_type=automated', ...more]
  return (await shop.json(['services', 'create', ...fields.flatMap((one) => ['--set', one]), '--as', 'ann'])).id
}

const souk = (...words: string[]) => shop.souk([...words, '--as', 'ann'])
const json = (...words: string[]) => shop.json([...words, '--as', 'ann'])

/** A message of the marketplace to the endpoint, tried once. */
async function sent(about = service): Promise<string> {
  const { ctx } = shop.market.daemon
  const news = { participantId: participant, serviceId: about, type: 'new_message', data: {}, now: ctx.clock.now() }
  const row = await commit(ctx, (t, draw) => enqueue(t, draw, news))
  await deliveryWorker.of(ctx).idle()
  return row?.id ?? ''
}

/** One that nobody took at all. */
async function dead(): Promise<string> {
  hook.answer = () => ({ status: 500 })
  const id = await sent()
  const { ctx } = shop.market.daemon
  await commit(ctx, async (t) => {
    const table = t.table(deliveries)
    const row = await table.getForUpdate(id)
    if (row) await table.put({ ...row, state: 'dead', open: false, next_at: null, reason: 'failed after 5 tries' })
  })
  hook.answer = () => ({ body: 'taken' })
  hook.received.length = 0
  return id
}

describe('a test of a listing', () => {
  test('shows the answer, how long it took and the signature, as often as it is asked for', async () => {
    const told = await json('services', 'test', service, '--repeat', '3')
    expect(told).toMatchObject({ service_id: service, delivered: 3, total: 3 })
    expect(hook.received.map(({ body }) => body.test)).toEqual([true, true, true])
    expect(told.tests[2]).toMatchObject({ number: 3, delivered: true, status: 200, response_excerpt: 'taken' })
    const { out } = await shop.souk(['services', 'test', service, '--as', 'ann'], { columns: 120 })
    expect(out).toContain('webhook-id: ')
    expect(out).toContain('taken')
  })

  test('that is not taken says why and is no failure, unless asked to be one', async () => {
    hook.answer = () => ({ status: 500, body: 'broken' })
    const plain = await souk('services', 'test', service)
    expect([plain.code, plain.out]).toEqual([
      0,
      expect.stringMatching(/^1\tfalse\t500\t\d+\tthe endpoint returned status 500\n$/),
    ])
    expect((await souk('services', 'test', service, '--exit-status')).code).toBe(11)
  })

  test.each<[string, () => string[], number]>([
    ["somebody else's listing", () => ['services', 'test', service, '--as', 'bob'], 4],
    ['a listing that is none', () => ['services', 'test', 'svc_ffffffffffffffff', '--as', 'ann'], 3],
    ['no time at all', () => ['services', 'test', service, '--repeat', '0', '--as', 'ann'], 2],
  ])('of %s fails', async (_, words, code) => {
    const ran = await shop.souk(words())
    expect([ran.code, ran.out, hook.received]).toEqual([code, '', []])
  })
})

describe('deliveries', () => {
  test('are listed by state and by listing, each with its tries', async () => {
    const other = await listed(`webhook_url=${hook.url}`)
    const id = await sent(other)
    const { deliveries: of } = await json('webhooks', other)
    expect(of).toMatchObject([{ delivery_id: id, status: 'delivered', service_id: other, attempts: [{ status: 200 }] }])
    expect((await json('webhooks', 'list', other, '--status', 'dead')).total).toBe(0)
    const { out } = await souk('webhooks', other)
    expect(out.split('\t').slice(0, 4)).toEqual([id, 'new_message', 'delivered', '1'])
  })

  test('that nobody took are sent again, by name or all of them', async () => {
    const ids = [await dead(), await dead()]
    const told = await json('webhooks', '--status', 'dead')
    const messages = told.deliveries.filter(({ type }: { type: string }) => type === 'new_message')
    expect(messages.map(({ id }: { id: string }) => id).sort()).toEqual([...ids].sort())
    const { deliveries: one } = await json('webhooks', 'replay', ids[0] as string)
    expect(one).toMatchObject([{ id: ids[0], status: 'pending' }])
    expect(await json('webhooks', 'replay', '--all')).toMatchObject({ total: 1, deliveries: [{ id: ids[1] }] })
    await expect.poll(async () => (await json('webhooks', '--status', 'pending')).total).toBe(0)
    expect(hook.received).toHaveLength(2)
    expect((await souk('webhooks', 'replay', '--all')).code).toBe(0)
  })

  test.each<[string, () => string[], number]>([
    ['nothing', () => ['ann'], 2],
    ['both some and all', () => ['ann', 'whd_0123456789abcdef', '--all'], 2],
    ['one that is none', () => ['ann', 'whd_0123456789abcdef'], 3],
  ])('%s to replay is refused', async (_, words, code) => {
    const [who = '', ...rest] = words()
    expect((await shop.souk(['webhooks', 'replay', ...rest, '--as', who])).code).toBe(code)
  })

  test("of others are neither seen nor replayed; the administrator sees everybody's", async () => {
    const id = await sent()
    expect((await shop.json(['webhooks', '--as', 'bob'])).total).toBe(0)
    expect((await shop.souk(['webhooks', 'replay', id, '--as', 'bob'])).code).toBe(3)
    const all = await shop.json(['admin', 'webhooks', '--participant', participant])
    expect(all.deliveries[0]).toMatchObject({ id, participant_id: participant })
    expect(all.counts.delivered).toBeGreaterThan(0)
  })
})
