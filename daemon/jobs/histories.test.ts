import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Escrow, openEscrow, PRICE } from '../../fixtures/escrow.ts'
import { credit } from '../../fixtures/money.ts'
import type { Person } from '../../fixtures/people.ts'
import { AppError } from '../../src/core/error.ts'
import { usdc } from '../../src/core/money.ts'
import { DAY_MS, HOUR_MS } from '../../src/core/time.ts'
import { type JobRow, rulings } from '../../src/model/job.ts'
import { type AccountRow, isHeld } from '../../src/model/ledger.ts'
import { holdOf } from '../holds.ts'
import { runPayouts } from '../payouts.ts'
import { account, postings } from '../rules/books.ts'
import { isEnd } from '../rules/job-machine.ts'
import { post } from '../store/books.ts'
import { accounts, jobs, participants, services } from '../store/collections.ts'
import { commit, type Draw } from '../store/draw.ts'
import type { ReadTx, Tx } from '../store/port.ts'
import { applyStep, holdJob } from './apply.ts'
import { disputeJob, verifyAndRelease, verifyByBuyer } from './buyer.ts'
import { openEscrowJob } from './open.ts'
import { applyReport, checkReport, reportStatuses } from './report.ts'
import { ruleOn, withdrawInEmergency } from './ruling.ts'

const RUNS = 250
const STEPS = 30
const MAX_ROWS = 1_000
const BALANCE = '500.00'

let market: Escrow
let buyer: Person
const listings = { human: '', automated: '' }
beforeAll(async () => {
  market = await openEscrow()
  const referrer = await market.agent()
  buyer = await market.agent({ referral: referrer.id })
  await credit(market.market, buyer.id, BALANCE)
  for (const kind of ['human', 'automated'] as const) listings[kind] = await market.list(kind)
})
afterAll(() => market.close())

/** What can happen; `job` counts back from the one bought last, `part` of a split is in micro-USDC. */
const job = fc.constantFrom(0, 0, 1)
const buying = fc.record({
  do: fc.constant('buy' as const),
  kind: fc.constantFrom('human', 'human', 'automated'),
  from: fc.constantFrom('x402', 'balance'),
})
const acts = {
  report: fc.record({
    do: fc.constant('report' as const),
    job,
    status: fc.constantFrom(...reportStatuses, 'completed', 'completed'),
  }),
  judge: fc.record({ do: fc.constantFrom('verify', 'pay', 'dispute', 'dispute', 'dispute'), job }),
  rule: fc.record({
    do: fc.constant('rule' as const),
    job,
    outcome: fc.constantFrom(...rulings),
    part: fc.bigInt(0n, PRICE.agent),
  }),
  withdraw: fc.record({ do: fc.constant('withdraw' as const), job }),
  cancel: fc.record({ do: fc.constant('cancel' as const), job, by: fc.constantFrom('buyer', 'provider') }),
  wait: fc.record({
    do: fc.constant('wait' as const),
    ms: fc.constantFrom(HOUR_MS, HOUR_MS, HOUR_MS, DAY_MS, 2 * DAY_MS, 15 * DAY_MS),
  }),
  run: fc.record({ do: fc.constantFrom('monitor', 'payouts') }),
  pause: fc.record({ do: fc.constant('pause' as const), escrow: fc.boolean(), platform: fc.boolean() }),
} as const
const act = fc.oneof(
  { weight: 5, arbitrary: buying },
  { weight: 10, arbitrary: acts.report },
  { weight: 10, arbitrary: acts.judge },
  { weight: 6, arbitrary: acts.rule },
  { weight: 1, arbitrary: acts.withdraw },
  { weight: 1, arbitrary: acts.cancel },
  { weight: 4, arbitrary: acts.wait },
  { weight: 6, arbitrary: acts.run },
  { weight: 1, arbitrary: acts.pause },
)
const history = fc
  .tuple(buying, fc.array(act, { minLength: 5, maxLength: STEPS }))
  .map(([first, rest]) => [first, ...rest])
type Act = typeof act extends fc.Arbitrary<infer A> ? A : never
/** What is done to one job, in a transaction that holds it. */
type OnJob = Extract<Act, { job: number }>

async function perform(one: Act, ids: string[]): Promise<unknown> {
  switch (one.do) {
    case 'buy':
      return ids.push(await buy(one.kind, one.from))
    case 'wait':
      return market.pass(one.ms)
    case 'pause':
      return market.setPaused(one)
    case 'monitor':
      return market.monitor()
    case 'payouts':
      return runPayouts(market.world())
    default:
      return onJob(one, ids)
  }
}

let purchases = 0

/** What the purchase does after the money has come in: a hold of the balance, or a transfer on the chain. */
async function buy(kind: keyof typeof listings, method: 'x402' | 'balance'): Promise<string> {
  const world = market.world()
  purchases += 1
  const paymentId = `payment ${purchases}`
  const now = world.clock.now()
  const amount = usdc(PRICE.agent)
  const split = { agent: amount, net: usdc(PRICE.net), fee: usdc(PRICE.fee) }
  if (method === 'x402') await world.chain.faucet?.({ wallet: world.chain.payTo, amount, nowMs: world.clock.wall() })
  return commit(world, async (t, draw) => {
    const service = await t.table(services).get(listings[kind])
    const participant = await t.table(participants).get(buyer.id)
    if (!service || !participant) throw new Error('no market')
    if (method === 'balance') {
      const legs = postings.balanceHold({ participantId: buyer.id, paymentId, amount })
      await post(t, draw, { kind: 'balance_hold', ref: { kind: 'payment', id: paymentId }, legs, at: now })
    }
    const { job: opened, legs } = await openEscrowJob(t, draw, {
      service,
      payer: { wallet: participant.wallet, participant },
      payment: { id: paymentId, receipt_id: draw.id('receipt'), method, transaction: null, created_at: now },
      source: method === 'x402' ? account.ext : account.hold(paymentId),
      split,
      input: {},
      estimatedDelivery: service.estimated_delivery,
      baseUrl: 'http://127.0.0.1',
      now,
    })
    await post(t, draw, { kind: 'escrow_hold', ref: { kind: 'job', id: opened.id }, legs, at: now })
    return opened.id
  })
}

/** A refusal is an answer like any other: it must only leave everything as it was. */
async function onJob(one: OnJob, ids: readonly string[]): Promise<unknown> {
  const id = ids.at(-1 - one.job)
  if (id === undefined) return undefined
  const world = market.world()
  const at = world.clock.now()
  try {
    return await commit(world, async (t, draw) => {
      const held = await holdJob(t, id)
      return held && deed(t, draw, { one, held, at })
    })
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return undefined
  }
}

type Deed = { readonly one: OnJob; readonly held: JobRow; readonly at: number }

function deed(t: Tx, draw: Draw, { one, held, at }: Deed): Promise<JobRow> {
  switch (one.do) {
    case 'report': {
      const report = { status: one.status, deliverable: { words: 1 } }
      return applyReport(t, draw, { job: held, report, items: checkReport(held, report), at })
    }
    case 'cancel':
      return applyStep(t, draw, { job: held, step: { event: 'cancel', by: one.by, at } })
    case 'rule': {
      const toBuyer = one.outcome === 'split' ? usdc(one.part) : undefined
      return ruleOn(t, draw, { job: held, decision: { outcome: one.outcome, toBuyer, reason: 'x', by: 'admin', at } })
    }
    case 'verify':
      return verifyByBuyer(t, draw, { job: held, opinion: {}, at })
    case 'pay':
      return verifyAndRelease(t, draw, { job: held, opinion: {}, at })
    case 'dispute':
      return disputeJob(t, draw, { job: held, complaint: { reason: 'x', category: 'other' }, at })
    case 'withdraw':
      return withdrawInEmergency(t, draw, { job: held, reason: 'x', at })
  }
}

/** Where money is, outside of the escrows: at the provider, kept by the market, at the buyer's two homes. */
type Whereabouts = { provider: bigint; kept: bigint; balance: bigint; wallet: bigint }

/** Where the money of these jobs has to be by what their rows say, from where it all was before them. */
function expected(before: Whereabouts, rows: readonly JobRow[]): Whereabouts {
  const sums = { ...before }
  for (const row of rows) {
    const home = row.payment_method === 'balance' ? 'balance' : 'wallet'
    if (home === 'balance') sums.balance -= row.amount
    const part = partsOf(row)
    sums[home] += part.back
    sums.provider += part.net
    sums.kept += part.fee
  }
  return sums
}

function partsOf({ escrow_status, amount, provider_amount, fee, dispute }: JobRow) {
  const none = { back: 0n, net: 0n, fee: 0n }
  if (escrow_status === 'refunded') return { ...none, back: amount }
  if (escrow_status === 'released') return { ...none, net: provider_amount, fee }
  if (escrow_status !== 'split') return none
  const back = dispute?.buyer_amount ?? 0n
  const net = (provider_amount * (amount - back)) / amount
  return { back, net, fee: amount - back - net }
}

type Books = ReadonlyMap<string, AccountRow>

const balanceOf = (books: Books, name: string) => books.get(name)?.balance ?? 0n
const sumOf = (books: Books, kinds: readonly string[]) =>
  [...books.values()].filter(({ kind }) => kinds.includes(kind)).reduce((sum, { balance }) => sum + balance, 0n)

async function whereabouts(books: Books): Promise<Whereabouts> {
  return {
    provider: balanceOf(books, account.provider(market.provider.id)),
    kept: sumOf(books, ['fees', 'refp']),
    balance: balanceOf(books, account.balance(buyer.id)),
    wallet: sumOf(books, ['rfd', 'out']) + (await market.onChain(buyer)),
  }
}

async function readBooks(t: ReadTx): Promise<Books> {
  const { rows, more } = await t.table(accounts).page('kind', [], { limit: MAX_ROWS })
  if (more) throw new Error(`more than ${MAX_ROWS} accounts`)
  return new Map(rows.map((row) => [row.id, row]))
}

async function expectSound(before: Whereabouts, ids: readonly string[]): Promise<void> {
  const world = market.world()
  const { rows, books, holds } = await world.store.read(async (t) => {
    const all = await readBooks(t)
    const held = [...all.values()].flatMap(({ kind, ...row }) => (isHeld(kind) ? [{ ...row, kind }] : []))
    return {
      rows: await t.table(jobs).getMany(ids),
      books: all,
      holds: await Promise.all(held.map((row) => holdOf(t, row, world.clock.now()))),
    }
  })
  expect([...books.values()].reduce((sum, { balance }) => sum + balance, 0n)).toBe(0n)
  expect([...books.values()].filter(({ id, balance }) => balance < 0n && id !== account.ext)).toEqual([])
  for (const row of rows) {
    const isHolding = row.escrow_status === 'held'
    expect([row.id, balanceOf(books, account.escrow(row.id))]).toEqual([row.id, isHolding ? row.amount : 0n])
    expect([row.id, isEnd(row.status)]).toEqual([row.id, !isHolding])
    expect([row.open, row.next_event_at !== null, row.ended_at === null]).toEqual([isHolding, isHolding, isHolding])
  }
  expect(await whereabouts(books)).toEqual(expected(before, rows))
  for (const hold of holds) {
    expect([hold.account, hold.owner === null, hold.next_event_at === null]).toEqual([hold.account, false, false])
    if (hold.expected !== null) expect([hold.account, hold.expected]).toEqual([hold.account, hold.amount])
  }
}

/** With nobody doing anything more, all that is open ends by itself. */
async function letEnd(): Promise<void> {
  await market.setPaused({ escrow: false, platform: false })
  for (let rest = 0; rest < 3; rest += 1) {
    await market.monitor()
    market.pass(15 * DAY_MS)
  }
  await market.monitor()
  const { store } = market.world()
  expect([await store.table(jobs).count('due', []), await store.table(accounts).count('kind', ['esc'])]).toEqual([0, 0])
}

test('in every history each cent is in one place, with an owner and a next event, and all of it ends', async () => {
  await fc.assert(
    fc.asyncProperty(history, async (steps) => {
      const before = await whereabouts(await market.world().store.read(readBooks))
      const ids: string[] = []
      for (const one of steps) {
        await perform(one, ids)
        await expectSound(before, ids)
      }
      await letEnd()
      await expectSound(before, ids)
    }),
    { numRuns: RUNS },
  )
  expect(await market.faults()).toEqual([])
})
