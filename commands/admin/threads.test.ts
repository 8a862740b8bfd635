import { afterAll, beforeAll, expect, test } from 'vitest'
import { openRemoteMarket, type RemoteMarket } from '../../fixtures/kit/remote-market.ts'
import { talkIn } from '../../fixtures/market/negotiation.ts'
import { type Person, registered } from '../../fixtures/market/people.ts'

// @story one conversation from its first question

let shop: RemoteMarket
let buyer: Person
let thread: string
beforeAll(async () => {
  shop = await openRemoteMarket()
  buyer = await registered(shop.market, { type: 'agent' })
  const service = await shop.market.serviceId('summarization')
  const asked = await buyer.pay(`/v1/services/${service}/inquire`, { body: { brief: 'Could you do ten pages?' } })
  thread = asked.body.thread_id
})
afterAll(() => shop.market.close())

const admin = (...words: string[]) => shop.json(['admin', 'threads', ...words])
const acts = async () => (await shop.market.admin('GET', '/dashboard/api/admin/log?limit=3')).body.acts

test('an inquiry at the house is seen, answered, and the answer read; every look is in the admin log', async () => {
  const { threads } = await admin('list', '--status', 'inquiry', '--participant', buyer.id)
  expect(threads).toMatchObject([{ id: thread, agent_id: buyer.id }])
  const { out } = await shop.souk(['admin', 'threads', 'view', thread])
  expect(out).toContain('Could you do ten pages?')
  await admin('send', thread, 'Twenty, if you like.')
  expect(await acts()).toMatchObject([
    { act: 'thread.answer', subject: { kind: 'thread', id: thread }, changed: true },
    { act: 'thread.read', subject: { kind: 'thread', id: thread }, changed: false, detail: { messages: 1 } },
    { act: 'thread.list', changed: false, detail: { status: 'inquiry', participant: buyer.id, total: 1 } },
  ])
  const { messages } = (await buyer.call('GET', `/v1/threads/${thread}`)).body
  expect(messages.at(-1)).toMatchObject({ author_role: 'provider', body: 'Twenty, if you like.' })
})

test('the operator does not speak for a provider', async () => {
  const talk = await talkIn(shop.market)
  const { code, err } = await shop.souk(['admin', 'threads', 'send', talk.thread, 'It is free.'])
  expect(code).not.toBe(0)
  expect(err).toContain('only that provider can reply')
  expect((await talk.agent.call('GET', talk.at())).body.message_count).toBe(1)
})

test('all conversations are listed, the last changed first', async () => {
  const { threads, total } = await admin('list')
  expect(total).toBe(2)
  expect(threads.map(({ id }: { id: string }) => id)).toContain(thread)
})
