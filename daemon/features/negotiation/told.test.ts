import { afterAll, beforeAll, expect, test } from 'vitest'
import { openProvider, type Provider } from '../../../fixtures/kit/provider.ts'
import { type Escrow, openEscrow } from '../../../fixtures/market/escrow.ts'
import { openTalk } from '../../../fixtures/market/negotiation.ts'
import { events } from '../../events/rows.ts'
import { deliveryWorker } from '../webhooks/worker.ts'

/* Who hears what of a conversation: endpoints, and the event log for those without one. */

let market: Escrow
let inbox: Provider
beforeAll(async () => {
  market = await openEscrow()
  inbox = await openProvider('/agent')
})
afterAll(async () => {
  await market.close()
  await inbox.close()
})

const told = (hook: Provider, thread: string) =>
  hook.received.map(({ body }) => body).filter((body) => body.thread_id === thread)
const typesTold = async (hook: Provider, thread: string) => {
  await deliveryWorker.of(market.ctx()).idle()
  return told(hook, thread).map(({ type }) => type)
}

async function ownEvents(id: string, thread: string): Promise<string[]> {
  const { rows } = await market.ctx().store.table(events).page('own', [id], { limit: 1_000 })
  return rows.filter((row) => row.subject_id === thread).map((row) => row.type)
}

test('both sides follow it all without an endpoint, each in its own events', async () => {
  const talk = await openTalk(market)
  await talk.propose('0.50')
  await talk.accept({ by: 'balance' })
  const { body } = await talk.agent.call('GET', '/v1/events?types=thread.*,job.*&limit=100')
  const heard = body.events.map(({ type, subject }: { type: string; subject: { id: string } }) => [type, subject.id])
  const job = (await talk.agent.call('GET', talk.at())).body.job_id
  expect(heard).toEqual([
    ['thread.inquiry', talk.thread],
    ['thread.proposal', talk.thread],
    ['thread.accepted', talk.thread],
    ['job.dispatched', job],
  ])
  expect(body.events[1].data).toMatchObject({ status: 'negotiating', proposal: { agent_price: '0.525' } })
  expect(await ownEvents(talk.provider.id, talk.thread)).toEqual([
    'message.created',
    'thread.inquiry',
    'thread.proposal',
    'message.created',
    'thread.accepted',
  ])
})

test('what one says reaches the other’s endpoint', async () => {
  const agent = await market.agent()
  await agent.call('PUT', `/v1/participants/${agent.id}`, { webhook_url: inbox.url })
  const talk = await openTalk(market, { agent })
  await talk.agent.call('POST', talk.at('messages'), { message: 'When?' })
  await talk.provider.call('POST', talk.at('messages'), { message: 'Friday' })
  expect(await typesTold(market.hook, talk.thread)).toEqual(['thread_inquiry', 'new_message'])
  expect(told(market.hook, talk.thread)[1]).toMatchObject({ author_role: 'buyer', message: 'When?', job_id: null })
  expect(await typesTold(inbox, talk.thread)).toEqual(['new_message'])
  expect(told(inbox, talk.thread)[0]).toMatchObject({ author_role: 'provider', message: 'Friday' })
})
