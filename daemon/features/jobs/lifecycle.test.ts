import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checkedBy } from '../../../fixtures/kit/provider.ts'
import { type Escrow, openEscrow, PRICE, stranger } from '../../../fixtures/market/escrow.ts'
import { type Person, registered } from '../../../fixtures/market/people.ts'
import { DAY_MS, HOUR_MS } from '../../../src/core/time.ts'
import { participants } from '../../kernel/rows.ts'
import { commit } from '../../store/draw.ts'
import { account } from '../ledger/legs.ts'
import { insertThread, threads } from '../threads/rows.ts'
import { deliveryWorker } from '../webhooks/worker.ts'

let market: Escrow
let human: string
let automated: string
beforeAll(async () => {
  market = await openEscrow()
  market.hook.answer = () => ({ status: 202 })
  human = await market.list('human')
  automated = await market.list('automated')
})
afterAll(async () => {
  expect(await market.faults()).toEqual([])
  await market.close()
})

const done = { status: 'completed', deliverables: { words: 3 } }
const update = (id: string, body: unknown) => market.provider.call('POST', `/v1/jobs/${id}/update`, body)

/** A job that a new agent bought and the provider delivered. */
async function delivered(service = human, from: 'x402' | 'balance' = 'x402') {
  const who = await market.agent({ balance: '5.00' })
  const { body } = await market.buy(service, who, { from })
  expect((await update(body.job_id, done)).status).toBe(200)
  return { who, id: body.job_id as string, thread: body.thread_id as string }
}

describe('a purchase of a human service', () => {
  test('by a stranger: dispatched, held, told, readable with its token', async () => {
    const ann = await stranger(market.market)
    const bought = await market.buy(human, ann, { body: { text: 'one two three' } })
    expect(bought.body).toEqual({
      job_id: expect.stringMatching(/^job_[0-9a-f]{16}$/),
      thread_id: expect.stringMatching(/^thr_[0-9a-f]{16}$/),
      service_id: human,
      status: 'dispatched',
      status_url: `${market.market.url()}/v1/jobs/${bought.body.job_id}`,
      amount: '0.525',
      receipt_id: expect.stringMatching(/^rcp_[0-9a-f]{16}$/),
      access_token: expect.stringMatching(/^jt_[0-9a-f]{64}$/),
    })
    const id = bought.body.job_id
    expect([await market.escrowed(id), await market.threadStatus(bought.body.thread_id)]).toEqual([
      PRICE.agent,
      'accepted',
    ])
    const read = await market.market.call('GET', `/v1/jobs/${id}`, {
      headers: { Authorization: `Bearer ${bought.body.access_token}` },
    })
    const { status, escrow, timeline, created_at, deadline_at } = read.body
    expect([status, escrow.status, escrow.next_event, escrow.next_event_at]).toEqual([
      'dispatched',
      'held',
      'expire',
      deadline_at,
    ])
    expect(Date.parse(deadline_at) - Date.parse(created_at)).toBe(DAY_MS)
    expect(timeline.map((entry: { event: string }) => entry.event)).toEqual(['paid', 'dispatched'])

    await deliveryWorker.of(market.ctx()).idle()
    const message = market.hook.received.find(({ body }) => body.job_id === id)
    expect(message?.body).toEqual({
      type: 'job_dispatch',
      event_id: expect.any(String),
      created_at: expect.any(String),
      job_id: id,
      service_id: human,
      service_name: 'Word count',
      brief: { text: 'one two three' },
      callback_url: `${market.market.url()}/v1/threads/${bought.body.thread_id}/update`,
      thread_id: bought.body.thread_id,
    })
    const secret = (await market.ctx().store.table(participants).get(market.provider.id))?.webhook_secret
    expect(message && checkedBy(message, secret ?? '')).toMatchObject({ standard: true, hex: true })
  })

  test('from a balance: the hold becomes escrow, and history calls it so', async () => {
    const who = await market.agent({ balance: '1.00' })
    const bought = await market.buy(human, who, { from: 'balance' })
    expect([bought.status, bought.body.access_token]).toEqual([200, undefined])
    expect([await market.escrowed(bought.body.job_id), await market.booked(account.balance(who.id))]).toEqual([
      PRICE.agent,
      1_000_000n - PRICE.agent,
    ])
    const history = await who.call('GET', '/v1/balance/history')
    expect(history.body.entries[0]).toMatchObject({ type: 'escrow_hold', amount: '-0.525' })
  })

  test('is a 400 for a bad input, a 409 for one’s own, and charges neither', async () => {
    const strict = await market.list('human', {
      input_schema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    })
    const who = await market.agent()
    const before = await market.onChain(who)
    const refused = await market.buy(strict, who, { body: { text: 5 } })
    expect([refused.status, refused.body.code, refused.body.details[0].path]).toEqual([400, 'input_invalid', 'text'])
    const own = await market.buy(human, market.provider)
    expect([own.status, own.body.code]).toEqual([409, 'conflict'])
    expect(await market.onChain(who)).toBe(before)
  })
})

describe('a delivery', () => {
  test('job verify pays the provider at once, with the shares of who referred them', async () => {
    const referrer = await market.agent()
    const who = await market.agent({ referral: referrer.id })
    const before = [account.provider(market.provider.id), account.fees, account.referralPending(referrer.id)]
    const balances = await Promise.all(before.map(market.booked))
    const { body } = await market.buy(human, who)
    expect((await update(body.job_id, { status: 'in_progress', notes: 'reading', progress: 40 })).body.status).toBe(
      'in_progress',
    )
    expect(await market.threadStatus(body.thread_id)).toBe('in_progress')
    const completed = await update(body.job_id, { ...done, notes: 'here' })
    expect([completed.body.status, completed.body.escrow.next_event]).toEqual(['completed', 'verify'])
    expect(Date.parse(completed.body.escrow.next_event_at) - Date.parse(completed.body.completed_at)).toBe(48 * HOUR_MS)
    const verified = await who.pay(`/v1/jobs/${body.job_id}/verify`, { body: { rating: 5, comment: 'good' } })
    expect([verified.status, verified.body.status, verified.body.escrow.status]).toEqual([200, 'released', 'released'])
    expect(verified.body.verification).toMatchObject({ by: 'buyer', rating: 5, comment: 'good' })
    const after = await Promise.all(before.map(market.booked))
    const share = PRICE.fee / 5n
    expect(after.map((amount, at) => amount - (balances[at] ?? 0n))).toEqual([PRICE.net, PRICE.fee - share, share])
    expect([await market.escrowed(body.job_id), await market.threadStatus(body.thread_id)]).toEqual([0n, 'verified'])
    const record = await who.call('GET', `/v1/jobs/${body.job_id}`)
    expect(record.body.deliverables).toEqual([{ words: 3 }])
    expect(record.body.timeline.map((entry: { event: string }) => entry.event)).toEqual([
      'paid',
      'dispatched',
      'in_progress',
      'completed',
      'verified',
      'released',
    ])
    const talk = await who.call('GET', `/v1/threads/${body.thread_id}`)
    const said = talk.body.messages.map(({ author_role: by, type }: Record<string, string>) => [by, type])
    expect(said).toEqual([
      ['provider', 'status'],
      ['provider', 'delivery'],
      ['buyer', 'status'],
      ['buyer', 'status'],
    ])
  })

  test('thread verify leaves it verified, and the monitor pays', async () => {
    const { who, id, thread } = await delivered()
    const verified = await who.pay(`/v1/threads/${thread}/verify`, { body: {} })
    expect([verified.status, verified.body.status, verified.body.job.status]).toEqual([200, 'verified', 'verified'])
    expect(await market.escrowed(id)).toBe(PRICE.agent)
    await market.monitor()
    expect([(await market.job(id)).status, await market.escrowed(id)]).toEqual(['released', 0n])
  })

  test('of a machine is verified at once, of a person after 48 h', async () => {
    const [machine, person] = [await delivered(automated), await delivered()]
    expect((await market.job(machine.id)).status).toBe('verified')
    expect((await market.job(machine.id)).verification?.by).toBe('auto')
    await market.monitor()
    expect((await market.job(machine.id)).status).toBe('released')
    market.pass(48 * HOUR_MS - 60_000)
    await market.monitor()
    expect((await market.job(person.id)).status).toBe('completed')
    market.pass(60_000)
    await market.monitor()
    expect([(await market.job(person.id)).status, (await market.job(person.id)).verification?.by]).toEqual([
      'released',
      'auto',
    ])
  })

  test('may come at the thread, under other names, with members that mean nothing', async () => {
    const who = await market.agent()
    const { body } = await market.buy(human, who)
    const path = `/v1/threads/${body.thread_id}/update`
    const answer = await market.provider.call('POST', path, {
      status: 'completed',
      result: { words: 1 },
      message: 'done',
      trace: 'x',
    })
    expect([answer.status, answer.body.thread_id, answer.body.job.status, answer.body.job.notes]).toEqual([
      200,
      body.thread_id,
      'completed',
      'done',
    ])
    expect((await market.job(body.job_id)).deliverables).toEqual([{ words: 1 }])
  })

  test('a buyer with an endpoint hears of it', async () => {
    const who = await market.agent()
    await who.call('PUT', `/v1/participants/${who.id}`, { webhook_url: market.hook.url })
    const { body } = await market.buy(human, who)
    await update(body.job_id, { status: 'failed', notes: 'no time' })
    await deliveryWorker.of(market.ctx()).idle()
    const heard = market.hook.received.filter((one) => one.body.job_id === body.job_id).map((one) => one.body)
    expect(heard.map((message) => [message.type, message.status])).toEqual([
      ['job_dispatch', undefined],
      ['job.failed', 'failed'],
    ])
  })
})

describe('money goes back whole', () => {
  const ends: [string, (id: string, thread: string, who: Person) => Promise<unknown>, string][] = [
    ['the provider fails', (id) => update(id, { status: 'failed', notes: 'no time' }), 'failed'],
    ['the buyer cancels', (_, thread, who) => who.call('POST', `/v1/threads/${thread}/decline`, {}), 'cancelled'],
    [
      'the provider cancels',
      (_, thread) => market.provider.call('POST', `/v1/threads/${thread}/decline`, { reason: 'ill' }),
      'cancelled',
    ],
    ['the deadline passes', () => pastDeadline(), 'expired'],
    [
      'the administrator withdraws it',
      (id) =>
        market.market.admin('POST', `/dashboard/api/admin/jobs/${id}/emergency-withdraw`, { body: { reason: 'x' } }),
      'refunded',
    ],
  ]
  async function pastDeadline() {
    market.pass(DAY_MS)
    await market.monitor()
  }

  test.each(ends)('when %s', async (_, end, status) => {
    const who = await market.agent({ balance: '1.00' })
    const inWallet = await market.onChain(who)
    const [byWallet, byBalance] = [await market.buy(human, who), await market.buy(human, who, { from: 'balance' })]
    for (const { body } of [byWallet, byBalance]) await end(body.job_id, body.thread_id, who)
    expect(await market.faults()).toEqual([])
    const rows = await Promise.all([byWallet, byBalance].map(({ body }) => market.job(body.job_id)))
    expect(rows.map((row) => [row.status, row.escrow_status, row.open, row.ended_at !== null])).toEqual([
      [status, 'refunded', false, true],
      [status, 'refunded', false, true],
    ])
    expect([await market.onChain(who), await market.booked(account.balance(who.id))]).toEqual([inWallet, 1_000_000n])
    expect(await market.threadStatus(byWallet.body.thread_id)).toBe('cancelled')
  })
})

describe('who may do what', () => {
  test('others are 403, unknown ones 404, and nobody is charged for it', async () => {
    const { id, thread } = await delivered()
    const other = await market.agent()
    const rival = await registered(market.market, { type: 'provider' })
    const before = await market.onChain(other)
    const complaint = { reason: 'bad', category: 'quality' }
    const calls = await Promise.all([
      other.pay(`/v1/jobs/${id}/verify`, { body: {} }),
      other.pay(`/v1/threads/${thread}/verify`, { body: {} }),
      other.pay(`/v1/jobs/${id}/dispute`, { body: complaint }),
      other.pay(`/v1/threads/${thread}/dispute`, { body: complaint }),
      other.call('POST', `/v1/threads/${thread}/dispute`, complaint),
      other.call('POST', `/v1/threads/${thread}/decline`, {}),
      other.call('POST', `/v1/jobs/${id}/update`, done),
      rival.call('POST', `/v1/jobs/${id}/update`, done),
      rival.call('POST', `/v1/threads/${thread}/update`, done),
      market.provider.pay(`/v1/jobs/${id}/verify`, { body: {} }),
    ])
    expect(calls.map(({ status }) => status)).toEqual(calls.map(() => 403))
    const lost = 'job_00000000000000ff'
    const unknown = await Promise.all([
      other.pay(`/v1/jobs/${lost}/verify`, { body: {} }),
      other.pay(`/v1/threads/thr_00000000000000ff/verify`, { body: {} }),
      update(lost, done),
      market.market.admin('POST', `/dashboard/api/admin/jobs/${lost}/resolve`, {
        body: { outcome: 'refund', reason: 'x' },
      }),
    ])
    expect(unknown.map(({ status }) => status)).toEqual([404, 404, 404, 404])
    expect(await market.onChain(other)).toBe(before)
    expect((await market.job(id)).status).toBe('completed')
  })

  test('the token of an anonymous purchase disputes, and only there', async () => {
    const ann = await stranger(market.market)
    const [one, two] = [await market.buy(human, ann), await market.buy(human, ann)]
    for (const { body } of [one, two]) await update(body.job_id, done)
    const dispute = (thread: string) =>
      market.market.call('POST', `/v1/threads/${thread}/dispute`, {
        body: { reason: 'not it', category: 'wrong_deliverable' },
        headers: { Authorization: `Bearer ${one.body.access_token}` },
      })
    expect((await dispute(two.body.thread_id)).status).toBe(401)
    const disputed = await dispute(one.body.thread_id)
    expect([disputed.status, disputed.body.status, disputed.body.job.dispute.category]).toEqual([
      200,
      'disputed',
      'wrong_deliverable',
    ])
  })
})

describe('declining a conversation in which nothing was bought', () => {
  test.each(['buyer', 'provider'] as const)('by the %s ends it, once', async (side) => {
    const who = await market.agent()
    const { body } = await market.buy(human, who)
    // A negotiation stands in the store as a conversation without a job.
    const thread = await commit(market.ctx(), async (t, draw) => {
      const row = await t.table(threads).get(body.thread_id)
      if (!row) throw new Error('no thread')
      return insertThread(t, { ...row, id: draw.id('thread'), job_id: null, status: 'negotiating' })
    })
    const decline = () =>
      (side === 'buyer' ? who : market.provider).call('POST', `/v1/threads/${thread.id}/decline`, {
        reason: 'too dear',
      })
    const declined = await decline()
    expect([declined.status, declined.body.status, declined.body.job]).toEqual([200, 'cancelled', undefined])
    const again = await decline()
    expect([again.status, again.body.code, again.body.from]).toEqual([409, 'invalid_transition', 'cancelled'])
    const update = await market.provider.call('POST', `/v1/threads/${thread.id}/update`, done)
    expect([update.status, update.body.code, update.body.from]).toEqual([409, 'invalid_transition', 'cancelled'])
  })
})

test('under the cutover the shelved rows are 410, and the others go on', async () => {
  const { who, id, thread } = await delivered()
  const cutOver = (checkout_v2: boolean) =>
    market.market.admin('PUT', '/dashboard/api/admin/features', { body: { checkout_v2 } })
  await cutOver(true)
  const shelved = await Promise.all([
    update(id, done),
    who.pay(`/v1/jobs/${id}/verify`, { body: {} }),
    who.pay(`/v1/jobs/${id}/dispute`, { body: { reason: 'x', category: 'other' } }),
    who.call('POST', `/v1/threads/${thread}/decline`, {}),
  ])
  expect(shelved.map(({ status, body }) => [status, body.feature])).toEqual([
    [410, 'escrow_jobs'],
    [410, 'escrow_jobs'],
    [410, 'escrow_jobs'],
    [410, 'negotiation'],
  ])
  const verified = await who.pay(`/v1/threads/${thread}/verify`, { body: {} })
  expect([verified.status, verified.body.job.status]).toEqual([200, 'verified'])
  await cutOver(false)
})
