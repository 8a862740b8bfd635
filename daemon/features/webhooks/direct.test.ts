import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  type Deliveries,
  LISTING,
  news,
  OWNER,
  openDeliveries,
  SECRET,
  START,
} from '../../../fixtures/kit/deliveries.ts'
import { checkedBy, type Provider } from '../../../fixtures/kit/provider.ts'
import { deliverNow } from './direct.ts'
import { endpointOf } from './queue.ts'
import { deliveries } from './rows.ts'

let kit: Deliveries
let provider: Provider
beforeEach(async () => {
  kit = await openDeliveries()
  provider = kit.provider
  await kit.work()
})
afterEach(() => kit.close())

async function call(signal: AbortSignal = new AbortController().signal) {
  const endpoint = await kit.store.read((t) => endpointOf(t, { participantId: OWNER, serviceId: LISTING }))
  if (!endpoint) throw new Error('there is no endpoint')
  return deliverNow(kit.parts(), { ...news(START), endpoint, signal })
}

const rows = async () => (await kit.store.table(deliveries).page('newest', [], { limit: 10 })).rows

describe('a message that somebody waits for', () => {
  it('is answered, and recorded once it has ended', async () => {
    provider.answer = () => ({ body: '{"status":"completed"}' })
    const sent = await call()
    expect([sent.ok, sent.answer.toString()]).toEqual([true, '{"status":"completed"}'])
    const [message] = provider.received
    if (!message) throw new Error('nothing arrived')
    expect(checkedBy(message, SECRET)).toEqual({ standard: true, hex: true, previousHex: false })
    const [row, ...others] = await rows()
    expect(others).toEqual([])
    expect(row).toMatchObject({
      state: 'delivered',
      open: false,
      tries: 1,
      event_id: message.body.event_id,
      body: message.raw,
    })
  })

  it('that failed is not sent again, now or later', async () => {
    provider.answer = () => ({ status: 500 })
    expect(await call()).toMatchObject({ ok: false, status: 500 })
    await kit.pass(86_400_000)
    expect(provider.received).toHaveLength(1)
    expect((await rows())[0]).toMatchObject({ state: 'dead', open: false, reason: 'failed after 1 try' })
    expect(await kit.healthy()).toBe(false)
  })

  it('is tried again only while it could not be sent at all', async () => {
    await provider.close()
    const sent = await call()
    expect(sent).toMatchObject({ ok: false, status: null, wasNeverSent: true })
    const [row] = await rows()
    expect(row?.attempts.map(({ error }) => error)).toEqual(
      Array(3).fill('connect_failed: The host does not accept a connection.'),
    )
  })

  it('whose answer is too large has failed', async () => {
    provider.answer = () => ({ body: 'x'.repeat(8 * 1024 * 1024 + 1) })
    expect(await call()).toMatchObject({ ok: false, error: 'too_large: The response is larger than 8388608 bytes.' })
  })

  it('is given up with whoever waits, and is on record all the same', async () => {
    const buyer = new AbortController()
    provider.answer = () => {
      buyer.abort()
      return Promise.withResolvers<never>().promise
    }
    await expect(call(buyer.signal)).rejects.toMatchObject({ failure: 'aborted' })
    expect(await rows()).toMatchObject([{ state: 'dead', open: false, reason: 'the caller stopped waiting' }])
  })
})
