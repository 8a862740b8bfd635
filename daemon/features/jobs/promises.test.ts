import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { runOf } from '../../../fixtures/kit/crash.ts'
import { type Escrow, openEscrow, PRICE, runMonitor } from '../../../fixtures/market/escrow.ts'
import type { Answer } from '../../../fixtures/market/marketplace.ts'
import type { Person } from '../../../fixtures/market/people.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../src/core/time.ts'
import { account } from '../ledger/legs.ts'
import { providerSettlement } from '../payouts/provider-settlement.ts'
import { countWork } from '../reputation/reputation.ts'
import { countedJobs } from '../reputation/rows.ts'

/* What a buyer was told when it paid is what happens, whatever happens to the daemon, its provider or itself. */

let market: Escrow
let human: string
let automated: string
let who: Person
beforeAll(async () => {
  market = await openEscrow()
  human = await market.list('human')
  automated = await market.list('automated', { webhook_url: null })
})
beforeEach(async () => {
  who = await market.agent({ balance: '20.00' })
})
afterAll(async () => {
  expect(await market.faults()).toEqual([])
  await market.close()
})

const done = { status: 'completed', deliverables: { words: 3 } }
const complaint = { reason: 'half of it is missing', category: 'quality' }

async function bought(service = human) {
  const { body } = await market.buy(service, who, { from: 'balance' })
  return { id: body.job_id as string, thread: body.thread_id as string }
}
async function delivered(service = human) {
  const job = await bought(service)
  expect((await market.provider.call('POST', `/v1/jobs/${job.id}/update`, done)).status).toBe(200)
  return job
}
async function released() {
  const job = await delivered(automated)
  await market.monitor()
  expect((await market.job(job.id)).status).toBe('released')
  return job
}
const statusOf = async (id: string) => (await market.job(id)).status
const at = (job: { id: string; thread: string }, place: string, act: string) =>
  place === 'job' ? `/v1/jobs/${job.id}/${act}` : `/v1/threads/${job.thread}/${act}`
const said = ({ status, body }: Answer) => [status, body.code]
async function suspend(person: Person, suspended: boolean) {
  const path = `/dashboard/api/admin/participants/${person.id}`
  const answer = await market.market.admin('PUT', path, { body: { suspended, reason: 'a look' } })
  expect(answer.status).toBe(200)
}

describe.each(['job', 'thread'])('what was verified automatically, at the %s', (place) => {
  test('is rated for its 0.001, which counts, and no other money moves', async () => {
    const job = await released()
    const names = [account.provider(market.provider.id), account.fees, account.balance(who.id)]
    const before = await Promise.all(names.map(market.booked))
    const wallet = await market.onChain(who)
    const answer = await who.pay(at(job, place, 'verify'), { body: { rating: 1, comment: 'thin' } })
    const record = place === 'job' ? answer.body : answer.body.job
    expect([answer.status, record.status]).toEqual([200, 'released'])
    expect(record.verification).toMatchObject({ by: 'buyer', rating: 1, comment: 'thin' })
    expect(wallet - (await market.onChain(who))).toBe(1_000n)
    expect(await Promise.all(names.map(market.booked))).toEqual(before)
    await runMonitor(market.ctx(), [countWork])
    expect((await market.ctx().store.table(countedJobs).get(job.id))?.facts.rating).toBe(1)
  })

  test('is rated once and within 7 days; what would record nothing is refused uncharged', async () => {
    const [once, late] = [await released(), await released()]
    await who.pay(at(once, place, 'verify'), { body: { rating: 5 } })
    const wallet = await market.onChain(who)
    expect(said(await who.pay(at(once, place, 'verify'), { body: { rating: 1 } }))).toEqual([409, 'invalid_transition'])
    market.pass(7 * DAY_MS + HOUR_MS)
    expect(said(await who.pay(at(late, place, 'verify'), { body: { rating: 1 } }))).toEqual([409, 'invalid_transition'])
    expect([await market.onChain(who), (await market.job(once.id)).verification?.rating]).toEqual([wallet, 5])
  })

  test('is disputed as an event, which the 402 says wherever it has words, and which may be refused', async () => {
    const job = await released()
    const offer = await market.market.call('POST', at(job, place, 'dispute'))
    expect(offer.status).toBe(402)
    const v2 = JSON.parse(Buffer.from(offer.headers.get('payment-required') ?? '', 'base64').toString('utf8'))
    const words = [offer.body.message, offer.body.error, offer.body.notice, v2.error]
    for (const text of [...words, offer.body.accepts[0].description]) expect(text).toContain('moves no money')
    const wallet = await market.onChain(who)
    const refused = await who.pay(at(job, place, 'dispute'), { body: { ...complaint, must_hold: true } })
    expect([...said(refused), refused.body.effect]).toEqual([409, 'conflict', 'recorded'])
    expect([await market.onChain(who), (await market.job(job.id)).dispute]).toEqual([wallet, null])
    expect((await who.pay(at(job, place, 'dispute'), { body: complaint })).status).toBe(200)
  })

  test('says nothing of the kind where the dispute holds the money', async () => {
    const job = await delivered()
    const offer = await market.market.call('POST', at(job, place, 'dispute'))
    expect([offer.status, offer.body.notice]).toEqual([402, undefined])
    expect(JSON.stringify(offer.body)).not.toContain('moves no money')
    const answer = await who.pay(at(job, place, 'dispute'), { body: { ...complaint, must_hold: true } })
    expect(answer.status).toBe(200)
  })
})

test('job and thread verify cost the same and refuse alike in every state', async () => {
  const states: Record<string, () => Promise<{ id: string; thread: string }>> = {
    dispatched: () => bought(),
    completed: () => delivered(),
    released,
    async disputed() {
      const job = await delivered()
      await who.pay(at(job, 'job', 'dispute'), { body: complaint })
      return job
    },
    async verified() {
      const job = await delivered()
      await who.pay(at(job, 'thread', 'verify'), { body: {} })
      return job
    },
  }
  for (const [state, make] of Object.entries(states)) {
    const seen = []
    for (const place of ['job', 'thread']) {
      const job = await make()
      const offer = await market.market.call('POST', at(job, place, 'verify'))
      const wallet = await market.onChain(who)
      const answer = await who.pay(at(job, place, 'verify'), { body: {} })
      const { code, from, allowed } = answer.body
      const cost = wallet - (await market.onChain(who))
      seen.push([offer.body.accepts[0].maxAmountRequired, answer.status, code, from, allowed, cost])
    }
    expect([state, seen[0]]).toEqual([state, seen[1]])
    expect([state, seen[0]?.[1] === 200 ? 1_000n : 0n]).toEqual([state, seen[0]?.[5]])
  }
})

describe('while its provider is suspended', () => {
  test('nothing that a provider earned leaves, until it is back; refunds go on', async () => {
    const [paid, rated, undone] = [await delivered(), await delivered(automated), await bought()]
    const earned = await market.booked(account.provider(market.provider.id))
    await suspend(market.provider, true)
    expect((await who.pay(at(paid, 'job', 'verify'), { body: {} })).body.status).toBe('verified')
    for (let day = 0; day < 3; day += 1) {
      await market.monitor()
      await runOf(providerSettlement, market.ctx())
      market.pass(DAY_MS)
    }
    const held = await market.market.admin('GET', '/dashboard/api/admin/holds?kind=esc&limit=100')
    const hold = held.body.holds.find(({ owner }: { owner: { id: string } }) => owner.id === paid.id)
    expect(hold).toMatchObject({ reason: 'the job is verified; its provider is suspended', next_event: 'release' })
    expect([await statusOf(paid.id), await statusOf(rated.id), await statusOf(undone.id)]).toEqual([
      'verified',
      'verified',
      'expired',
    ])
    expect(await market.booked(account.provider(market.provider.id))).toBe(earned)
    expect(await market.escrowed(paid.id)).toBe(PRICE.agent)
    await suspend(market.provider, false)
    await market.monitor()
    expect([await statusOf(paid.id), await statusOf(rated.id)]).toEqual(['released', 'released'])
    await runOf(providerSettlement, market.ctx())
    expect(await market.booked(account.provider(market.provider.id))).toBe(0n)
  })
})

describe.each(['job', 'thread'])('a suspended buyer, at the %s,', (place) => {
  test('still verifies and disputes what is open, and says nothing about what is over', async () => {
    const [good, bad, over] = [await delivered(), await delivered(), await released()]
    await suspend(who, true)
    expect((await who.pay(at(good, place, 'verify'), { body: { rating: 4 } })).status).toBe(200)
    const balance = { 'X-BALANCE-AUTH': who.key }
    const disputed = await market.market.call('POST', at(bad, place, 'dispute'), { body: complaint, headers: balance })
    expect([disputed.status, await statusOf(bad.id)]).toEqual([200, 'disputed'])
    const wallet = await market.onChain(who)
    for (const [act, body] of [
      ['verify', { rating: 1 }],
      ['dispute', complaint],
    ] as const) {
      expect(said(await who.pay(at(over, place, act), { body }))).toEqual([403, 'forbidden'])
    }
    expect(await market.onChain(who)).toBe(wallet)
    await market.monitor()
    expect(await statusOf(good.id)).toBe('released')
  })
})

describe('that nothing was delivered', () => {
  const missing = { reason: 'nothing came', category: 'not_delivered' }

  test('cannot be said before the deadline, and then holds the money for a ruling, or its promised refund', async () => {
    const job = await bought()
    await market.monitor()
    const wallet = await market.onChain(who)
    const early = await who.pay(at(job, 'job', 'dispute'), { body: missing })
    expect([...said(early), early.body.deadline_at]).toEqual([409, 'conflict', expect.any(String)])
    expect(await market.onChain(who)).toBe(wallet)
    market.pass(DAY_MS + MINUTE_MS)
    const answer = await who.pay(at(job, 'job', 'dispute'), { body: missing })
    expect([answer.status, answer.body.status, answer.body.escrow.status]).toEqual([200, 'disputed', 'held'])
    expect(answer.body.dispute.decision).toMatchObject({ by: 'default', outcome: 'refund' })
    expect(said(await market.provider.call('POST', `/v1/jobs/${job.id}/update`, done))).toEqual([
      409,
      'invalid_transition',
    ])
    market.pass(3 * DAY_MS)
    await market.monitor()
    expect([await statusOf(job.id), await market.escrowed(job.id)]).toEqual(['refunded', 0n])
  })

  test('is recorded where the deadline has given the money back', async () => {
    const job = await bought()
    market.pass(DAY_MS + MINUTE_MS)
    await market.monitor()
    const before = await market.booked(account.balance(who.id))
    const offer = await market.market.call('POST', at(job, 'thread', 'dispute'))
    expect(offer.body.notice).toContain('was refunded to the buyer')
    expect(said(await who.call('POST', at(job, 'thread', 'dispute'), complaint))).toEqual([409, 'invalid_transition'])
    const answer = await who.call('POST', at(job, 'thread', 'dispute'), missing)
    expect([answer.status, answer.body.job.status, answer.body.job.dispute.status]).toEqual([
      200,
      'expired',
      'recorded',
    ])
    expect(await market.booked(account.balance(who.id))).toBe(before)
  })
})

describe('a delivery that is sent again', () => {
  test.each(['job', 'thread'])('at the %s is answered with the same record, whatever came of it', async (place) => {
    const job = await delivered()
    const path = at(job, place, 'update')
    const first = await market.job(job.id)
    const again = await market.provider.call('POST', path, done)
    expect([again.status, (place === 'job' ? again.body : again.body.job).status]).toEqual([200, 'completed'])
    expect(await market.job(job.id)).toEqual(first)
    await who.pay(at(job, 'job', 'verify'), { body: {} })
    const later = await market.provider.call('POST', path, { status: 'completed', result: { words: 3 } })
    expect([later.status, (place === 'job' ? later.body : later.body.job).status]).toEqual([200, 'released'])
    const other = await market.provider.call('POST', path, { status: 'completed', deliverables: { words: 4 } })
    expect(said(other)).toEqual([409, 'invalid_transition'])
  })
})
