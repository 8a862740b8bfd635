import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runs } from '../../../fixtures/kit/depth.ts'
import { credit } from '../../../fixtures/kit/money.ts'
import type { Answer } from '../../../fixtures/market/marketplace.ts'
import { type Person, registered } from '../../../fixtures/market/people.ts'
import { BID, openRequests, type Requests } from '../../../fixtures/market/postings.ts'
import { DAY_MS, HOUR_MS } from '../../../src/core/time.ts'
import { isEnd } from '../jobs/machine.ts'
import { jobs } from '../jobs/rows.ts'
import { account } from '../ledger/legs.ts'
import { postingStatusAt } from './machine.ts'
import { type BidRow, bids, notices, type PostingRow, postings } from './rows.ts'

// @slow random histories

/* Whatever happens to requests, in whatever order: rows, bids, jobs and money agree after every step. */

const RUNS = runs(40, 15)
const STEPS = 24

let requests: Requests
let bidders: readonly { who: Person; service: string }[]
beforeAll(async () => {
  requests = await openRequests()
  await credit(requests.market.market, requests.poster.id, '800.00')
  const who = await registered(requests.market.market, { type: 'provider' })
  const body = { name: 'Rival', description: 'Also does it.', price: '1.00', fulfillment_type: 'automated' }
  const rival = { who, service: (await who.call('POST', '/v1/services', body)).body.id }
  bidders = [{ who: requests.market.provider, service: requests.service }, rival]
})
afterAll(() => requests.close())

/** `which` counts back from the request made last; `by` is one of the two providers. */
const which = fc.constantFrom(0, 0, 0, 0, 1)
const by = fc.constantFrom(0, 0, 0, 1)
const works = [
  'deliver',
  'deliver',
  'deliver',
  'deliver',
  'fail',
  'decline',
  'verify',
  'verify',
  'dispute',
  'dispute',
  'withdraw_hold',
] as const
const acts = {
  post: fc.record({ do: fc.constant('post' as const), days: fc.constantFrom(undefined, 1) }),
  bid: fc.record({ do: fc.constant('bid' as const), which, by, price: fc.integer({ min: 1, max: 4_000 }) }),
  withdraw: fc.record({ do: fc.constant('withdraw' as const), which, by }),
  hire: fc.record({
    do: fc.constant('hire' as const),
    which,
    by,
    price: fc.integer({ min: 1, max: 4_000 }),
    from: fc.constantFrom('x402', 'balance'),
  }),
  award: fc.record({ do: fc.constant('award' as const), which, by, from: fc.constantFrom('x402', 'balance') }),
  cancel: fc.record({ do: fc.constant('cancel' as const), which }),
  work: fc.record({ do: fc.constantFrom(...works), which }),
  rule: fc.record({ do: fc.constant('rule' as const), which, outcome: fc.constantFrom('release', 'refund', 'split') }),
  wait: fc.record({
    do: fc.constant('wait' as const),
    ms: fc.constantFrom(HOUR_MS, HOUR_MS, HOUR_MS, DAY_MS, 3 * DAY_MS, 31 * DAY_MS),
  }),
  run: fc.record({ do: fc.constantFrom('crons' as const) }),
  pause: fc.record({ do: fc.constant('pause' as const), escrow: fc.boolean() }),
} as const
const act = fc.oneof(
  { weight: 6, arbitrary: acts.post },
  { weight: 6, arbitrary: acts.hire },
  { weight: 5, arbitrary: acts.bid },
  { weight: 1, arbitrary: acts.withdraw },
  { weight: 5, arbitrary: acts.award },
  { weight: 1, arbitrary: acts.cancel },
  { weight: 14, arbitrary: acts.work },
  { weight: 3, arbitrary: acts.rule },
  { weight: 2, arbitrary: acts.wait },
  { weight: 3, arbitrary: acts.run },
  { weight: 1, arbitrary: acts.pause },
)
type Act = typeof act extends fc.Arbitrary<infer A> ? A : never
const history = fc
  .tuple(acts.post, fc.array(act, { minLength: 6, maxLength: STEPS, size: 'max' }))
  .map(([first, rest]) => [first, ...rest])

const ctx = () => requests.market.ctx()
const now = () => ctx().clock.now()

async function bidsOf(posting: string): Promise<readonly BidRow[]> {
  return (await ctx().store.table(bids).page('posting', [posting], { limit: 500 })).rows
}

const admin = (path: string, body: object) =>
  requests.market.market.admin('POST', path, { body: { reason: 'x', ...body } })

/** What is asked of one request, and whether it must be granted by what the rows say before; undefined: others decide. */
type Deed = { readonly answer: Promise<Answer>; readonly isDue?: boolean }

async function deedOf(
  one: Exclude<Act, { do: 'post' | 'hire' | 'wait' | 'crons' | 'pause' }>,
  row: PostingRow,
): Promise<Deed> {
  const isOpen = postingStatusAt(row, now()) === 'open'
  const path = `/v1/postings/${row.id}`
  const placed = await bidsOf(row.id)
  const bidder = bidders['by' in one ? one.by : 0] as (typeof bidders)[number]
  const mine = placed.findLast(({ provider_id }) => provider_id === bidder.who.id)
  const isLive = mine?.status === 'submitted'
  switch (one.do) {
    case 'bid': {
      const body = { ...BID, price_usd: one.price / 1_000, service_id: bidder.service }
      return { answer: bidder.who.call('POST', `${path}/bids`, body), isDue: isOpen && !isLive }
    }
    case 'withdraw':
      return {
        answer: bidder.who.call('DELETE', `${path}/bids/${mine?.id ?? 'bid_0123456789abcdef'}`),
        isDue: isOpen && isLive,
      }
    case 'award': {
      const isPaused = ctx().switches.now().escrowPaused
      const answer = requests.award(row.id, mine?.id ?? 'bid_0123456789abcdef', {
        from: one.from as 'x402' | 'balance',
      })
      return { answer, isDue: isOpen && isLive && !isPaused }
    }
    case 'cancel':
      return { answer: requests.poster.call('POST', `${path}/cancel`), isDue: isOpen }
    default:
      return { answer: toJob(one, row) }
  }
}

type OnJob = Extract<Act, { do: 'rule' | 'deliver' | 'fail' | 'decline' | 'verify' | 'dispute' | 'withdraw_hold' }>

/** What the parties and the administrator do to the job behind a request. */
async function toJob(one: OnJob, row: PostingRow): Promise<Answer> {
  if (row.job_id === null) return requests.poster.call('GET', `/v1/postings/${row.id}`)
  const job = await requests.market.job(row.job_id)
  const worker = bidders.find(({ who }) => who.id === job.provider_id)?.who as Person
  const [path, talk] = [`/v1/jobs/${job.id}`, `/v1/threads/${job.thread_id}`]
  switch (one.do) {
    case 'deliver':
      return worker.call('POST', `${path}/update`, { status: 'completed', deliverables: { done: 1 } })
    case 'fail':
      return worker.call('POST', `${path}/update`, { status: 'failed' })
    case 'decline':
      return requests.poster.call('POST', `${talk}/decline`, {})
    case 'verify':
      return requests.poster.pay(`${path}/verify`, { body: {} })
    case 'dispute':
      return requests.poster.call('POST', `${talk}/dispute`, { reason: 'x', category: 'other' })
    case 'withdraw_hold':
      return admin(`/dashboard/api/admin/jobs/${job.id}/emergency-withdraw`, {})
    case 'rule': {
      const part = one.outcome === 'split' ? { buyer_amount: '0.001' } : {}
      return admin(`/dashboard/api/admin/jobs/${job.id}/resolve`, { outcome: one.outcome, ...part })
    }
  }
}

async function perform(one: Act, ids: string[]): Promise<void> {
  switch (one.do) {
    case 'post': {
      const deadline = one.days && new Date(now() + one.days * DAY_MS).toISOString()
      ids.push(await requests.post(deadline ? { deadline } : {}))
      return
    }
    case 'hire':
      await perform({ ...one, do: 'bid' }, ids)
      return perform({ ...one, do: 'award' }, ids)
    case 'wait':
      return requests.market.pass(one.ms)
    case 'crons':
      await requests.market.monitor()
      await requests.runDue()
      return
    case 'pause':
      return requests.market.setPaused({ escrow: one.escrow })
    default: {
      const id = ids.at(-1 - one.which)
      if (id === undefined) return
      const { answer, isDue } = await deedOf(one, await requests.posting(id))
      const { status, text } = await answer
      if (isDue !== undefined)
        expect([one, status, text.slice(0, 200), status === 200]).toEqual([one, status, text.slice(0, 200), isDue])
      expect(status).toBeLessThan(504)
      expect(status).not.toBe(500)
    }
  }
}

/** How a request must stand by what became of its job's money. */
const byEscrow = { none: 'awarded', held: 'awarded', released: 'completed', split: 'completed', refunded: 'cancelled' }

async function expectSound(ids: readonly string[]): Promise<void> {
  for (const row of await ctx().store.table(postings).getMany(ids)) {
    const placed = await bidsOf(row.id)
    const withStatus = (status: string) => placed.filter((bid) => bid.status === status)
    expect([row.id, row.open, row.bid_count]).toEqual([
      row.id,
      row.status === 'open',
      placed.length - withStatus('withdrawn').length,
    ])
    expect(withStatus('accepted').map(({ id }) => id)).toEqual(row.awarded_bid_id === null ? [] : [row.awarded_bid_id])
    expect(withStatus('submitted').every(({ live }) => live && row.open)).toBe(true)
    expect(new Set(withStatus('submitted').map(({ provider_id }) => provider_id)).size).toBe(
      withStatus('submitted').length,
    )
    expect([row.id, row.job_id === null]).toEqual([row.id, row.awarded_bid_id === null])
    await expectJobSound(row)
  }
  expect(await requests.market.faults()).toEqual([])
}

async function expectJobSound(row: PostingRow): Promise<void> {
  const job = row.job_id === null ? undefined : await requests.market.job(row.job_id)
  if (!job) {
    expect(['open', 'cancelled', 'expired']).toContain(row.status)
    return
  }
  const bid = await requests.bidRow(row.awarded_bid_id as string)
  expect([row.id, row.status]).toEqual([row.id, byEscrow[job.escrow_status]])
  expect([job.posting_id, job.provider_id, job.provider_amount]).toEqual([row.id, bid.provider_id, bid.price])
  const isHeld = job.escrow_status === 'held'
  expect([await requests.market.booked(account.escrow(job.id)), isEnd(job.status)]).toEqual([
    isHeld ? job.amount : 0n,
    !isHeld,
  ])
}

/** Disputes wait for the operator; all else ends by itself. */
async function decideDisputes(ids: readonly string[]): Promise<void> {
  for (const { job_id } of await ctx().store.table(postings).getMany(ids)) {
    const job = job_id === null ? undefined : await requests.market.job(job_id)
    if (job?.status !== 'disputed') continue
    expect((await admin(`/dashboard/api/admin/jobs/${job.id}/resolve`, { outcome: 'refund' })).status).toBe(200)
  }
}

test('in every history requests, bids, jobs and money agree, and all of it ends', async () => {
  await fc.assert(
    fc.asyncProperty(history, async (steps) => {
      const ids: string[] = []
      for (const one of steps) {
        await perform(one, ids)
        await expectSound(ids)
      }
      await requests.market.setPaused({ escrow: false })
      await decideDisputes(ids)
      for (let rest = 0; rest < 3; rest += 1) {
        requests.market.pass(31 * DAY_MS)
        await perform({ do: 'crons' }, ids)
      }
      await expectSound(ids)
      const rows = await ctx().store.table(postings).getMany(ids)
      expect(rows.filter(({ status }) => status === 'open' || status === 'awarded')).toEqual([])
    }),
    { numRuns: RUNS },
  )
  expect([await ctx().store.table(jobs).count('due', []), await ctx().store.table(notices).count('due', [])]).toEqual([
    0, 0,
  ])
})
