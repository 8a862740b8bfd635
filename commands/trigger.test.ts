import { afterAll, beforeAll, expect, test } from 'vitest'
import { openUserAtMarket, type User } from '../fixtures/kit/user.ts'
import { eventTypes } from '../src/model/event-types.ts'

let user: User
beforeAll(async () => {
  user = await openUserAtMarket()
})
afterAll(() => user.close())

test('an event is made to happen by somebody whom one can act as', async () => {
  const { json } = user
  const { event, moved_ms: moved } = await json('trigger', 'job.disputed')
  expect([event.type, event.subject.kind, moved]).toEqual(['job.disputed', 'job', 0])
  expect(await json('jobs', 'view', event.subject.id, '--as', 'acme')).toMatchObject({ status: 'disputed' })
  expect((await json('trigger', 'delivery.dead')).event.type).toBe('webhook.failed')
})

test('the list has every event of the catalogue, with its way or why there is none', async () => {
  const { events } = await user.json('trigger', '--list')
  expect(events.map(({ type }: { type: string }) => type)).toEqual(Object.keys(eventTypes))
  for (const one of events) expect(one.why ?? one.moves_ms).not.toBeUndefined()
})

test('time is moved only by who agrees to it, and what cannot be made says why', async () => {
  const { souk, json } = user
  const asked = await souk('trigger', 'subscription.past_due', '--no-input')
  expect(asked.code).toBe(2)
  expect((await json('clock', 'show')).offset_ms).toBe(0)
  expect((await souk('trigger', 'identity.unlinked')).err).toContain('sold on the chain')
  expect((await souk('trigger', 'job.disputd')).err).toContain('did you mean job.disputed?')
  expect((await json('trigger', 'subscription.past_due', '--yes')).moved_ms).toBeGreaterThan(0)
  expect((await json('clock', 'show')).offset_ms).toBeGreaterThan(28 * 86_400_000)
})
