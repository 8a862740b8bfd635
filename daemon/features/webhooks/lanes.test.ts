import { Webhook } from 'standardwebhooks'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Deliveries, news, OWNER, openDeliveries, SECRET, START } from '../../../fixtures/kit/deliveries.ts'
import { checkedBy, openProvider, type Provider } from '../../../fixtures/kit/provider.ts'
import { participantDraft } from '../../../fixtures/kit/rows.ts'
import { DAY_MS, SECOND_MS } from '../../../src/core/time.ts'
import { participants } from '../../kernel/rows.ts'
import { commit, drawFrom } from '../../store/draw.ts'
import { enqueue, MAX_PENDING_PER_ENDPOINT, replay } from './queue.ts'
import { deliveries } from './rows.ts'
import { MAX_CONCURRENT } from './worker.ts'

const OLD_SECRET = `whsec_${Buffer.alloc(32, 2).toString('base64')}`

let kit: Deliveries
let provider: Provider
beforeEach(async () => {
  kit = await openDeliveries()
  provider = kit.provider
})
afterEach(() => kit.close())

describe('an endpoint', () => {
  it('that is gone is taken out of use, and what waits for it is dead', async () => {
    provider.answer = () => ({ status: 500 })
    await kit.work()
    const other = await kit.send()
    await kit.worker.idle()
    provider.answer = () => ({ status: 410 })
    const row = await kit.send()
    await kit.pass(DAY_MS)
    expect((await kit.store.table(participants).get(OWNER))?.webhook_url).toBeNull()
    const reasons = await Promise.all([row, other].map(async (sent) => (await kit.row(sent)).reason))
    expect(reasons.sort()).toEqual(['the endpoint returned 410 (gone)', 'the endpoint was removed'])
    expect(await kit.eventTypes()).toContain('webhook.disabled')
    expect(await kit.healthy()).toBe(false)
    await expect(kit.store.tx((t) => replay(t, row.id, { owner: OWNER, now: kit.now() }))).rejects.toThrow(
      'webhook_url',
    )
  })

  it('that is gone, but was replaced meanwhile, leaves the new one in use', async () => {
    const url = 'https://elsewhere.test/'
    provider.answer = async () => {
      await kit.owner({ webhook_url: url })
      return { status: 410 }
    }
    await kit.work()
    await kit.send()
    await kit.worker.idle()
    expect((await kit.store.table(participants).get(OWNER))?.webhook_url).toBe(url)
  })

  it('that its owner moves gets what waits', async () => {
    provider.answer = () => ({ status: 500 })
    await kit.work()
    const row = await kit.send()
    await kit.worker.idle()
    const elsewhere = await openProvider()
    await kit.owner({ webhook_url: elsewhere.url })
    await kit.pass(2 * SECOND_MS)
    expect([provider.received.length, elsewhere.received.length]).toEqual([1, 1])
    expect(await kit.row(row)).toMatchObject({ state: 'delivered', url: elsewhere.url })
    await elsewhere.close()
  })

  it('gets both signatures for a day after its secret was changed', async () => {
    await kit.work()
    await kit.owner({ previous_webhook_secret: { secret: OLD_SECRET, until: Date.now() + DAY_MS } })
    await kit.send()
    await kit.worker.idle()
    const [message] = provider.received
    if (!message) throw new Error('nothing arrived')
    const headers = message.headers as Record<string, string>
    for (const secret of [SECRET, OLD_SECRET]) expect(new Webhook(secret).verify(message.raw, headers)).toBeTruthy()
    expect([checkedBy(message, SECRET).hex, checkedBy(message, OLD_SECRET).previousHex]).toEqual([true, true])
  })

  it('gets one message at a time, in order', async () => {
    provider.answer = async () => {
      await new Promise(setImmediate)
      return {}
    }
    await kit.work()
    for (let number = 0; number < 20; number += 1) await kit.send({ data: { number } })
    await kit.worker.idle()
    expect(provider.received.map(({ body }) => body.number)).toEqual(Array.from({ length: 20 }, (_, i) => i))
    expect(provider.most()).toBe(1)
  })

  it('that is slow delays no other, and no more than a bounded number are called at once', async () => {
    const { promise: never, resolve: letGo } = Promise.withResolvers<void>()
    provider.answer = async () => {
      await never
      return {}
    }
    await kit.work()
    await kit.send()
    await kit.send()
    const others = 2 * MAX_CONCURRENT
    const quick = await openProvider()
    const held: (() => void)[] = []
    quick.answer = () => new Promise((done) => held.push(() => done({})))
    await kit.store.tx(async (t) => {
      for (let n = 2; n < others + 2; n += 1) {
        await t.table(participants).insert({ ...participantDraft(n), webhook_url: `${quick.url}/${n}` })
      }
    })
    for (let n = 2; n < others + 2; n += 1) {
      await commit(kit.parts(), (t, draw) =>
        enqueue(t, draw, { ...news(START), participantId: participantDraft(n).id }),
      )
    }
    while (held.length < MAX_CONCURRENT - 1) await new Promise(setImmediate)
    // Whatever else had been let go would be here by now.
    for (let turn = 0; turn < 500; turn += 1) await new Promise(setImmediate)
    expect(quick.most()).toBe(MAX_CONCURRENT - 1)
    while (quick.received.length < others || held.length > 0) {
      held.shift()?.()
      await new Promise(setImmediate)
    }
    expect(quick.most()).toBe(MAX_CONCURRENT - 1)
    expect(provider.received).toHaveLength(1)
    letGo()
    await kit.worker.idle()
    expect(provider.received).toHaveLength(2)
    await quick.close()
  })

  it('full of what strangers write still takes a dispatch', async () => {
    await kit.work()
    await kit.worker.stop()
    await kit.store.tx(async (t) => {
      const table = t.table(deliveries)
      const draw = { ...drawFrom(Buffer.alloc(1)), id: (noun: string) => noun }
      const first = await enqueue(t, draw, { ...news(START), type: 'new_message', sender: 'p_0' })
      if (!first) throw new Error('not queued')
      for (let n = 1; n < MAX_PENDING_PER_ENDPOINT / 2; n += 1) {
        await table.insert({ ...first, id: `whd_${n}`, sender: `p_${n}` })
      }
    })
    expect(await kit.send({ type: 'new_message', sender: 'p_new' })).toMatchObject({ state: 'dead', open: false })
    expect(await kit.send({ type: 'job_dispatch' })).toMatchObject({ state: 'pending', open: true })
  })

  it('for which too much waits gets nothing more', async () => {
    await kit.work()
    await kit.worker.stop()
    await kit.store.tx(async (t) => {
      const table = t.table(deliveries)
      const draw = { ...drawFrom(Buffer.alloc(1)), id: (noun: string) => noun }
      const first = await enqueue(t, draw, news(START))
      if (!first) throw new Error('not queued')
      for (let n = 1; n < MAX_PENDING_PER_ENDPOINT; n += 1) await table.insert({ ...first, id: `whd_${n}` })
    })
    expect(await kit.send()).toMatchObject({
      state: 'dead',
      reason: 'too many messages wait for this endpoint',
      open: false,
    })
  })
})

describe('after a crash', () => {
  it('what was sent but not recorded is sent again, with the same id', async () => {
    const { promise: never } = Promise.withResolvers<never>()
    provider.answer = () => never
    await kit.work()
    await kit.send()
    while (provider.received.length === 0) await new Promise(setImmediate)
    provider.answer = () => ({})
    await kit.restart('crashed')
    await kit.worker.idle()
    expect(provider.received).toHaveLength(2)
    expect(new Set(provider.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
  })

  /** Business time of the earliest waiting delivery. */
  const nextDue = async () => (await kit.store.table(deliveries).page('due', [], { limit: 1 })).rows[0]?.next_at ?? null

  it('what waits is found again, and due when it was due', async () => {
    provider.answer = () => ({ status: 500 })
    await kit.work()
    const row = await kit.send()
    await kit.worker.idle()
    const due = (await kit.row(row)).next_at
    provider.answer = () => ({})
    await kit.restart('stopped')
    await kit.worker.idle()
    expect(await nextDue()).toBe(due)
    expect(provider.received).toHaveLength(1)
    await kit.pass(2 * SECOND_MS)
    expect([provider.received.length, await nextDue()]).toEqual([2, null])
  })
})
