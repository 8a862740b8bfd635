import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runOf } from '../../fixtures/kit/crash.ts'
import { runs } from '../../fixtures/kit/depth.ts'
import { chainWith, movableClock } from '../../fixtures/kit/faults.ts'
import { balanceOfAccount, soundBooks } from '../../fixtures/kit/money.ts'
import { noTicks } from '../../fixtures/kit/time.ts'
import { type Marketplace, openMarketplace } from '../../fixtures/market/marketplace.ts'
import { type Person, registered } from '../../fixtures/market/people.ts'
import { toWallet, type Wallet } from '../../src/core/hex.ts'
import { formatAmount, usdc } from '../../src/core/money.ts'
import { DAY_MS, HOUR_MS } from '../../src/core/time.ts'
import type { Cron } from '../crons/cron.ts'
import { account, legsOf, share, split } from '../features/ledger/legs.ts'
import { post } from '../features/ledger/post.ts'
import { autoRefund } from '../features/payments/auto-refund.ts'
import { providerSettlement } from '../features/payouts/provider-settlement.ts'
import { splitterDistribute } from '../features/payouts/splitter-distribute.ts'
import { referralRewards } from '../features/referrals/referral-rewards.ts'
import { referrersOf } from '../features/referrals/referrals.ts'
import { MIN_WITHDRAWAL } from '../features/referrals/routes.ts'
import { commit } from '../store/draw.ts'

// @slow random histories

/* Random histories of sales, crons, withdrawals, sanctions and a chain that fails: what comes in is paid out, once. */

const RUNS = runs(60, 20)
const MAX_STEPS = 30
const WHOLE_BPS = 10_000n
const PAYEES = [
  { to: 'operator', bps: 3_334n },
  { to: `0x${randomBytes(20).toString('hex')}` as Wallet, bps: 3_333n },
  { to: `0x${randomBytes(20).toString('hex')}` as Wallet, bps: 3_333n },
] as const
const instantKinds = ['instant_sale', 'product_sale', 'subscription', 'renewal'] as const
const crons = [referralRewards, providerSettlement, splitterDistribute, autoRefund]

let market: Marketplace
let refusal: 'unavailable' | 'insufficient_funds' | 'id_reused' | undefined
const sanctioned = new Set<Wallet>()
const time = movableClock()
const people: { referrers: Person[]; buyers: Person[]; providers: Person[] } = {
  referrers: [],
  buyers: [],
  providers: [],
}
/** The model: what each provider and referrer earned so far, and what the marketplace kept. */
const earned = new Map<string, bigint>()
let kept = 0n

const ctx = () => market.daemon.ctx
const walletOf = (person: Person) => toWallet(person.account.address)
const held = (name: string) => balanceOfAccount(market, name)
const onChain = (wallet: Wallet) => ctx().chain.balanceOf(wallet)
const opening = new Map<Wallet, bigint>()

beforeAll(async () => {
  const chain = chainWith((real) => ({
    transfer: async (order) => (refusal ? { ok: false, failure: refusal } : real.transfer(order)),
  }))
  const isSanctioned = async (wallet: Wallet) => sanctioned.has(wallet)
  market = await openMarketplace({ payees: PAYEES }, { chain, clock: time.clock, isSanctioned, ticker: noTicks })
  const by = (referrer: Person | undefined) => (referrer ? { referral_code: `ref_${referrer.id}` } : {})
  const [one, other] = [await registered(market, { type: 'agent' }), await registered(market, { type: 'agent' })]
  people.referrers = [one, other]
  for (const referrer of [one, other, undefined]) {
    people.buyers.push(await registered(market, { type: 'agent', ...by(referrer) }))
    people.providers.push(await registered(market, { type: 'provider', ...by(referrer) }))
  }
  for (const person of Object.values(people).flat()) opening.set(walletOf(person), await onChain(walletOf(person)))
  kept += await held('ops')
})
afterAll(() => market.close())

const sale = fc.record({
  do: fc.constant('sell' as const),
  kind: fc.constantFrom(...instantKinds, 'escrow_release', 'dispute_split'),
  buyer: fc.nat({ max: 2 }),
  provider: fc.nat({ max: 2 }),
  steps: fc.oneof(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: 900_000 })),
  firstParty: fc.boolean(),
  toBuyerPct: fc.integer({ min: 0, max: 100 }),
})
const step = fc.oneof(
  { weight: 4, arbitrary: sale },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('run' as const), cron: fc.nat({ max: crons.length - 1 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('withdraw' as const), who: fc.nat({ max: 1 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('sanction' as const), who: fc.nat({ max: 9 }) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('chain' as const),
      answer: fc.constantFrom(undefined, 'unavailable' as const, 'insufficient_funds' as const, 'id_reused' as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('pass' as const), hours: fc.constantFrom(1, 25) }) },
)
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never
type Sale = Extract<Step, { do: 'sell' }>

/** Of either source, at most. */
let distributions = 0

async function run(cron: Cron): Promise<void> {
  if (cron === splitterDistribute) distributions += 2
  await runOf(cron, ctx())
}

const gain = (name: string, amount: bigint) => earned.set(name, (earned.get(name) ?? 0n) + amount)

/** The faucet gives a wallet so much a day. */
let lastDay = 0
function newDay(): number {
  lastDay += 1
  return lastDay * DAY_MS
}

/** Posts a sale as the gates and the monitor do, and tells the model. */
async function sell({ kind, firstParty, steps, toBuyerPct, ...sides }: Sale): Promise<void> {
  const [buyer, provider] = [people.buyers[sides.buyer] as Person, people.providers[sides.provider] as Person]
  const prices = split(firstParty ? 'first_party' : 'third_party', usdc(BigInt(steps) * 1_000n))
  const { chain, clock } = ctx()
  await chain.faucet?.({ wallet: chain.payTo, amount: prices.agent, nowMs: newDay() })
  const toBuyer = kind === 'dispute_split' ? usdc((prices.agent * BigInt(toBuyerPct)) / 100n) : usdc(0n)
  await commit(ctx(), async (t, draw) => {
    const referrers = await referrersOf(t, { buyer: { wallet: walletOf(buyer) }, providerId: provider.id })
    const ref = { kind: 'test', id: draw.id('job') }
    const made = { providerId: provider.id, split: prices, referrers }
    const entry = { ref, at: clock.now() }
    if (kind !== 'escrow_release' && kind !== 'dispute_split') {
      await post(t, draw, { ...entry, kind, legs: legsOf.instantSale({ ...made, source: account.ext }) })
      return
    }
    const escrow = { ...made, jobId: ref.id }
    const into = legsOf.escrowHold({ source: account.ext, jobId: ref.id, amount: prices.agent })
    await post(t, draw, { ...entry, kind: 'escrow_hold', legs: into })
    const back = { buyer: { participantId: buyer.id }, toBuyer }
    const legs = kind === 'escrow_release' ? legsOf.escrowRelease(escrow) : legsOf.disputeSplit({ ...escrow, ...back })
    await post(t, draw, { ...entry, kind, legs })
  })
  const net = (prices.net * (prices.agent - toBuyer)) / prices.agent
  const fee = usdc(prices.agent - toBuyer - net)
  const shares = [
    [people.referrers[sides.buyer], share(fee, 2_000n)],
    [people.referrers[sides.provider], share(fee, 2_500n)],
  ] as const
  gain(provider.id, net)
  gain(buyer.id, toBuyer)
  for (const [referrer, amount] of shares) if (referrer) gain(referrer.id, amount)
  kept += fee - shares.reduce((sum, [referrer, amount]) => (referrer ? sum + amount : sum), 0n)
}

/** All that was withdrawn so far. */
const withdrawn = new Map<string, bigint>()

async function withdraw(who: Person): Promise<void> {
  const payable = await held(account.referral(who.id))
  const answer = await who.call('POST', '/v1/referrals/withdraw')
  const paid = payable >= MIN_WITHDRAWAL ? 200 : 409
  expect(answer.status).toBe(sanctioned.has(walletOf(who)) ? 403 : paid)
  if (answer.status !== 200) return
  expect(answer.body.withdrawn).toBe(formatAmount(payable))
  withdrawn.set(who.id, (withdrawn.get(who.id) ?? 0n) + payable)
}

async function act(one: Step): Promise<void> {
  switch (one.do) {
    case 'sell':
      return sell(one)
    case 'run':
      return run(crons[one.cron] ?? referralRewards)
    case 'withdraw':
      return withdraw(people.referrers[one.who] as Person)
    case 'sanction': {
      const everyone = [...Object.values(people).flat().map(walletOf), PAYEES[1].to]
      const wallet = everyone[one.who] as Wallet
      if (!sanctioned.delete(wallet)) sanctioned.add(wallet)
      return
    }
    case 'chain':
      refusal = one.answer
      return
    case 'pass':
      time.advance(one.hours * HOUR_MS)
  }
}

/** Everything works again, until nothing moves any more. */
async function settle(): Promise<void> {
  refusal = undefined
  sanctioned.clear()
  for (let round = 0; round < 6; round += 1) {
    time.advance(DAY_MS + HOUR_MS)
    for (const cron of crons) await run(cron)
  }
}

async function expectAllPaid(): Promise<void> {
  for (const provider of people.providers) {
    const wallet = walletOf(provider)
    expect((await onChain(wallet)) - (opening.get(wallet) ?? 0n)).toBe(earned.get(provider.id) ?? 0n)
  }
  for (const { id } of people.referrers) {
    const [payable, gone] = [await held(account.referral(id)), withdrawn.get(id) ?? 0n]
    expect(payable + gone).toBe(earned.get(id) ?? 0n)
    expect(await held(account.balance(id))).toBe(gone)
  }
  for (const { id } of people.buyers) expect(await held(account.balance(id))).toBe(earned.get(id) ?? 0n)
  const dust = (await held('fees')) + (await held('ops'))
  const paid = [await held(account.oper), await onChain(PAYEES[1].to), await onChain(PAYEES[2].to)]
  expect(paid.reduce((sum, amount) => sum + amount, dust)).toBe(kept)
  // Less than an atomic unit a payee and source stays.
  expect(dust < 2n * BigInt(PAYEES.length)).toBe(true)
  // What one distribution leaves is divided again by the next: a few atomic units each.
  const drift = BigInt(distributions * PAYEES.length)
  PAYEES.forEach(({ bps }, n) => {
    const off = (paid[n] as bigint) - (kept * bps) / WHOLE_BPS
    expect(off <= drift && -off <= drift).toBe(true)
  })
}

test('whatever happens, the books stay whole, and all is paid once in the end', async () => {
  const history = fc.asyncProperty(fc.array(step, { maxLength: MAX_STEPS }), async (steps) => {
    for (const one of steps) await act(one)
    await soundBooks(market)
    await settle()
    await soundBooks(market)
    await expectAllPaid()
  })
  await fc.assert(history, { numRuns: RUNS, endOnFailure: true })
})
