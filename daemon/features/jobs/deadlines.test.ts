import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { onSandbox } from '../../../fixtures/kit/test-chain.ts'
import { type Escrow, openEscrow, PRICE } from '../../../fixtures/market/escrow.ts'
import type { Person } from '../../../fixtures/market/people.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../src/core/time.ts'
import { account } from '../ledger/legs.ts'
import { jobWork } from './escrow-monitor.ts'

// @slow every deadline of a job, in a market of its own

/** The daemon falls while the time of the machine is moved. */
const withItsOwnTime = onSandbox('a chain keeps the time of the world, and refuses a machine that is days ahead of it')
let market: Escrow
let human: string
let who: Person
beforeEach(async () => {
  market = await openEscrow()
  human = await market.list('human')
  who = await market.agent({ balance: '20.00' })
})
afterEach(async () => {
  expect(await market.faults()).toEqual([])
  await market.close()
})

const provider = (id: string, body: object) => market.provider.call('POST', `/v1/jobs/${id}/update`, body)
const done = { status: 'completed', deliverables: { words: 3 } }

/** A job whose deadline is a day away, of a daemon that has watched it since. */
async function bought(): Promise<string> {
  const { body } = await market.buy(human, who, { from: 'balance' })
  await market.monitor()
  return body.job_id
}

const statusOf = async (id: string) => (await market.job(id)).status

describe('a deadline', () => {
  test('that passes ends the job, not a minute sooner', async () => {
    const id = await bought()
    market.pass(DAY_MS - MINUTE_MS)
    await market.monitor()
    expect(await statusOf(id)).toBe('dispatched')
    market.pass(MINUTE_MS)
    await market.monitor()
    expect([await statusOf(id), await market.booked(account.balance(who.id))]).toEqual(['expired', 20_000_000n])
    expect((await provider(id, done)).body).toMatchObject({ code: 'invalid_transition', from: 'expired', allowed: [] })
  })

  test('means nothing after the delivery', async () => {
    const id = await bought()
    await provider(id, done)
    market.pass(DAY_MS + MINUTE_MS)
    await market.monitor()
    expect(await statusOf(id)).toBe('completed')
  })

  withItsOwnTime('that passed while the daemon was down is later by the time it was down', async () => {
    const id = await bought()
    const before = (await market.job(id)).deadline_at ?? 0
    const restart = market.market.restart()
    market.pass(3 * DAY_MS, { wall: true })
    await restart
    await market.monitor()
    const job = await market.job(id)
    const moved = (job.deadline_at ?? 0) - before
    expect(moved).toBeGreaterThanOrEqual(3 * DAY_MS)
    expect(moved).toBeLessThan(3 * DAY_MS + MINUTE_MS)
    expect([job.status, job.timeline.at(-1)?.event]).toEqual(['dispatched', 'deadline_extended'])
    market.pass(moved)
    await market.monitor()
    expect(await statusOf(id)).toBe('expired')
  })

  withItsOwnTime('that passed in a short fall is later by an hour', async () => {
    const id = await bought()
    market.pass(DAY_MS - MINUTE_MS)
    await market.monitor()
    const up = market.ctx().clock.now() + 2 * MINUTE_MS
    const restart = market.market.restart()
    market.pass(2 * MINUTE_MS, { wall: true })
    await restart
    await market.monitor()
    const { status, deadline_at } = await market.job(id)
    expect([status, (deadline_at ?? 0) - up >= HOUR_MS]).toEqual(['dispatched', true])
  })

  test('that passed before the daemon went down is not given more time', async () => {
    const id = await bought()
    market.pass(DAY_MS)
    await market.monitor()
    expect(await statusOf(id)).toBe('expired')
  })

  test('that passed while the daemon slept, though it ran, is later too', async () => {
    const id = await bought()
    market.pass(2 * DAY_MS, { wall: true })
    await market.monitor()
    expect((await market.job(id)).timeline.at(-1)?.event).toBe('deadline_extended')
  })

  test('that passes while paused waits, and is later by the whole pause when it is over', async () => {
    const id = await bought()
    market.pass(DAY_MS - HOUR_MS)
    await market.monitor()
    await market.setPaused({ platform: true })
    const pausedAt = market.ctx().clock.now()
    const before = (await market.job(id)).deadline_at ?? 0
    for (let day = 0; day < 2; day += 1) {
      await market.monitor()
      market.pass(DAY_MS)
    }
    await market.monitor()
    expect((await market.job(id)).timeline.at(-1)?.event).toBe('dispatched')
    await market.setPaused({ platform: false })
    const paused = market.ctx().clock.now() - pausedAt
    await market.monitor()
    const moved = ((await market.job(id)).deadline_at ?? 0) - before
    expect(moved).toBeGreaterThanOrEqual(paused)
    expect(moved).toBeLessThan(paused + MINUTE_MS)
  })
})

describe('the 48 h in which a buyer looks at the work of a human', () => {
  async function delivered(): Promise<string> {
    const id = await bought()
    await provider(id, done)
    await market.monitor()
    return id
  }
  /** The daemon is down for so long. */
  async function fall(ms: number): Promise<void> {
    const restart = market.market.restart()
    market.pass(ms, { wall: true })
    await restart
    await market.monitor()
  }
  async function expectLeft(id: string, ms: number): Promise<void> {
    market.pass(ms - HOUR_MS)
    await market.monitor()
    expect(await statusOf(id)).toBe('completed')
    market.pass(HOUR_MS + MINUTE_MS)
    await market.monitor()
    expect(await statusOf(id)).toBe('released')
  }

  withItsOwnTime('are not used up while the daemon is down', async () => {
    const id = await delivered()
    await fall(3 * DAY_MS)
    const job = await market.job(id)
    expect([job.status, job.timeline.at(-1)?.event]).toEqual(['completed', 'review_extended'])
    await expectLeft(id, 2 * DAY_MS)
  })

  withItsOwnTime('are not used up by a fall that comes before the daemon first looked', async () => {
    const { body } = await market.buy(human, who, { from: 'balance' })
    await provider(body.job_id, done)
    await fall(3 * DAY_MS)
    const job = await market.job(body.job_id)
    expect([job.status, job.timeline.at(-1)?.event]).toEqual(['completed', 'review_extended'])
    await expectLeft(body.job_id, 2 * DAY_MS)
  })

  withItsOwnTime('count neither falls in their midst nor the time of a pause', async () => {
    const id = await delivered()
    await fall(10 * HOUR_MS)
    await fall(10 * HOUR_MS)
    await market.setPaused({ platform: true })
    await market.monitor()
    market.pass(5 * DAY_MS)
    await market.monitor()
    expect(await statusOf(id)).toBe('completed')
    await market.setPaused({ platform: false })
    await market.monitor()
    await expectLeft(id, 2 * DAY_MS)
  })
})

describe('while escrow is paused', () => {
  const paid = (path: string, body: object = {}) => who.pay(path, { body })

  test('nothing enters it: 503 with the feature, before the 402; what is instant goes on', async () => {
    await market.setPaused({ escrow: true })
    const path = `/v1/services/${human}/purchase`
    const answers = await Promise.all([
      market.market.call('POST', path),
      market.buy(human, who),
      market.buy(human, who, { from: 'balance' }),
    ])
    expect(answers.map(({ status, body }) => [status, body.code, body.feature])).toEqual(
      answers.map(() => [503, 'paused', 'escrow']),
    )
    expect(answers[0]?.headers.get('retry-after')).toBeTruthy()
    const qr = await market.buy(await market.market.serviceId('qr_code'), who, { body: { data: 'x' } })
    expect(qr.status).toBe(200)
    await market.setPaused({ escrow: false })
    expect((await market.buy(human, who)).status).toBe(200)
  })

  test('what is due waits as verified and is released when it goes on', async () => {
    const [one, two] = [await bought(), await bought()]
    for (const id of [one, two]) await provider(id, done)
    await market.setPaused({ escrow: true })
    expect((await paid(`/v1/jobs/${one}/verify`)).body.status).toBe('verified')
    market.pass(2 * DAY_MS)
    await market.monitor()
    expect([await statusOf(one), await statusOf(two), await market.escrowed(one)]).toEqual([
      'verified',
      'verified',
      PRICE.agent,
    ])
    await market.setPaused({ escrow: false })
    await market.monitor()
    expect([await statusOf(one), await statusOf(two)]).toEqual(['released', 'released'])
  })

  test('refund, timeout, emergency withdrawal and a ruling for the buyer stay possible; a split does not', async () => {
    const ids = await Promise.all([bought(), bought(), bought(), bought(), bought()])
    const [failed, late, withdrawn, refunded, split] = ids as [string, string, string, string, string]
    for (const id of [refunded, split]) {
      await provider(id, done)
      await paid(`/v1/jobs/${id}/dispute`, { reason: 'x', category: 'other' })
    }
    await market.setPaused({ escrow: true })
    const admin = (id: string, act: string, body: object) =>
      market.market.admin('POST', `/dashboard/api/admin/jobs/${id}/${act}`, { body: { reason: 'x', ...body } })
    await provider(failed, { status: 'failed' })
    await admin(withdrawn, 'emergency-withdraw', {})
    await admin(refunded, 'resolve', { outcome: 'refund' })
    const refused = await admin(split, 'resolve', { outcome: 'split', buyer_amount: '0.1' })
    expect([refused.status, refused.body.code, refused.body.feature]).toEqual([503, 'paused', 'escrow'])
    expect((await admin(split, 'resolve', { outcome: 'release' })).body.status).toBe('verified')
    market.pass(DAY_MS)
    await market.monitor()
    expect(await Promise.all([failed, late, withdrawn, refunded, split].map(statusOf))).toEqual([
      'failed',
      'expired',
      'refunded',
      'refunded',
      'verified',
    ])
    await market.setPaused({ escrow: false })
    await market.monitor()
    expect(await statusOf(split)).toBe('released')
  })
})

test('a moved clock stops where something falls due', async () => {
  const id = await bought()
  const { deadline_at } = await market.job(id)
  const now = market.ctx().clock.now()
  const next = () => Promise.all(jobWork.map((work) => work.nextDue(market.ctx(), now)))
  expect(await next()).toEqual([null, null, null, null, deadline_at])
  await provider(id, done)
  const { completed_at } = await market.job(id)
  expect(await next()).toEqual([(completed_at ?? 0) + 2 * DAY_MS, null, null, null, null])
  await market.setPaused({ escrow: true })
  await who.pay(`/v1/jobs/${id}/verify`, { body: {} })
  expect(await next()).toEqual([null, null, null, null, null])
})
