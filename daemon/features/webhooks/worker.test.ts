import { Webhook } from 'standardwebhooks'
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest'
import { type Deliveries, news, OWNER, openDeliveries, SECRET, START } from '../../../fixtures/kit/deliveries.ts'
import { checkedBy, openProvider, type Provider } from '../../../fixtures/kit/provider.ts'
import { AppError } from '../../../src/core/error.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../src/core/time.ts'
import { commit } from '../../store/draw.ts'
import { enqueue, replay } from './queue.ts'
import { RETRY_DELAYS_MS } from './schedule.ts'

let kit: Deliveries
let provider: Provider
beforeEach(async () => {
  kit = await openDeliveries()
  provider = kit.provider
})
afterEach(() => kit.close())

test('a message arrives at once, signed in both forms, and says what it is', async () => {
  await kit.work()
  const row = await kit.send({ jobId: 'job_1' })
  await kit.worker.idle()
  const [message] = provider.received
  if (!message) throw new Error('nothing arrived')
  expect(message.body).toEqual({
    type: 'job_dispatch',
    event_id: row.event_id,
    created_at: new Date(START).toISOString(),
    job_id: 'job_1',
    brief: { text: 'grüß dich' },
  })
  expect(checkedBy(message, SECRET)).toEqual({ standard: true, hex: true, previousHex: false })
  expect(new Webhook(SECRET).verify(message.raw, message.headers as Record<string, string>)).toEqual(message.body)
  expect(message.headers['webhook-id']).toBe(row.event_id)
  expect(message.headers['content-type']).toBe('application/json')
  expect(message.headers['authorization'] ?? message.headers['x-api-key']).toBeUndefined()
  expect(await kit.row(row)).toMatchObject({ state: 'delivered', open: false, tries: 1, next_at: null })
})

test('a message is queued with what it tells, or not at all', async () => {
  await kit.work()
  const refused = commit(kit.parts(), async (t, draw) => {
    await enqueue(t, draw, news(START))
    throw new AppError('conflict', 'no')
  })
  await expect(refused).rejects.toThrow('no')
  await kit.worker.idle()
  expect(provider.received).toEqual([])
})

test('who has no endpoint gets no delivery', async () => {
  await kit.work()
  await kit.owner({ webhook_url: null })
  await expect(kit.send()).rejects.toThrow('no endpoint')
  await expect(kit.send({ participantId: 'p_nobody' })).rejects.toThrow('no endpoint')
})

test('a listing’s own endpoint goes before its provider’s', async () => {
  await kit.work()
  await kit.owner({ webhook_url: 'https://elsewhere.test/' })
  await kit.listing({ webhook_url: provider.url })
  await kit.send()
  await kit.worker.idle()
  expect(provider.received).toHaveLength(1)
})

describe('a message that is not taken', () => {
  it('is tried eight times with the same bytes and id, then dead, and replayed on demand', async () => {
    provider.answer = () => ({ status: 500, body: 'no '.repeat(400) })
    await kit.work()
    const row = await kit.send()
    await kit.worker.idle()
    for (const delay of RETRY_DELAYS_MS.slice(1)) {
      const seen = provider.received.length
      await kit.pass(delay - 1)
      expect(provider.received).toHaveLength(seen)
      await kit.pass(delay * 0.2 + 1)
      expect(provider.received).toHaveLength(seen + 1)
    }
    await kit.pass(30 * DAY_MS)
    expect(provider.received).toHaveLength(8)
    const dead = await kit.row(row)
    expect(dead).toMatchObject({ state: 'dead', reason: 'failed after 8 tries', tries: 8 })
    expect(dead.attempts).toHaveLength(8)
    expect(dead.attempts[0]).toMatchObject({ status: 500, error: 'the endpoint returned status 500' })
    expect(dead.attempts[0]?.excerpt).toHaveLength(512)
    expect(await kit.eventTypes()).toEqual(['webhook.failed'])

    provider.answer = () => ({})
    await kit.store.tx((t) => replay(t, dead.id, { owner: OWNER, now: kit.now() }))
    await kit.worker.idle()
    expect(await kit.row(dead)).toMatchObject({ state: 'delivered', tries: 1 })
    expect(new Set(provider.received.map(({ raw, headers }) => `${headers['webhook-id']} ${raw}`)).size).toBe(1)
    expect(provider.received.every((message) => checkedBy(message, SECRET).standard)).toBe(true)
  })

  it.each([301, 302, 307, 400, 404, 503])('because of a %i is tried again', async (status) => {
    provider.answer = () => ({ status, headers: { location: '/elsewhere' } })
    await kit.work()
    const row = await kit.send()
    await kit.worker.idle()
    expect(await kit.row(row)).toMatchObject({ state: 'pending', tries: 1 })
    expect(provider.received).toHaveLength(1)
  })

  it('waits as long as the endpoint asks', async () => {
    provider.answer = () => ({ status: 429, headers: { 'retry-after': '600' } })
    await kit.work()
    await kit.send()
    await kit.worker.idle()
    await kit.pass(9 * MINUTE_MS)
    expect(provider.received).toHaveLength(1)
    await kit.pass(MINUTE_MS + SECOND_MS)
    expect(provider.received).toHaveLength(2)
  })

  it('by an endpoint that does not answer says so', async () => {
    await kit.owner({ webhook_url: 'https://10.0.0.1/hook' })
    await kit.work()
    const row = await kit.send()
    await kit.worker.idle()
    expect((await kit.row(row)).attempts[0]).toMatchObject({
      status: null,
      error: 'address_refused: The host is not on the public internet.',
    })
  })

  it('is tried only once where whoever made it asks again itself', async () => {
    provider.answer = () => ({ status: 500 })
    await kit.work()
    const row = await kit.send({ once: true })
    await kit.worker.idle()
    expect(await kit.row(row)).toMatchObject({ state: 'dead', reason: 'failed after 1 try' })
  })
})

describe('what the daemon makes of it', () => {
  it('a message that makes no sense any more is dropped and cannot be replayed', async () => {
    await kit.work({ isWanted: async (_t, row) => row.job_id !== 'job_over' })
    const row = await kit.send({ jobId: 'job_over' })
    await kit.send({ jobId: 'job_on' })
    await kit.worker.idle()
    expect(provider.received).toHaveLength(1)
    expect(await kit.row(row)).toMatchObject({ state: 'dropped', attempts: [] })
    await expect(kit.store.tx((t) => replay(t, row.id, { owner: OWNER, now: kit.now() }))).rejects.toThrow('dropped')
  })

  it('an answer is handed over in the transaction that records it', async () => {
    const answers: unknown[] = []
    await kit.work({
      onTaken:
        async ({ answer }) =>
        async (_t, _draw, row) => {
          answers.push([row.state, answer])
        },
    })
    for (const body of ['{"status":"completed"}', 'thanks', '']) {
      provider.answer = () => ({ body })
      await kit.send()
      await kit.worker.idle()
    }
    expect(answers).toEqual([
      ['delivered', { status: 'completed' }],
      ['delivered', undefined],
      ['delivered', undefined],
    ])
  })

  it('an answer that is refused counts as a failed try', async () => {
    await kit.work({
      onTaken: async () => {
        throw new AppError('invalid_request', 'result: must be text')
      },
    })
    const row = await kit.send()
    await kit.worker.idle()
    const after = await kit.row(row)
    expect([after.state, after.attempts[0]?.status, after.attempts[0]?.error]).toEqual([
      'pending',
      200,
      'the response was rejected: result: must be text',
    ])
  })

  it('an answer that is nested without end is refused', async () => {
    provider.answer = () => ({ body: '['.repeat(100_000) + ']'.repeat(100_000) })
    await kit.work({ onTaken: async () => undefined })
    const row = await kit.send()
    await kit.worker.idle()
    expect((await kit.row(row)).attempts[0]?.error).toContain('nested')
  })
})

test('a listing is healthy while none of its last five deliveries failed last', async () => {
  await kit.work()
  const next = async (status: number) => {
    provider.answer = () => ({ status })
    await kit.send({ once: true })
    await kit.worker.idle()
    return kit.healthy()
  }
  expect(await next(500)).toBe(false)
  const after = []
  for (let n = 0; n < 5; n += 1) after.push(await next(200))
  expect(after).toEqual([false, false, false, false, true])
  provider.answer = () => ({ status: 500 })
  await kit.send()
  await kit.worker.idle()
  expect(await kit.healthy()).toBe(false)
  provider.answer = () => ({})
  await kit.pass(HOUR_MS)
  expect(await kit.healthy()).toBe(true)
})

test('an endpoint that replaced a failing one is judged by itself', async () => {
  provider.answer = () => ({ status: 500 })
  await kit.work()
  await kit.send({ once: true })
  await kit.worker.idle()
  expect(await kit.healthy()).toBe(false)
  const elsewhere = await openProvider()
  await kit.owner({ webhook_url: elsewhere.url })
  await kit.send()
  await kit.worker.idle()
  expect(await kit.healthy()).toBe(true)
  await elsewhere.close()
})
