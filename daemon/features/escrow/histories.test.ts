import { deepStrictEqual } from 'node:assert'
import fc from 'fast-check'
import { afterAll, beforeAll, test } from 'vitest'
import { runs } from '../../../fixtures/kit/depth.ts'
import { fund } from '../../../fixtures/kit/money.ts'
import { type Escrow, openEscrow } from '../../../fixtures/market/escrow.ts'
import { jobIn } from '../../../fixtures/market/job-states.ts'
import type { Person } from '../../../fixtures/market/people.ts'
import { AppError } from '../../../src/core/error.ts'
import { toWallet, type Wallet } from '../../../src/core/hex.ts'
import { usdc } from '../../../src/core/money.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../src/core/time.ts'
import type { Context } from '../../kernel/context.ts'
import { settings } from '../../kernel/rows.ts'
import { readPlatform } from '../../kernel/switches.ts'
import type { EscrowPort } from '../../ports/chain/escrow.ts'
import { openSandboxChain } from '../../ports/chain/sandbox/chain.ts'
import { openRecover } from '../../ports/chain/signature.ts'
import { systemEntropy } from '../../ports/entropy.ts'
import { commit } from '../../store/draw.ts'
import type { Store } from '../../store/port.ts'
import { auditBooks } from '../audit/audit.ts'
import { applyStep, lockJob } from '../jobs/apply.ts'
import { disputeJob } from '../jobs/dispute.ts'
import { ruleOn } from '../jobs/escrow-monitor.ts'
import { isEnd, type JobEvent, type JobRole } from '../jobs/machine.ts'
import { type JobRow, jobs } from '../jobs/rows.ts'
import { account } from '../ledger/legs.ts'
import { post } from '../ledger/post.ts'
import { runPayouts } from '../payouts/payouts.ts'
import { payouts as payoutRows } from '../payouts/rows.ts'
import { advance } from './advance.ts'
import { CONTRACT } from './deal.ts'
import { openLook } from './mirror.ts'
import { type ContractModel, modelOf } from './model.testkit.ts'
import { actOf } from './next-act.ts'
import { type DealRow, deals } from './rows.ts'

// @slow random histories

/* Jobs, the contract and others who call it, in any order, while the process dies at any of its steps. */

const RUNS = runs(200, 40)
const STEPS = 40
/** What the marketplace has itself: emergencies after a release are its loss. */
const OWN = usdc(500_000_000n)
const MAX_ROUNDS = 40

let market: Escrow
let buyer: Person
let wallet: Wallet
let model: ContractModel

beforeAll(async () => {
  market = await openEscrow({
    chain: async ({ store }) => {
      const recover = await openRecover()
      const inner = await openSandboxChain({ store, recover, entropy: systemEntropy(), wall: Date.now })
      model = modelOf(inner, () => market.ctx().clock.wall())
      return model.chain
    },
  })
  buyer = await market.agent({ balance: '500.00' })
  wallet = toWallet(buyer.account.address)
  const ctx = market.ctx()
  await fund(ctx.chain, OWN, ctx.clock.wall())
  await commit(ctx, async (t, draw) => {
    await t.table(settings).getForUpdate(CONTRACT)
    await t.table(settings).put({ id: CONTRACT, value: { address: model.port.address, pay_to: ctx.chain.payTo } })
    const legs = [{ from: account.ext, to: account.oper, amount: OWN }]
    await post(t, draw, { kind: 'adjustment', ref: { kind: 'test', id: 'own' }, legs, at: ctx.clock.now() })
  })
})
afterAll(() => market.close())

class Died extends Error {
  override readonly name = 'Died'
}

/** A process that dies at its n-th write, to the store or to the contract, on either side of it. */
function dying(ctx: Context, dieAt: number, side: 'before' | 'after') {
  let steps = 0
  const through = async <T>(work: () => Promise<T>): Promise<T> => {
    steps += 1
    if (steps > dieAt || (steps === dieAt && side === 'before')) throw new Died()
    const result = await work()
    if (steps === dieAt) throw new Died()
    return result
  }
  const store: Store = { ...ctx.store, tx: (body) => through(() => ctx.store.tx(body)) }
  const port: EscrowPort = {
    ...model.port,
    deposit: (terms) => through(() => model.port.deposit(terms)),
    act: (act) => through(() => model.port.act(act)),
  }
  return { ctx: { ...ctx, store }, port, unlessStopped: <T>(answer: Promise<T>) => answer }
}

const NEVER = 1_000
const job = fc.constantFrom(0, 0, 0, 1, 2)
/** What parties and time do to a job; who asks at the wrong moment is refused. */
const steps: readonly (readonly [JobEvent, JobRole])[] = [
  ['deliver', 'provider'],
  ['deliver', 'provider'],
  ['verify', 'buyer'],
  ['release', 'system'],
  ['release', 'system'],
  ['cancel', 'buyer'],
  ['fail', 'provider'],
  ['expire', 'system'],
  ['rule_refund', 'admin'],
  ['rule_release', 'admin'],
  ['emergency_withdraw', 'admin'],
]
const act = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('buy' as const),
      from: fc.constantFrom('x402', 'balance'),
      status: fc.constantFrom('dispatched', 'dispatched', 'completed', 'verified', 'disputed'),
    }),
  },
  {
    weight: 10,
    arbitrary: fc.record({ do: fc.constant('step' as const), job, step: fc.constantFrom(...steps) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('dispute' as const), job }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('rule' as const), job, part: fc.bigInt(0n, 525_000n) }) },
  {
    weight: 16,
    arbitrary: fc.record({
      do: fc.constant('work' as const),
      job,
      dieAt: fc.constantFrom(1, 2, 3, 4, NEVER, NEVER),
      side: fc.constantFrom('before', 'after'),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('outside' as const),
      job,
      what: fc.constantFrom('claimTimeout', 'claimTimeout', 'emergencyWithdraw', 'refund'),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('settle' as const),
      job,
      how: fc.constantFrom('undo' as const, 'finalise' as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('pause' as const), isPaused: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('look' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('payouts' as const) }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(MINUTE_MS, HOUR_MS, 12 * DAY_MS) }),
  },
)
type Bought = Extract<Act, { do: 'buy' }>
type Act = typeof act extends fc.Arbitrary<infer A> ? A : never
const history = fc.array(act, { minLength: 10, maxLength: STEPS })

async function perform(one: Act, ids: string[]): Promise<unknown> {
  const ctx = market.ctx()
  const at = ctx.clock.now()
  if (one.do === 'buy') return buy(one, ids)
  if (one.do === 'wait') return market.pass(one.ms, { wall: true })
  if (one.do === 'look') return look()
  if (one.do === 'payouts') return payOut()
  if (one.do === 'pause') return model.port.setPaused(one.isPaused)
  const id = 'job' in one ? ids.at(-1 - one.job) : undefined
  if (id === undefined) return undefined
  if (one.do === 'outside') return model.outside(one.what, id)
  if (one.do === 'settle') return model[one.how](id)
  if (one.do === 'work') {
    return advance(dying(ctx, one.dieAt, one.side), id).catch((error: unknown) => {
      if (!(error instanceof Died)) throw error
    })
  }
  return commit(ctx, async (t, draw) => {
    const held = await lockJob(t, id)
    if (!held) throw new Error(`no ${id}`)
    if (one.do === 'dispute')
      return disputeJob(t, draw, { job: held, complaint: { reason: 'x', category: 'other' }, at })
    if (one.do === 'step') {
      const [event, by] = one.step
      return applyStep(t, draw, { job: held, step: { event, by, at } })
    }
    const decision = { outcome: 'split', toBuyer: usdc(one.part), reason: 'x', by: 'admin', at } as const
    return ruleOn(t, draw, { job: held, decision })
  }).catch((error: unknown) => {
    // A refusal is an answer like any other.
    if (!(error instanceof AppError)) throw error
  })
}

async function buy(what: Pick<Bought, 'from' | 'status'>, ids: string[]): Promise<void> {
  ids.push((await jobIn(market, { ...what, buyer })).id)
}

const unlessStopped = <T>(answer: Promise<T>) => answer
const warn = (error: unknown) => {
  throw error
}

function look(): Promise<void> {
  const work = {
    running: new Map(),
    wake: () => undefined,
    changed: async () => undefined,
    close: async () => undefined,
  }
  return openLook({ ctx: market.ctx(), port: model.port, unlessStopped, work, warn }).look({ isStart: true })
}

/** As payouts do: what may still be paid by the contract is not paid here. */
async function payOut(): Promise<void> {
  if ((await market.ctx().store.table(deals).count('returning', [wallet])) === 0) await runPayouts(market.ctx())
}

async function rowsOf(ids: readonly string[]): Promise<readonly { job: JobRow; deal: DealRow }[]> {
  return market.ctx().store.read(async (t) =>
    Promise.all(
      ids.map(async (id) => {
        const [held, deal] = [await t.table(jobs).get(id), await t.table(deals).get(id)]
        if (!held || !deal) throw new Error(`${id} has no deal`)
        return { job: held, deal }
      }),
    ),
  )
}

/** Whatever happened: what lies in the contract is somebody's, and something comes next for it. */
async function expectOwned(ids: readonly string[]): Promise<void> {
  for (const { job: held, deal } of await rowsOf(ids)) {
    // What somebody else did is booked once it is final, and nothing is asked for before.
    if (deal.taken) deepStrictEqual([deal.open, deal.state, actOf(deal)], [true, 'held', null])
    deepStrictEqual([deal.id, deal.due], [deal.id, deal.taken !== undefined || actOf(deal) !== null])
    if (!deal.open || deal.due) continue
    deepStrictEqual([deal.state, held.escrow_status, isEnd(held.status)], ['held', 'held', false])
    deepStrictEqual([held.id, held.next_event === null], [held.id, false])
  }
  const left = await model.chain.balanceOf(model.chain.payTo)
  deepStrictEqual([left >= 0n, left], [true, left])
}

/** What the buyer has in all of its places, and what the marketplace has kept. */
async function purses() {
  const waits = await market.booked(account.refund(wallet))
  const mine = (await model.chain.balanceOf(wallet)) + (await market.booked(account.balance(buyer.id))) + waits
  const kept = await Promise.all(['oper', 'ops', 'fees'].map(market.booked))
  return { buyer: mine, kept: kept.reduce((sum, one) => sum + one, 0n) }
}

async function letEnd(ids: readonly string[]): Promise<void> {
  const ctx = market.ctx()
  await model.port.setPaused(false)
  model.finalise()
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    await look()
    for (const id of ids) await advance({ ctx, port: model.port, unlessStopped }, id)
    await payOut()
    market.pass(2 * MINUTE_MS, { wall: true })
    const open = await rowsOf(ids)
    if (open.every(({ deal }) => !deal.due) && (await ctx.store.read((t) => openOut(t))) === 0) return
  }
  throw new Error(`it does not end: ${JSON.stringify((await rowsOf(ids)).map(({ deal }) => deal.last_error))}`)
}

function openOut(t: Parameters<Parameters<Store['read']>[0]>[0]): Promise<number> {
  return t.table(payoutRows).count('due', [])
}

test('in every history books and chain agree at the end, and nobody has more or less than was promised', async () => {
  const property = fc.asyncProperty(history, async (steps) => {
    const ids: string[] = []
    await buy({ from: 'x402', status: 'dispatched' }, ids)
    const before = await purses()
    for (const one of steps) {
      await perform(one, ids)
      await expectOwned(ids)
    }
    await letEnd(ids)
    await expectOwned(ids)
    const { escrow_paused_at } = await market.ctx().store.read(readPlatform)
    deepStrictEqual(escrow_paused_at, null)
    const report = await auditBooks({ ...market.ctx(), chain: { ...model.chain, escrow: model.port } })
    deepStrictEqual(
      report.checks.filter(({ ok }) => !ok),
      [],
    )
    const expected = { buyer: before.buyer, kept: before.kept }
    for (const one of await rowsOf(ids)) {
      const { back, kept } = partsOf(one)
      expected.buyer += back
      expected.kept += kept
    }
    deepStrictEqual(await purses(), expected)
  })
  await fc.assert(property, { numRuns: RUNS })
})

/** What came back to the buyer of a job, once, and what the marketplace has of it. */
function partsOf({ job: held, deal }: { job: JobRow; deal: DealRow }): { back: bigint; kept: bigint } {
  const { amount, provider_amount: whole, escrow_status: escrow, dispute } = held
  const split = dispute?.buyer_amount ?? 0n
  const back = { none: 0n, held: 0n, released: 0n, refunded: amount, split }[escrow]
  const net = { none: 0n, held: 0n, refunded: 0n, released: whole, split: (whole * (amount - split)) / amount }[escrow]
  if (deal.state === 'timed_out' || deal.state === 'withdrawn') return { back: amount, kept: -net }
  return { back, kept: escrow === 'held' ? 0n : amount - back - net }
}
