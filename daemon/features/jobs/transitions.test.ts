import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Escrow, openEscrow, PRICE } from '../../../fixtures/market/escrow.ts'
import { dump, expectUnchanged, jobIn, purse } from '../../../fixtures/market/job-states.ts'
import type { Answer } from '../../../fixtures/market/marketplace.ts'
import type { Person } from '../../../fixtures/market/people.ts'
import { AppError } from '../../../src/core/error.ts'
import { usdc } from '../../../src/core/money.ts'
import { type JobStatus, jobStatuses } from '../../../src/model/job.ts'
import { commit } from '../../store/draw.ts'
import { deals } from '../escrow/rows.ts'
import { payouts } from '../payouts/rows.ts'
import { applyStep, lockJob } from './apply.ts'
import { type JobEvent, type JobRole, jobMachine, jobRoles } from './machine.ts'

// @slow every act in every state of a job

let market: Escrow
let buyer: Person
beforeAll(async () => {
  market = await openEscrow()
  buyer = await market.agent({ balance: '5.00' })
})
afterAll(async () => {
  await market.close()
})

/** What decisions §8 allow, written out: from, event, who, to, and where the money goes. */
type Allowed = readonly [from: JobStatus, event: JobEvent, by: JobRole, to: JobStatus, money: Money]
type Money = 'stays' | 'back' | 'paid' | 'split' | 'has it'

/** What the interface calls an event, where it has another name; what it has no endpoint for, it does not offer. */
const acts: Readonly<Record<string, readonly string[]>> = {
  start: ['update'],
  deliver: ['update'],
  fail: ['update'],
  cancel: ['decline'],
  release: [],
  dispute_undelivered: [],
  rule_release: ['resolve'],
  rule_refund: ['resolve'],
  rule_split: ['resolve'],
  withdraw: [],
}

function actsBy(from: string, role: string): string[] {
  const events = allowed.filter(([state, , by]) => state === from && by === role)
  return [...new Set(events.flatMap(([, event]) => acts[event] ?? [event]))]
}

const allowed: readonly Allowed[] = [
  ['created', 'dispatch', 'system', 'dispatched', 'stays'],
  ['created', 'expire', 'system', 'expired', 'back'],
  ['created', 'emergency_withdraw', 'admin', 'refunded', 'back'],
  ['created', 'claim_timeout', 'system', 'expired', 'has it'],
  ['created', 'withdraw', 'admin', 'refunded', 'has it'],
  ['created', 'withdraw', 'system', 'refunded', 'has it'],
  ['dispatched', 'start', 'provider', 'in_progress', 'stays'],
  ['dispatched', 'deliver', 'provider', 'completed', 'stays'],
  ['dispatched', 'fail', 'provider', 'failed', 'back'],
  ['dispatched', 'cancel', 'buyer', 'cancelled', 'back'],
  ['dispatched', 'cancel', 'provider', 'cancelled', 'back'],
  ['dispatched', 'dispute_undelivered', 'buyer', 'disputed', 'stays'],
  ['dispatched', 'expire', 'system', 'expired', 'back'],
  ['dispatched', 'emergency_withdraw', 'admin', 'refunded', 'back'],
  ['dispatched', 'claim_timeout', 'system', 'expired', 'has it'],
  ['dispatched', 'withdraw', 'admin', 'refunded', 'has it'],
  ['dispatched', 'withdraw', 'system', 'refunded', 'has it'],
  ['in_progress', 'start', 'provider', 'in_progress', 'stays'],
  ['in_progress', 'dispute_undelivered', 'buyer', 'disputed', 'stays'],
  ['in_progress', 'deliver', 'provider', 'completed', 'stays'],
  ['in_progress', 'fail', 'provider', 'failed', 'back'],
  ['in_progress', 'cancel', 'provider', 'cancelled', 'back'],
  ['in_progress', 'expire', 'system', 'expired', 'back'],
  ['in_progress', 'emergency_withdraw', 'admin', 'refunded', 'back'],
  ['in_progress', 'claim_timeout', 'system', 'expired', 'has it'],
  ['in_progress', 'withdraw', 'admin', 'refunded', 'has it'],
  ['in_progress', 'withdraw', 'system', 'refunded', 'has it'],
  ['completed', 'verify', 'buyer', 'verified', 'stays'],
  ['completed', 'verify', 'system', 'verified', 'stays'],
  ['completed', 'dispute', 'buyer', 'disputed', 'stays'],
  ['completed', 'emergency_withdraw', 'admin', 'refunded', 'back'],
  ['completed', 'withdraw', 'admin', 'refunded', 'has it'],
  ['completed', 'withdraw', 'system', 'refunded', 'has it'],
  ['verified', 'release', 'buyer', 'released', 'paid'],
  ['verified', 'release', 'system', 'released', 'paid'],
  ['verified', 'emergency_withdraw', 'admin', 'refunded', 'back'],
  ['verified', 'withdraw', 'admin', 'refunded', 'has it'],
  ['verified', 'withdraw', 'system', 'refunded', 'has it'],
  ['disputed', 'rule_release', 'admin', 'verified', 'stays'],
  ['disputed', 'rule_release', 'system', 'verified', 'stays'],
  ['disputed', 'rule_refund', 'admin', 'refunded', 'back'],
  ['disputed', 'rule_refund', 'system', 'refunded', 'back'],
  ['disputed', 'rule_split', 'admin', 'released', 'split'],
  ['disputed', 'rule_split', 'system', 'released', 'split'],
  ['disputed', 'emergency_withdraw', 'admin', 'refunded', 'back'],
  ['disputed', 'withdraw', 'admin', 'refunded', 'has it'],
  ['disputed', 'withdraw', 'system', 'refunded', 'has it'],
]

const events = [...new Set(jobMachine.transitions.map(({ event }) => event))]
const attempts = jobStatuses.flatMap((from) => events.flatMap((event) => jobRoles.map((by) => ({ from, event, by }))))
const isAllowed = (one: { from: JobStatus; event: JobEvent; by: JobRole }) =>
  allowed.some(([from, event, by]) => from === one.from && event === one.event && by === one.by)

const TO_BUYER = usdc(100_000n)
const nothing = { escrow: 0n, provider: 0n, fees: 0n, balance: 0n, owed: 0n }
const SPLIT = { provider: 404_761n, fees: 20_239n }

function moved(money: Money, from: 'x402' | 'balance') {
  const home = from === 'x402' ? 'owed' : 'balance'
  const gone = { ...nothing, escrow: -PRICE.agent }
  switch (money) {
    case 'stays':
      return nothing
    case 'back':
      return { ...gone, [home]: PRICE.agent }
    case 'paid':
      return { ...gone, provider: PRICE.net, fees: PRICE.fee }
    case 'split':
      return { ...gone, ...SPLIT, [home]: TO_BUYER }
    case 'has it':
      return gone
  }
}

type Step = { readonly event: JobEvent; readonly by: JobRole }

function attempt(id: string, { event, by }: Step) {
  const ctx = market.ctx()
  return commit(ctx, async (t, draw) => {
    const job = await lockJob(t, id)
    if (!job) throw new Error(`no ${id}`)
    const step = { event, by, at: ctx.clock.now(), ...(event === 'rule_split' ? { toBuyer: TO_BUYER } : {}) }
    return applyStep(t, draw, { job, step })
  })
}

const held = new Set<JobStatus>(['created', 'dispatched', 'in_progress', 'completed', 'verified', 'disputed'])

describe.each(['x402', 'balance'] as const)('of jobs paid by %s', (from) => {
  test.each(allowed)('%s: %s by %s makes it %s, the money %s', async (...row) => {
    const [state, event, by, to, money] = row
    const { id, thread } = await jobIn(market, { status: state, buyer, from })
    const before = await purse(market.ctx(), id)
    const job = await attempt(id, { event, by })
    if (money === 'has it') await market.ctx().chain.transfer({ id, to: job.buyer_wallet, amount: job.amount })
    const after = await purse(market.ctx(), id)
    const changes = Object.fromEntries(
      Object.entries(after).map(([name, amount]) => [name, amount - (before[name] ?? 0n)]),
    )
    expect([job.status, changes]).toEqual([to, moved(money, from)])
    expect(job.escrow_status).toBe(
      { stays: 'held', back: 'refunded', 'has it': 'refunded', paid: 'released', split: 'split' }[money],
    )
    expect([job.open, job.next_event !== null, job.next_event_at !== null, job.ended_at === null]).toEqual(
      Array.from({ length: 4 }, () => held.has(to)),
    )
    expect(job.timeline.at(-1)?.event).toBe(to)
    expect(await market.threadStatus(thread)).toBe(threadOf[to])
  })
})

const threadOf: Record<JobStatus, string> = {
  created: 'accepted',
  dispatched: 'accepted',
  in_progress: 'in_progress',
  completed: 'completed',
  verified: 'verified',
  released: 'verified',
  disputed: 'disputed',
  failed: 'cancelled',
  cancelled: 'cancelled',
  expired: 'cancelled',
  refunded: 'cancelled',
}

test('all that was paid out of these jobs is in the books, and reaches its wallet', async () => {
  expect(await market.faults()).toEqual([])
})

test.each(jobStatuses)('%s: whatever the table does not have is a 409, and no byte changes', async (from) => {
  const { id } = await jobIn(market, { status: from, buyer })
  const before = await dump(market.ctx().store)
  for (const one of attempts.filter((row) => row.from === from && !isAllowed(row))) {
    const error = await attempt(id, one).then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    expect(error).toBeInstanceOf(AppError)
    const { code, status, extra } = error as AppError
    const instead = actsBy(from, one.by)
    expect([code, status, extra.from, extra.allowed]).toEqual(['invalid_transition', 409, from, instead])
  }
  await expectUnchanged(market.ctx().store, before)
})

/** The rows of the API, and the state changes that each of them asks for. */
type Ask = {
  readonly name: string
  readonly asks: Step
  readonly send: (job: { id: string; thread: string }) => Promise<Answer>
  /** Where it leads when all follows that follows at once. */
  readonly end?: JobStatus
}

const deliverables = { words: 3 }
const complaint = { reason: 'bad', category: 'quality' }
const reports = [
  ['start', { status: 'in_progress' }],
  ['deliver', { status: 'completed', deliverables }],
  ['fail', { status: 'failed' }],
] as const

const report = (at: 'job' | 'thread'): Ask[] =>
  reports.map(([event, body]) => ({
    name: `${event} at the ${at}`,
    asks: { event, by: 'provider' },
    send: ({ id, thread }) => {
      const path = at === 'job' ? `/v1/jobs/${id}/update` : `/v1/threads/${thread}/update`
      return market.provider.call('POST', path, body)
    },
  }))

const decline = (by: 'buyer' | 'provider'): Ask => ({
  name: `decline by the ${by}`,
  asks: { event: 'cancel', by },
  send: ({ thread }) =>
    (by === 'buyer' ? buyer : market.provider).call('POST', `/v1/threads/${thread}/decline`, { reason: 'x' }),
})

const admin = (id: string, act: string, body: object) =>
  market.market.admin('POST', `/dashboard/api/admin/jobs/${id}/${act}`, { body: { reason: 'x', ...body } })
const ruling = (outcome: 'release' | 'refund' | 'split'): Ask => ({
  name: `resolve: ${outcome}`,
  asks: { event: `rule_${outcome}`, by: 'admin' },
  send: ({ id }) => admin(id, 'resolve', { outcome, ...(outcome === 'split' ? { buyer_amount: '0.10' } : {}) }),
  ...(outcome === 'release' ? { end: 'released' as const } : {}),
})

const asks: Ask[] = [
  ...report('job'),
  ...report('thread'),
  decline('buyer'),
  decline('provider'),
  {
    name: 'verify at the thread',
    asks: { event: 'verify', by: 'buyer' },
    send: ({ thread }) => buyer.pay(`/v1/threads/${thread}/verify`, { body: {} }),
  },
  {
    name: 'dispute at the job',
    asks: { event: 'dispute', by: 'buyer' },
    send: ({ id }) => buyer.pay(`/v1/jobs/${id}/dispute`, { body: complaint }),
  },
  {
    name: 'dispute at the thread',
    asks: { event: 'dispute', by: 'buyer' },
    send: ({ thread }) => buyer.call('POST', `/v1/threads/${thread}/dispute`, complaint),
  },
  {
    name: 'dispute at the thread, paid',
    asks: { event: 'dispute', by: 'buyer' },
    send: ({ thread }) => buyer.pay(`/v1/threads/${thread}/dispute`, { body: complaint }),
  },
  ruling('release'),
  ruling('refund'),
  ruling('split'),
  {
    name: 'emergency-withdraw',
    asks: { event: 'emergency_withdraw', by: 'admin' },
    send: ({ id }) => admin(id, 'emergency-withdraw', {}),
  },
]

/** Sends what changes nothing; again where a payout of an act before ended meanwhile, as on a slow chain. */
async function unchanged(send: () => Promise<Answer>): Promise<Answer> {
  const { store } = market.ctx()
  const look = async () => `${await dump(store)} ${await market.onChain(buyer)}`
  for (;;) {
    const isBusy = (await store.table(payouts).count('due', [])) + (await store.table(deals).count('due', [])) > 0
    const before = await look()
    const answer = await send()
    if ((await look()) === before) return answer
    if (!isBusy) throw new Error('it changed something')
  }
}

describe.each(jobStatuses)('over HTTP, a job that is %s', (from) => {
  test('does what the table says, row by row, and refuses the rest unchanged', async () => {
    for (const { name, asks: step, send, end } of asks) {
      const job = await jobIn(market, { status: from, buyer })
      await market.faults()
      const row = allowed.find(([state, event, by]) => state === from && event === step.event && by === step.by)
      const answer = await (row ? send(job) : unchanged(() => send(job)))
      if (row) {
        expect([name, answer.status, (await market.job(job.id)).status]).toEqual([name, 200, end ?? row[3]])
        continue
      }
      const { code, from: state, allowed: instead } = answer.body
      const acts = actsBy(from, step.by)
      expect([name, answer.status, code, state, instead]).toEqual([name, 409, 'invalid_transition', from, acts])
      expect(answer.body).toHaveProperty('to')
    }
  })

  test('job verify pays from completed, and is a 409 elsewhere', async () => {
    const { id } = await jobIn(market, { status: from, buyer })
    const before = await dump(market.ctx().store)
    const inWallet = await market.onChain(buyer)
    const answer = await buyer.pay(`/v1/jobs/${id}/verify`, { body: {} })
    if (from === 'completed') {
      expect([answer.status, answer.body.status, await market.escrowed(id)]).toEqual([200, 'released', 0n])
    } else {
      expect([answer.status, answer.body.code, await market.onChain(buyer)]).toEqual([
        409,
        'invalid_transition',
        inWallet,
      ])
      await expectUnchanged(market.ctx().store, before)
    }
  })
})

test('the books are whole after all that', async () => {
  expect(await market.faults()).toEqual([])
})
