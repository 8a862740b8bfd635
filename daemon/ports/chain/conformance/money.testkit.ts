import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Usdc, usdc } from '../../../../src/core/money.ts'
import { DAY_MS } from '../../../../src/core/time.ts'
import { type ChainPort, FAUCET_DAILY_LIMIT } from '../chain.ts'
import { type ChainBench, newPerson, nonceOf, type OpenBench, type Person, signed } from './bench.testkit.ts'

/** What every chain does with money, whatever keeps it. `runs`: how often properties are tried. */
export function moneyConformance(open: OpenBench, runs: number): void {
  let bench: ChainBench
  let buyer: Person
  let other: Person
  beforeEach(async () => {
    bench = await open()
    ;[buyer, other] = [newPerson(), newPerson()]
  })
  afterEach(() => bench.close())

  settling(() => ({ bench, buyer, other }))
  refusing(() => ({ bench, buyer, other }))
  paying(() => ({ bench, buyer, other }))
  conserving(() => bench, runs)
}

type Stage = () => { bench: ChainBench; buyer: Person; other: Person }

const TRANSACTION = /^0x[0-9a-f]{64}$/

function settling(stage: Stage): void {
  test('settles once, and says the same again after a crash', async () => {
    const { bench, buyer } = stage()
    await bench.fund(buyer.wallet, 5_000n)
    const { authorization, signature } = await signed(bench, buyer)
    const { nonce } = authorization
    expect(await bench.chain.authorizationState(buyer.wallet, nonce)).toMatchObject({ used: false })
    expect(await bench.chain.verify(authorization, signature)).toEqual({ ok: true })
    const first = await bench.chain.settle(authorization, signature)
    expect(first).toMatchObject({ ok: true, already: false, transaction: expect.stringMatching(TRANSACTION) })
    await bench.reopen()
    expect(await bench.chain.settle(authorization, signature)).toEqual({ ...first, already: true })
    const state = await bench.chain.authorizationState(buyer.wallet, nonce)
    expect(state).toMatchObject({ used: true, transaction: first.ok && first.transaction })
    expect(await bench.chain.verify(authorization, signature)).toEqual({ ok: false, failure: 'authorization_used' })
    expect(await bench.chain.balanceOf(buyer.wallet)).toBe(4_000n)
    expect(await bench.chain.balanceOf(bench.chain.payTo)).toBe(1_000n)
  })

  test('a wallet can pay its last unit', async () => {
    const { bench, buyer } = stage()
    await bench.fund(buyer.wallet, 1_000n)
    const { authorization, signature } = await signed(bench, buyer)
    expect(await bench.chain.settle(authorization, signature)).toMatchObject({ ok: true, already: false })
    expect(await bench.chain.balanceOf(buyer.wallet)).toBe(0n)
  })

  test('settlements that arrive together move money once', async () => {
    const { bench, buyer } = stage()
    await bench.fund(buyer.wallet, 5_000n)
    const { authorization, signature } = await signed(bench, buyer)
    const together = Array.from({ length: 16 }, () => bench.chain.settle(authorization, signature))
    const results = await Promise.all(together)
    expect(new Set(results.map((result) => (result.ok ? result.transaction : result.failure))).size).toBe(1)
    expect(await bench.chain.balanceOf(bench.chain.payTo)).toBe(1_000n)
  })

  test('the latest and the final block each tell which they are', async () => {
    const { bench, buyer } = stage()
    const { asOf } = await bench.chain.authorizationState(buyer.wallet, nonceOf(9), 'final')
    expect(asOf).toMatchObject({ finality: 'final' })
    expect(Math.abs(asOf.timestamp - bench.seconds())).toBeLessThan(600)
  })
}

function refusing(stage: Stage): void {
  const now = (seconds: number) => BigInt(seconds)
  describe.each([
    { name: 'more than the wallet holds', change: () => ({ value: 5_001n }), failure: 'insufficient_funds' },
    {
      name: 'what has ended',
      change: (at: number) => ({ validBefore: now(at - 30) }),
      failure: 'authorization_expired',
    },
    {
      name: 'early',
      change: (at: number) => ({ validAfter: now(at + 60), validBefore: now(at + 90) }),
      failure: 'authorization_not_yet_valid',
    },
    { name: 'changed value', sent: () => ({ value: 2_000n }), failure: 'signature_invalid' },
    { name: 'changed payee', sent: (one: Person) => ({ to: one.wallet }), failure: 'signature_invalid' },
    { name: "another's money", sent: (one: Person) => ({ from: one.wallet }), failure: 'signature_invalid' },
  ] as const)('$name', (row) => {
    test('is refused before anything is sent, and moves nothing', async () => {
      const { bench, buyer, other } = stage()
      await bench.fund(buyer.wallet, 5_000n)
      await bench.fund(other.wallet, 5_000n)
      const { authorization, signature } = await signed(
        bench,
        buyer,
        'change' in row ? row.change(bench.seconds()) : {},
      )
      const sent = { ...authorization, ...('sent' in row ? row.sent(other) : {}) }
      expect(await bench.chain.verify(sent, signature)).toEqual({ ok: false, failure: row.failure })
      const refusal = { ok: false, failure: row.failure, sent: false }
      expect(await bench.chain.settle(sent, signature)).toEqual(refusal)
      expect(await bench.chain.balanceOf(bench.chain.payTo)).toBe(0n)
      expect(await bench.chain.authorizationState(sent.from, sent.nonce)).toMatchObject({ used: false })
    })
  })

  test('a wallet that was never seen has nothing', async () => {
    const { bench, other } = stage()
    const { authorization, signature } = await signed(bench, other)
    expect(await bench.chain.balanceOf(other.wallet)).toBe(0n)
    const refusal = { ok: false, failure: 'insufficient_funds', sent: false }
    expect(await bench.chain.settle(authorization, signature)).toEqual(refusal)
  })

  test('a used nonce with other bytes is refused', async () => {
    const { bench, buyer } = stage()
    await bench.fund(buyer.wallet, 5_000n)
    const first = await signed(bench, buyer)
    await bench.chain.settle(first.authorization, first.signature)
    const second = await signed(bench, buyer, { value: 2_000n })
    const result = await bench.chain.settle(second.authorization, second.signature)
    expect(result).toEqual({ ok: false, failure: 'authorization_used', sent: false })
  })
}

function paying(stage: Stage): void {
  test('a payout is made once for its id, also after a crash', async () => {
    const { bench, buyer, other } = stage()
    await bench.fund(bench.chain.payTo, 5_000n)
    const payout = { id: 'out_0000000000000001', to: other.wallet, amount: usdc(2_000n) }
    const first = await bench.chain.transfer(payout)
    expect(first).toMatchObject({ ok: true, already: false })
    expect(await bench.chain.transfer(payout)).toEqual({ ...first, already: true })
    await bench.reopen()
    expect(await bench.chain.transfer(payout)).toEqual({ ...first, already: true })
    const reused = { ok: false, failure: 'id_reused' }
    expect(await bench.chain.transfer({ ...payout, amount: usdc(1n) })).toEqual(reused)
    expect(await bench.chain.transfer({ ...payout, to: buyer.wallet })).toEqual(reused)
    const tooMuch = { ...payout, id: 'out_0000000000000002', amount: usdc(3_001n) }
    expect(await bench.chain.transfer(tooMuch)).toEqual({ ok: false, failure: 'insufficient_funds' })
    expect(await bench.chain.balanceOf(other.wallet)).toBe(2_000n)
  })

  test('payouts of one id that come together pay once', async () => {
    const { bench, other } = stage()
    await bench.fund(bench.chain.payTo, 5_000n)
    const payout = { id: 'out_0000000000000003', to: other.wallet, amount: usdc(1_500n) }
    const results = await Promise.all([1, 2, 3].map(() => bench.chain.transfer(payout)))
    expect(new Set(results.map((result) => result.ok && result.transaction)).size).toBe(1)
    expect(await bench.chain.balanceOf(other.wallet)).toBe(1_500n)
  })

  test('the faucet gives a wallet $1,000 a day', async () => {
    const { bench, buyer, other } = stage()
    const ask = (amount: bigint, day: number, wallet = buyer.wallet) => {
      if (!bench.chain.faucet) throw new Error('this chain has no faucet')
      return bench.chain.faucet({ wallet, amount: usdc(amount), nowMs: day * DAY_MS + 1 })
    }
    expect(await ask(600_000_000n, 1)).toMatchObject({ ok: true, remainingToday: 400_000_000n })
    expect(await ask(400_000_001n, 1)).toEqual({ ok: false, failure: 'daily_limit', remainingToday: 400_000_000n })
    expect(await ask(400_000_000n, 1)).toMatchObject({ ok: true, remainingToday: 0n })
    expect(await ask(1n, 1)).toMatchObject({ ok: false })
    expect(await ask(FAUCET_DAILY_LIMIT, 1, other.wallet)).toMatchObject({ ok: true })
    expect(await ask(FAUCET_DAILY_LIMIT, 2)).toMatchObject({ ok: true })
    expect(await bench.chain.balanceOf(buyer.wallet)).toBe(2_000_000_000n)
  })
}

const amount = fc.integer({ min: 1, max: 3_000 })
const step = fc.oneof(
  fc.record({ kind: fc.constant('mint' as const), to: fc.nat(2), amount }),
  fc.record({ kind: fc.constant('settle' as const), from: fc.nat(2), to: fc.nat(3), nonce: fc.nat(3), amount }),
  fc.record({ kind: fc.constant('pay' as const), to: fc.nat(2), id: fc.nat(3), amount }),
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

function conserving(stage: () => ChainBench, runs: number): void {
  let tried = 0

  async function take(taken: Step, people: readonly Person[]): Promise<void> {
    const bench = stage()
    const { chain } = bench
    const value = BigInt(taken.amount)
    const to = people[taken.to]?.wallet ?? chain.payTo
    if (taken.kind === 'mint') await bench.fund(to, value)
    if (taken.kind === 'pay') await chain.transfer({ id: `${tried}:${taken.id}`, to, amount: usdc(value) })
    if (taken.kind !== 'settle') return
    const payer = people[taken.from] as Person
    const { authorization, signature } = await signed(bench, payer, { to, value, nonce: nonceOf(taken.nonce) })
    await chain.settle(authorization, signature)
  }

  const sumOf = async (chain: ChainPort, people: readonly Person[]): Promise<bigint> => {
    const wallets = [chain.payTo, ...people.map(({ wallet }) => wallet)]
    const balances: Usdc[] = await Promise.all(wallets.map((wallet) => chain.balanceOf(wallet)))
    return balances.reduce((sum, one) => sum + one, 0n)
  }

  test('whatever happens at once, no unit appears or vanishes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 14 }), async (steps) => {
        tried += 1
        const people = [newPerson(), newPerson(), newPerson()]
        const before = await sumOf(stage().chain, people)
        await Promise.all(steps.map((taken) => take(taken, people)))
        const minted = steps.reduce((sum, one) => (one.kind === 'mint' ? sum + BigInt(one.amount) : sum), 0n)
        expect(await sumOf(stage().chain, people)).toBe(before + minted)
      }),
      { numRuns: runs },
    )
  })

  test('one nonce of a wallet moves money at most once, whichever bytes come', async () => {
    const values = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 2, maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(values, fc.boolean(), async (asked, crashes) => {
        const bench = stage()
        const payer = newPerson()
        await bench.fund(payer.wallet, 100n)
        const payments = await Promise.all(asked.map((value) => signed(bench, payer, { value: BigInt(value) })))
        const settleAll = () =>
          Promise.all(payments.map(({ authorization, signature }) => bench.chain.settle(authorization, signature)))
        const results = await settleAll()
        if (crashes) await bench.reopen()
        results.push(...(await settleAll()))
        const moved = 100n - (await bench.chain.balanceOf(payer.wallet))
        expect(asked).toContain(Number(moved))
        const transactions = results.flatMap((result) => (result.ok ? [result.transaction] : []))
        expect(new Set(transactions).size).toBe(1)
      }),
      { numRuns: Math.ceil(runs / 3) },
    )
  })
}
