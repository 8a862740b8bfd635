import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openProvider, type Provider } from '../../../fixtures/kit/provider.ts'
import { type Escrow, openEscrow, stranger } from '../../../fixtures/market/escrow.ts'
import { signPayment } from '../../../fixtures/market/marketplace.ts'
import { BRIEF, closeWindow, OFFER, openTalk } from '../../../fixtures/market/negotiation.ts'
import { registered } from '../../../fixtures/market/people.ts'
import { DAY_MS, HOUR_MS } from '../../../src/core/time.ts'
import { events } from '../../events/rows.ts'
import { account } from '../ledger/legs.ts'
import { deliveryWorker } from '../webhooks/worker.ts'

let market: Escrow
let inbox: Provider
beforeAll(async () => {
  market = await openEscrow()
  inbox = await openProvider('/agent')
})
afterAll(async () => {
  expect(await market.faults()).toEqual([])
  await market.close()
  await inbox.close()
})

const call = (path: string, options = {}) => market.market.call('POST', path, options)
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

describe('an inquiry', () => {
  test('costs $0.001 and opens a conversation with what is wanted, which the provider hears of', async () => {
    const service = await market.list('human', { pricing_model: 'quote_required', price: null })
    const agent = await market.agent()
    const before = await market.onChain(agent)
    const asked = await agent.pay(`/v1/services/${service}/inquire`, { body: { brief: BRIEF } })
    expect([asked.status, before - (await market.onChain(agent))]).toEqual([200, 1_000n])
    const thread = asked.body.thread_id
    expect(asked.body).toMatchObject({
      service_id: service,
      agent_id: agent.id,
      provider_id: market.provider.id,
      status: 'inquiry',
      proposal: null,
      job_id: null,
      messages: [{ author_role: 'buyer', type: 'message', body: JSON.stringify(BRIEF, null, 2) }],
    })
    expect((await market.provider.call('GET', `/v1/threads/${thread}`)).body).toEqual(asked.body)
    expect(await typesTold(market.hook, thread)).toEqual(['thread_inquiry'])
    expect(told(market.hook, thread)[0]).toMatchObject({
      service_id: service,
      agent_id: agent.id,
      brief: BRIEF,
      propose_url: `${market.market.url()}/v1/threads/${thread}/propose`,
    })
    expect(await ownEvents(market.provider.id, thread)).toEqual(['message.created', 'thread.inquiry'])
    expect(await ownEvents(agent.id, thread)).toEqual(['thread.inquiry'])
  })

  test('may be about a service with a price, in words, and from the balance', async () => {
    const service = await market.list('automated')
    const agent = await market.agent({ balance: '1.00' })
    const asked = await call(`/v1/services/${service}/inquire`, {
      body: { brief: 'Could you do ten at once?' },
      headers: { 'X-BALANCE-AUTH': agent.key },
    })
    expect([asked.status, asked.body.messages[0].body]).toEqual([200, 'Could you do ten at once?'])
    expect(await market.booked(account.balance(agent.id))).toBe(999_000n)
  })

  test('is refused uncharged: to one’s own service, to what is not offered, to who did not register', async () => {
    const service = await market.list('human')
    const away = await market.list('human')
    await market.provider.call('PUT', `/v1/services/${away}`, { status: 'inactive' })
    const agent = await market.agent()
    const nobody = await stranger(market.market)
    for (const [who, id, status, code] of [
      [market.provider, service, 409, 'conflict'],
      [agent, away, 404, 'not_found'],
      [agent, 'svc_00000000000000ff', 404, 'not_found'],
      [nobody, service, 403, 'registration_required'],
    ] as const) {
      const before = await market.onChain(who)
      const refused = await who.pay(`/v1/services/${id}/inquire`, { body: { brief: 'x' } })
      expect([refused.status, refused.body.code, await market.onChain(who)]).toEqual([status, code, before])
    }
  })

  test.each([{}, { brief: ' ' }, { brief: 7 }, { brief: { text: 'x'.repeat(40_000) } }, { brief: 'x', price: '1' }])(
    'with a bad body is a 400 and costs nothing (%#)',
    async (body) => {
      const service = await market.list('human')
      const agent = await market.agent()
      const before = await market.onChain(agent)
      const refused = await agent.pay(`/v1/services/${service}/inquire`, { body })
      expect([refused.status, refused.body.code, await market.onChain(agent)]).toEqual([400, 'invalid_request', before])
    },
  )
})

describe('a proposal', () => {
  test('is divided as a sale is, lasts 7 days, and reaches the buyer', async () => {
    const agent = await market.agent()
    await agent.call('PUT', `/v1/participants/${agent.id}`, { webhook_url: inbox.url })
    const talk = await openTalk(market, { agent })
    const offered = await talk.propose({ fixed: '$0.25' }, { message: 'By Friday', estimated_delivery: '2 days' })
    const { proposal } = offered.body
    expect([offered.status, offered.body.status]).toEqual([200, 'negotiating'])
    expect(proposal).toMatchObject({
      status: 'open',
      price: '0.25',
      agent_price: '0.263',
      provider_net_price: '0.25',
      message: 'By Friday',
      estimated_delivery: '2 days',
    })
    expect(Date.parse(proposal.expires_at) - Date.parse(proposal.proposed_at)).toBe(7 * DAY_MS)
    expect(await typesTold(inbox, talk.thread)).toEqual(['thread.proposal'])
    expect(told(inbox, talk.thread)[0]).toMatchObject({
      agent_price: '0.263',
      expires_at: proposal.expires_at,
      accept_url: `${market.market.url()}${talk.at('accept')}`,
    })
    expect(await ownEvents(agent.id, talk.thread)).toEqual(['thread.inquiry', 'message.created', 'thread.proposal'])
    const { messages } = (await agent.call('GET', talk.at())).body
    expect(messages.at(-1)).toMatchObject({ author_role: 'provider', type: 'proposal' })
    expect(messages.at(-1).body).toContain('$0.25, in 2 days; the buyer pays $0.263. By Friday')
  })

  test('takes the place of the one before it', async () => {
    const talk = await openTalk(market)
    const first = (await talk.propose('1.00')).body.proposal
    const second = (await talk.propose('2.00')).body.proposal
    expect((await talk.agent.call('GET', talk.at())).body.proposal).toEqual(second)
    expect(Date.parse(second.proposed_at)).toBeGreaterThan(Date.parse(first.proposed_at))
    const offer = await call(talk.at('accept'))
    expect(offer.body.accepts[0].maxAmountRequired).toBe('2100000')
  })

  test.each(['0', '0.0005', '10000.001', '-1', 'free', { fixed: '1', per: 'hour' }, 0.00005])(
    'at the price %j is a 400 that names it',
    async (price) => {
      const talk = await openTalk(market)
      const refused = await talk.propose(price)
      expect([refused.status, refused.body.details[0].path.split('.')[0]]).toEqual([400, 'price'])
      expect((await talk.agent.call('GET', talk.at())).body.status).toBe('inquiry')
    },
  )

  test('is the provider’s of that conversation alone to make', async () => {
    const talk = await openTalk(market)
    const rival = await registered(market.market, { type: 'provider' })
    expect((await rival.call('POST', talk.at('propose'), { price: '1' })).status).toBe(403)
    const unknown = await rival.call('POST', '/v1/threads/thr_00000000000000ff/propose', { price: '1' })
    expect([unknown.status, unknown.body.code]).toEqual([404, 'not_found'])
    expect((await talk.agent.call('POST', talk.at('propose'), { price: '1' })).status).toBe(403)
  })
})

describe('an accepted price', () => {
  test.each([1, 2, 'balance'] as const)('is paid into escrow by %s and becomes a job like a purchase', async (by) => {
    const talk = await openTalk(market)
    const paid = async () => (await market.onChain(talk.agent)) + (await market.booked(account.balance(talk.agent.id)))
    await talk.propose(OFFER.price, { estimated_delivery: '3 days' })
    const before = await paid()
    const accepted = await talk.accept({ by })
    expect(accepted.status).toBe(200)
    expect(before - (await paid())).toBe(OFFER.agent)
    const { job_id, job, proposal, status, amount, receipt_id, status_url } = accepted.body
    expect([status, proposal.status, amount, receipt_id]).toEqual(['accepted', 'accepted', '2.10', job.receipt_id])
    expect(status_url).toBe(`${market.market.url()}/v1/jobs/${job_id}`)
    const row = await market.job(job_id)
    expect(row).toMatchObject({
      thread_id: talk.thread,
      status: 'dispatched',
      escrow_status: 'held',
      input: BRIEF,
      amount: OFFER.agent,
      provider_amount: OFFER.net,
      fee: OFFER.fee,
      payment_method: by === 'balance' ? 'balance' : 'x402',
      next_event: 'expire',
    })
    expect((row.deadline_at ?? 0) - row.created_at).toBe(9 * DAY_MS)
    expect(await market.escrowed(job_id)).toBe(OFFER.agent)
    expect(await typesTold(market.hook, talk.thread)).toEqual(['thread_inquiry', 'price_accepted', 'job_dispatch'])
    const [, price, dispatch] = told(market.hook, talk.thread)
    expect(price).toMatchObject({ job_id, service_id: talk.service, agent_price: '2.10', provider_net_price: '2.00' })
    expect(dispatch).toMatchObject({
      job_id,
      brief: BRIEF,
      callback_url: `${market.market.url()}${talk.at('update')}`,
    })
    const { entries } = (await talk.agent.call('GET', '/v1/balance/history')).body
    expect(entries.map((entry: { type: string }) => entry.type)).toEqual(
      by === 'balance' ? ['escrow_hold', 'deposit'] : ['deposit'],
    )
  })

  test('goes on as its job does, to the release', async () => {
    const talk = await openTalk(market)
    await talk.propose(OFFER.price)
    const { job_id } = (await talk.accept({ by: 'balance' })).body
    const status = async () => (await talk.agent.call('GET', talk.at())).body.status
    const update = (body: object) => talk.provider.call('POST', talk.at('update'), body)
    await update({ status: 'in_progress' })
    expect(await status()).toBe('in_progress')
    await update({ status: 'completed', deliverables: { words: 4 } })
    expect(await status()).toBe('completed')
    const before = await market.booked(account.provider(talk.provider.id))
    expect((await talk.agent.pay(talk.at('verify'), { body: { rating: 5 } })).status).toBe(200)
    await market.monitor()
    expect([await status(), (await market.job(job_id)).status]).toEqual(['verified', 'released'])
    expect((await market.booked(account.provider(talk.provider.id))) - before).toBe(OFFER.net)
  })

  test('may be declined before it is done, and the payment goes back', async () => {
    const talk = await openTalk(market)
    await talk.propose(OFFER.price)
    const before = await market.booked(account.balance(talk.agent.id))
    await talk.accept({ by: 'balance' })
    const declined = await talk.agent.call('POST', talk.at('decline'), { reason: 'Changed my mind' })
    expect([declined.status, declined.body.status, declined.body.job.status]).toEqual([200, 'cancelled', 'cancelled'])
    expect(await market.booked(account.balance(talk.agent.id))).toBe(before)
  })

  test('is the buyer’s to accept, once, and in time; a refusal costs nothing', async () => {
    const talk = await openTalk(market)
    const nothing = await call(talk.at('accept'))
    expect([nothing.status, nothing.body.code, nothing.body.from, nothing.body.allowed]).toEqual([
      409,
      'invalid_transition',
      'inquiry',
      ['decline'],
    ])
    await talk.propose('1.00')
    const other = await market.agent()
    const nobody = await stranger(market.market)
    for (const [who, code] of [
      [other, 'forbidden'],
      [nobody, 'registration_required'],
      [talk.provider, 'forbidden'],
    ] as const) {
      const before = await market.onChain(who)
      const refused = await who.pay(talk.at('accept'), { body: {} })
      expect([refused.status, refused.body.code, await market.onChain(who)]).toEqual([403, code, before])
    }
    market.pass(7 * DAY_MS - HOUR_MS)
    expect((await call(talk.at('accept'))).status).toBe(402)
    market.pass(HOUR_MS)
    const late = await call(talk.at('accept'), { body: {}, headers: { 'X-BALANCE-AUTH': talk.agent.key } })
    expect([late.status, late.body.code, late.body.from, late.body.allowed]).toEqual([
      409,
      'invalid_transition',
      'expired',
      [],
    ])
    expect((await talk.agent.call('GET', talk.at())).body.proposal.status).toBe('expired')
    await talk.propose('1.00')
    expect((await talk.accept({ by: 'balance' })).status).toBe(200)
    const again = await talk.accept({ by: 'balance' })
    expect([again.status, again.body.from]).toEqual([409, 'accepted'])
    expect((await call('/v1/threads/thr_00000000000000ff/accept')).status).toBe(404)
  })

  test('is the one that was asked for: another that has taken its place is refused, uncharged', async () => {
    const talk = await openTalk(market)
    const cheap = (await talk.propose('1.00', { estimated_delivery: '1 day' })).body.proposal
    const offer = await call(talk.at('accept'))
    const slow = (await talk.propose('1.00', { estimated_delivery: '14 days' })).body.proposal
    await closeWindow(market, talk.thread)
    const before = await market.onChain(talk.agent)
    const headers = await signPayment(talk.agent.account, offer)
    const refused = await call(talk.at('accept'), { body: { proposed_at: cheap.proposed_at }, headers })
    expect([refused.status, refused.body.code, refused.body.proposed_at]).toEqual([409, 'conflict', slow.proposed_at])
    await talk.propose('2.00')
    await closeWindow(market, talk.thread)
    const dearer = await call(talk.at('accept'), { body: {}, headers: await signPayment(talk.agent.account, offer) })
    expect([dearer.status, dearer.body.accepts[0].maxAmountRequired]).toEqual([402, '2100000'])
    expect(await market.onChain(talk.agent)).toBe(before)
  })

  test('waits while escrow is paused, before the 402', async () => {
    const talk = await openTalk(market)
    await talk.propose('1.00')
    await market.setPaused({ escrow: true })
    const refused = await call(talk.at('accept'))
    expect([refused.status, refused.body.code, refused.body.feature]).toEqual([503, 'paused', 'escrow'])
    await market.setPaused({ escrow: false })
    expect((await talk.accept({ by: 'balance' })).status).toBe(200)
  })

  test('is answered again to who sends the same payment again', async () => {
    const talk = await openTalk(market)
    await talk.propose('1.00')
    const [first, second] = [
      await talk.accept({ by: 'balance', key: 'k' }),
      await talk.accept({ by: 'balance', key: 'k' }),
    ]
    expect([second.text, second.headers.get('Idempotency-Replayed')]).toEqual([first.text, 'true'])
  })
})

describe('before there is a job', () => {
  test('what is asked of it is a 409 that says what can be done, and a 403 for others', async () => {
    const talk = await openTalk(market)
    const other = await market.agent()
    const complaint = { reason: 'bad', category: 'quality' }
    const before = await market.onChain(talk.agent)
    const answers = [
      [await talk.provider.call('POST', talk.at('update'), { status: 'in_progress' }), ['propose', 'decline']],
      [await talk.agent.pay(talk.at('verify'), { body: {} }), ['decline']],
      [await talk.agent.call('POST', talk.at('dispute'), complaint), ['decline']],
      [await talk.agent.pay(talk.at('dispute'), { body: complaint }), ['decline']],
    ] as const
    for (const [{ status, body }, allowed] of answers) {
      expect([status, body.code, body.from, body.allowed]).toEqual([409, 'invalid_transition', 'inquiry', allowed])
    }
    expect(await market.onChain(talk.agent)).toBe(before)
    expect((await other.pay(talk.at('verify'), { body: {} })).status).toBe(403)
    expect((await other.call('POST', talk.at('dispute'), complaint)).status).toBe(403)
    expect((await other.call('POST', talk.at('decline'), {})).status).toBe(403)
  })

  test.each(['agent', 'provider'] as const)('the %s may decline, and then nothing more happens', async (who) => {
    const talk = await openTalk(market)
    await talk.propose('1.00')
    const declined = await talk[who].call('POST', talk.at('decline'), { reason: 'no' })
    expect([declined.status, declined.body.status, declined.body.proposal.status]).toEqual([
      200,
      'cancelled',
      'declined',
    ])
    for (const refused of [
      await talk.agent.call('POST', talk.at('decline'), {}),
      await talk.propose('1.00'),
      await call(talk.at('accept')),
    ]) {
      const { code, from, allowed } = refused.body
      expect([refused.status, code, from, allowed]).toEqual([409, 'invalid_transition', 'cancelled', []])
    }
    expect((await talk.agent.call('POST', talk.at('messages'), { message: 'but' })).status).toBe(409)
  })
})
