import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { openMemoryStore } from '../../../../store/memory/open.testkit.ts'
import type { QueueEvent } from './core.ts'
import { buyers, gasKey, type Opened, openQueue, openStage, order, type Stage } from './queue.testkit.ts'
import { queueCollections } from './rows.ts'

// @slow starts a chain

let stage: Stage
let opened: Opened
let events: QueueEvent[]
beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => stage.chain.stop())
beforeEach(async () => {
  events = []
  opened = await openQueue(stage, {
    store: openMemoryStore([...queueCollections]),
    key: await gasKey(stage),
    urls: [stage.chain.url],
    change: { observe: (event) => events.push(event) },
  })
  await opened.queue.start()
})
afterEach(() => opened.close())

test('one payment moves once, and again says the same', async () => {
  const [buyer] = await buyers(stage, 1)
  const paid = await stage.paid()
  const signed = await order(stage, buyer as never)
  const first = await opened.queue.settle(signed)
  expect(first).toMatchObject({ ok: true, already: false })
  expect(await opened.queue.settle(signed)).toEqual({ ...first, already: true })
  expect(await stage.paid()).toBe(paid + 1_000n)
})

test('many at once share transactions, each paid exactly once', async () => {
  const all = await buyers(stage, 16)
  const paid = await stage.paid()
  const signed = (await Promise.all(all.map((buyer) => Promise.all([1, 2, 3].map(() => order(stage, buyer)))))).flat()
  const results = await Promise.all([...signed, ...signed].map((one) => opened.queue.settle(one)))
  expect(results.filter(({ ok }) => !ok)).toEqual([])
  expect(await stage.paid()).toBe(paid + 48_000n)
  const sent = events.flatMap((event) => (event.kind === 'sent' ? [event.items] : []))
  expect(sent.reduce((a, b) => a + b, 0)).toBe(48)
  expect(sent.length).toBeLessThan(24)
})
