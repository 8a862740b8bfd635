import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openUserAtMarket, type User } from '../fixtures/kit/user.ts'
import { eventTypes } from '../src/model/event-types.ts'
import { attentionKinds } from '../src/model/words.ts'

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
  const problems = attentionKinds.map((kind) => `attention.${kind}`)
  expect(events.map(({ type }: { type: string }) => type)).toEqual([...Object.keys(eventTypes), ...problems])
  for (const one of events) expect(one.why ?? one.moves_ms).not.toBeUndefined()
})

test('a problem is caused too, and shown where problems are shown', async () => {
  const { souk, json } = user
  const { event } = await json('trigger', 'attention.dispute', '--set', 'reason=It is blank')
  expect(event).toMatchObject({ type: 'attention.dispute', id: `dispute ${event.subject.id}` })
  const { items } = await json('attention')
  expect(items.find(({ id }: { id: string }) => id === event.id).sentence).toContain('It is blank')
  const { code, err } = await souk('trigger', 'attention.disk')
  expect([code, err]).toEqual([6, expect.stringMatching(/it needs a full disk[\s\S]*souk doctor --only disk/)])
})

test('time is moved only by who agrees to it, and what cannot be made says why', async () => {
  const { souk, json } = user
  const asked = await souk('trigger', 'subscription.past_due', '--no-input')
  expect(asked.code).toBe(2)
  expect((await json('clock', 'show')).offset_ms).toBe(0)
  expect((await souk('trigger', 'identity.unlinked')).err).toContain('the sale of an identity on a chain')
  expect((await souk('trigger', 'job.disputd')).err).toContain('did you mean job.disputed?')
  expect((await json('trigger', 'subscription.past_due', '--yes')).moved_ms).toBeGreaterThan(0)
  expect((await json('clock', 'show')).offset_ms).toBeGreaterThan(28 * 86_400_000)
})

test('each event says what it can be about and what can be said of it, in the list and in a refusal', async () => {
  const { souk, json } = user
  const { events } = await json('trigger', '--list')
  const disputed = events.find(({ type }: { type: string }) => type === 'job.disputed')
  expect(disputed).toMatchObject({ about: ['service', 'job'], settings: ['input', 'reason', 'category'] })
  const { code, err } = await souk('trigger', 'job.disputed', '--set', 'resaon=x')
  expect([code, err]).toEqual([2, expect.stringContaining('has no setting resaon (did you mean reason?)')])
  expect(err).toContain('category: kind of problem; must be one of not_delivered, wrong_deliverable, quality, other')
})

test.each([
  ['job.verified', ['--set', 'rating=9'], '--set rating must be a whole number from 1 to 5; you gave "9"'],
  ['job.disputed', ['--set', 'category=bad'], '--set category must be one of not_delivered'],
  ['plan.created', ['--set', 'price=1e9'], '--set price must be an amount such as 1.50, from 0.01 to 40.00'],
  ['plan.created', ['--set', 'price'], '--set must be name=value; you gave "price"'],
  ['plan.created', ['--set', '__proto__=1'], 'plan.created has no setting __proto__'],
  ['job.disputed', ['--set', 'input.=1'], '--set input. needs the name of an input field'],
  ['terms.accepted', ['--set', 'name=x'], 'terms.accepted has no settings'],
  ['job.disputed', ['--for', 'p_0123456789abcdef'], '--for must be a complete id of service or job (svc_… or job_…)'],
  ['plan.created', ['--for', 'plan_0123456789abcdef'], 'plan.created takes no --for'],
  ['plan.created', ['--repeat', '1000'], '--repeat must be at most 100'],
])('%s %j is refused before anything happens', async (type, words, said) => {
  const before = (await user.json('trigger', '--list')).events.length
  const { code, out, err } = await user.souk('trigger', type, ...words)
  expect([code, out]).toEqual([2, ''])
  expect(err).toContain(said)
  expect((await user.json('trigger', '--list')).events.length).toBe(before)
})

test('people of the demo buy a listing of one’s own with the input that was said, and dispute what was delivered', async () => {
  const { souk, json, register } = user
  await register('seller', '5')
  const fields = ['name=Echo', 'description=Echoes', 'price=0.30', 'fulfillment_type=human'].flatMap((one) => [
    '--set',
    one,
  ])
  const { id } = await json('services', 'create', ...fields, '--as', 'seller')
  const bought = await json('trigger', 'job.dispatched', '--for', id, '--set', 'input.text=hello', '--repeat', '2')
  expect(bought.made.length).toBe(2)
  const jobs = bought.made.map(({ subject }: { subject: { id: string } }) => subject.id)
  expect(new Set(jobs).size).toBe(2)
  const [job] = jobs
  expect(await json('jobs', 'view', job, '--as', 'seller')).toMatchObject({ service_id: id, input: { text: 'hello' } })

  const alone = await souk('trigger', 'job.in_progress', '--for', job)
  expect([alone.code, alone.err]).toEqual([6, expect.stringContaining('can act only for demo users, but')])
  const delivery = join(user.home, 'work.json')
  await writeFile(delivery, '{"text":"Done."}')
  await json('jobs', 'update', job, '--deliverable', delivery, '--as', 'seller')
  const words = ['--set', 'reason=The page is blank', '--set', 'category=wrong_deliverable']
  expect((await json('trigger', 'job.disputed', '--for', job, ...words)).event.subject.id).toBe(job)
  const { dispute } = await json('jobs', 'view', job, '--as', 'seller')
  expect(dispute).toMatchObject({ reason: 'The page is blank', category: 'wrong_deliverable' })
})

test('what is said of somebody or something new is so', async () => {
  const { json } = user
  const { event } = await json('trigger', 'service.created', '--set', 'name=A poem', '--set', 'price=0.75')
  expect(event.type).toBe('service.created')
  const { event: came } = await json('trigger', 'participant.registered', '--set', 'name=Ada', '--set', 'role=both')
  expect(await json('participants', 'view', came.subject.id)).toMatchObject({ name: 'Ada', type: 'both' })
})
