import { afterEach, beforeEach, expect, test } from 'vitest'
import { collections } from '../app.ts'
import { commit } from '../store/draw.ts'
import { openMemoryStore } from '../store/memory/open.testkit.ts'
import type { Store } from '../store/port.ts'
import { emit } from './event-log.ts'
import { type EventSignal, MAX_WAITERS, MAX_WAITERS_PER_CALLER, openEventSignal } from './signal.ts'

let store: Store
let bell: EventSignal
let stopping: AbortController
beforeEach(() => {
  store = openMemoryStore(collections)
  stopping = new AbortController()
  bell = openEventSignal(store, stopping.signal)
})
afterEach(() => store.close())

const here = () => new AbortController().signal
const tell = (participantId: string | null) =>
  commit({ store, entropy: (count) => Buffer.alloc(count, 1 + store.stats().seq) }, (t, draw) =>
    emit(t, draw, { type: 'terms.accepted', participantId, subject: { kind: 'x', id: 'x' }, data: {}, at: 0 }),
  )

test('it rings for who an event is of, and for the administrator', async () => {
  const [ann, bob, admin] = ['ann', 'bob', null].map((hearer) => bell.enter(hearer, here()))
  await tell('ann')
  await tell(null)
  expect([ann?.heard(), bob?.heard(), admin?.heard()]).toEqual([1, 0, 2])
})

test('an event between the look and the wait is not missed', async () => {
  const ann = bell.enter('ann', here())
  const heard = ann.heard()
  await tell('ann')
  await ann.after(heard, here())
})

test('a wait ends with an event, with its own signal, and with a stop', async () => {
  const [first, second, third] = [1, 2, 3].map(() => bell.enter('ann', here()))
  const over = new AbortController()
  const byEvent = first?.after(first.heard(), here())
  await tell('ann')
  await byEvent
  const bySignal = second?.after(second.heard(), over.signal)
  over.abort()
  await bySignal
  const byStop = third?.after(third.heard(), here())
  stopping.abort()
  await byStop
})

test('places are bounded in all; who leaves or goes away makes room', () => {
  const away = new AbortController()
  const hearers = Array.from({ length: MAX_WAITERS }, (_, at) => `p${Math.floor(at / MAX_WAITERS_PER_CALLER)}`)
  const places = hearers.map((hearer, at) => bell.enter(hearer, at === 0 ? away.signal : here()))
  const full = expect.objectContaining({ code: 'rate_limited', retryAfter: 5 })
  expect(() => bell.enter('late', here())).toThrow(full)
  away.abort()
  places[0]?.leave()
  const late = bell.enter('late', here())
  expect(() => bell.enter('later', here())).toThrow(full)
  late.leave()
  late.leave()
  bell.enter('later', here())
  expect(() => bell.enter('last', here())).toThrow(full)
})
