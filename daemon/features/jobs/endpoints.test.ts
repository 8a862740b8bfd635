import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chainWith } from '../../../fixtures/kit/faults.ts'
import { checkedBy, type Answer as Reply } from '../../../fixtures/kit/provider.ts'
import { type Escrow, type Listing, openEscrow, PRICE } from '../../../fixtures/market/escrow.ts'
import { participants } from '../../kernel/rows.ts'
import { account } from '../ledger/legs.ts'
import { deliveryWorker } from '../webhooks/worker.ts'

/* What endpoints of providers answer: to an instant purchase while the buyer waits, to a dispatch from the queue. */

let market: Escrow
let instant: string
/** Whether the chain says that a wallet has spent its money elsewhere meanwhile. */
let isBroke = false
const deliverable_schema = { type: 'object', properties: { words: { type: 'integer' } }, required: ['words'] }
beforeAll(async () => {
  const chain = chainWith((real) => ({
    settle: async (...payment) =>
      isBroke ? { ok: false, failure: 'insufficient_funds', sent: false } : real.settle(...payment),
  }))
  market = await openEscrow({ chain })
  instant = await market.list('instant', { deliverable_schema })
})
afterAll(async () => {
  expect(await market.faults()).toEqual([])
  await market.close()
})

const answerWith = (body: unknown, status = 200): Reply => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: typeof body === 'string' ? body : JSON.stringify(body),
})

describe('an instant service of a provider', () => {
  test.each<[string, unknown]>([
    ['a bare result', { words: 3 }],
    ['a report', { status: 'completed', deliverables: { words: 3 } }],
    ['a report with an array of one', { status: 'completed', result: [{ words: 3 }] }],
  ])('answers with %s: paid at once, and named in the call', async (_, body) => {
    market.hook.answer = () => answerWith(body)
    const who = await market.agent()
    const before = [account.provider(market.provider.id), account.fees]
    const balances = await Promise.all(before.map(market.booked))
    const bought = await market.buy(instant, who, { body: { text: 'a b c' } })
    expect(bought.body).toMatchObject({ status: 'completed', result: { words: 3 }, deliverables: [{ words: 3 }] })
    const message = market.hook.received.at(-1)
    expect(message?.body).toMatchObject({
      type: 'job_dispatch',
      job_id: bought.body.job_id,
      thread_id: bought.body.thread_id,
      brief: { text: 'a b c' },
    })
    const secret = (await market.ctx().store.table(participants).get(market.provider.id))?.webhook_secret
    expect(message && checkedBy(message, secret ?? '')).toMatchObject({ standard: true, hex: true })
    const after = await Promise.all(before.map(market.booked))
    expect(after.map((amount, at) => amount - (balances[at] ?? 0n))).toEqual([PRICE.net, PRICE.fee])
    const job = await market.job(bought.body.job_id)
    expect([job.status, job.escrow_status]).toEqual(['completed', 'none'])
  })

  test.each<[string, Reply]>([
    ['answers 500', answerWith('no', 500)],
    ['answers what is not JSON', answerWith('<html>')],
    ['answers what the listing does not promise', answerWith({ words: 'three' })],
    ['says that it failed', answerWith({ status: 'failed', notes: 'too long' })],
    ['would answer later', answerWith({ status: 'in_progress' }, 202)],
    ['answers nested too deep', answerWith('['.repeat(40) + ']'.repeat(40))],
    ['sends it elsewhere', { status: 302, headers: { location: 'https://elsewhere.example/' } }],
  ])('that %s is a 502, and the buyer keeps its money', async (_, reply) => {
    market.hook.answer = () => reply
    const who = await market.agent({ balance: '1.00' })
    const before = [await market.onChain(who), await market.booked(account.balance(who.id))]
    for (const from of ['x402', 'balance'] as const) {
      const refused = await market.buy(instant, who, { from, body: { text: 'x' } })
      expect([refused.status, refused.body.code]).toEqual([502, 'provider_failed'])
    }
    expect([await market.onChain(who), await market.booked(account.balance(who.id))]).toEqual(before)
    expect((await who.call('GET', '/v1/jobs')).body.total).toBe(0)
  })

  test('that nobody listens at is a 502; one without an endpoint a 503 before any 402', async () => {
    const dead = await market.list('instant', { webhook_url: 'http://127.0.0.1:9/hook' })
    const who = await market.agent()
    const refused = await market.buy(dead, who)
    expect([refused.status, refused.body.code]).toEqual([502, 'provider_failed'])
    await market.provider.call('PUT', `/v1/participants/${market.provider.id}`, { webhook_url: null })
    const without = await market.buy(instant, who)
    expect([without.status, without.body.code]).toEqual([503, 'unavailable'])
    await market.provider.call('PUT', `/v1/participants/${market.provider.id}`, { webhook_url: market.hook.url })
  })
})

test('an instant provider that was not paid hears so, and the buyer gets nothing', async () => {
  market.hook.answer = () => answerWith({ words: 3 })
  const who = await market.agent()
  isBroke = true
  const refused = await market.buy(instant, who)
  isBroke = false
  expect([refused.status, refused.body.error, refused.text.includes('words')]).toEqual([
    402,
    'insufficient_funds',
    false,
  ])
  const jobsOf = (type: string) =>
    market.hook.received.flatMap(({ body }) => (body.type === type ? [body.job_id as string] : []))
  // What earlier purchases still have to say may come between.
  await expect.poll(() => jobsOf('job.unpaid')).toContain(jobsOf('job_dispatch').at(-1))
  expect((await who.call('GET', '/v1/jobs')).body.total).toBe(0)
})

describe('a dispatch', () => {
  async function dispatched(reply: Reply, change: Listing = { deliverable_schema }) {
    market.hook.answer = () => reply
    const service = await market.list('automated', change)
    const { body } = await market.buy(service, await market.agent())
    await deliveryWorker.of(market.ctx()).idle()
    return market.job(body.job_id)
  }

  test.each<[string, unknown]>([
    ['a bare result', { words: 3 }],
    ['a report', { status: 'completed', deliverables: { words: 3 } }],
  ])('may be answered with %s', async (_, body) => {
    const job = await dispatched(answerWith(body))
    expect([job.status, job.deliverables]).toEqual(['verified', [{ words: 3 }]])
  })

  test('may be answered with a failure, and the money goes back', async () => {
    const job = await dispatched(answerWith({ status: 'failed', notes: 'no' }))
    expect([job.status, job.escrow_status, job.notes]).toEqual(['failed', 'refunded', 'no'])
  })

  test.each<[string, Reply, Listing?]>([
    ['a 202, whatever it says', answerWith({ words: 3 }, 202)],
    ['nothing', answerWith('')],
    ['an acknowledgement', answerWith({ ok: true })],
    ['an acknowledgement where anything would do', answerWith({ ok: true }), {}],
    ['a result that was not promised, to be sent again', answerWith({ status: 'completed', deliverables: 'x' })],
  ])('is still open after %s', async (_, reply, change) => {
    const job = await dispatched(reply, change)
    expect([job.status, job.deliverables]).toEqual(['dispatched', []])
    await market.provider.call('POST', `/v1/jobs/${job.id}/update`, { status: 'failed' })
  })
})
