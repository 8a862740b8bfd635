import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { privateKeyToAccount } from 'viem/accounts'
import { beforeAll, expect, test } from 'vitest'
import { type Authorization, authorizationTypes, circleUsdc } from '../../../../src/core/authorization.ts'
import { type Hex, toWallet, type Wallet } from '../../../../src/core/hex.ts'
import { type Usdc, usdc } from '../../../../src/core/money.ts'
import { DAY_MS } from '../../../../src/core/time.ts'
import { openMemoryStore } from '../../../store/memory/open.ts'
import type { Store } from '../../../store/port.ts'
import { openRecover, type Recover } from '../signature.ts'
import { FAUCET_DAILY_LIMIT, openSandboxChain } from './chain.ts'
import { sandboxAccounts, sandboxCollections, sandboxTokens } from './ledger.ts'

const NOW_SECONDS = 1_800_000_000
const accounts = [1, 2, 3].map((n) => privateKeyToAccount(`0x${`6${n}`.repeat(32)}`))
const wallets = accounts.map(({ address }) => toWallet(address))
const [buyer, other] = wallets as [Wallet, Wallet]

let recover: Recover
beforeAll(async () => {
  recover = await openRecover()
})

/** Repeatable bytes, different for each seed. */
function seeded(seed: string): (bytes: number) => Uint8Array {
  let drawn = 0
  return (bytes) => createHash('sha256').update(`${seed}${drawn++}`).digest().subarray(0, bytes)
}

type Context = Awaited<ReturnType<typeof open>>

async function open(store: Store = openMemoryStore([...sandboxCollections]), seed = 'one') {
  const time = { seconds: NOW_SECONDS }
  const chain = await openSandboxChain({ store, recover, entropy: seeded(seed), wall: () => time.seconds * 1000 })
  return { store, chain, time }
}

async function fund({ chain }: Context, wallet: Wallet, amount: bigint): Promise<void> {
  const result = await chain.faucet({ wallet, amount: usdc(amount), nowMs: NOW_SECONDS * 1000 })
  expect(result.ok).toBe(true)
}

const nonce = (n: number): Hex => `0x${n.toString(16).padStart(64, '0')}`

async function signed(
  { chain }: Context,
  payer: number,
  change: Partial<Authorization> = {},
): Promise<{ authorization: Authorization; signature: Hex }> {
  const authorization: Authorization = {
    from: wallets[payer] as Wallet,
    to: chain.payTo,
    value: 1_000n,
    validAfter: 0n,
    validBefore: BigInt(NOW_SECONDS + 60),
    nonce: nonce(1),
    ...change,
  }
  const signature = await (accounts[payer] as (typeof accounts)[number]).signTypedData({
    domain: chain.domain,
    types: authorizationTypes,
    primaryType: 'TransferWithAuthorization',
    message: authorization,
  })
  return { authorization, signature }
}

async function supplyAndSum({ store }: Context): Promise<{ supply: Usdc | undefined; sum: bigint; lowest: bigint }> {
  return await store.read(async (t) => {
    const { rows } = await t.table(sandboxAccounts).page('wallet', [], { limit: 100 })
    const balances = rows.map(({ balance }): bigint => balance)
    return {
      supply: (await t.table(sandboxTokens).get('token'))?.supply,
      sum: balances.reduce((a, b) => a + b, 0n),
      lowest: balances.reduce((a, b) => (a < b ? a : b), 0n),
    }
  })
}

test('asset and payee are drawn once an installation and are not real money', async () => {
  const first = await open()
  const reopened = await open(first.store, 'two')
  expect(reopened.chain.asset).toEqual(first.chain.asset)
  expect(reopened.chain.payTo).toBe(first.chain.payTo)
  const elsewhere = await open(undefined, 'two')
  expect(elsewhere.chain.asset.address).not.toBe(first.chain.asset.address)
  expect(elsewhere.chain.payTo).not.toBe(first.chain.payTo)
  expect(first.chain.payTo).not.toBe(first.chain.asset.address)
  expect(first.chain.asset).toMatchObject({ name: 'USD Coin', version: '2', decimals: 6 })
})

test('an address of real USDC as the asset stops the start', async () => {
  const bytes = Buffer.from(circleUsdc.base.asset.slice(2), 'hex')
  const store = openMemoryStore([...sandboxCollections])
  const opened = openSandboxChain({ store, recover, entropy: () => bytes, wall: () => 0 })
  await expect(opened).rejects.toThrow('address of a real token')
})

test('settles once, and again says the same', async () => {
  const ctx = await open()
  await fund(ctx, buyer, 5_000n)
  const { authorization, signature } = await signed(ctx, 0)
  expect(await ctx.chain.authorizationState(buyer, authorization.nonce)).toMatchObject({ used: false })
  expect(await ctx.chain.verify(authorization, signature)).toEqual({ ok: true })
  const first = await ctx.chain.settle(authorization, signature)
  expect(first).toMatchObject({ ok: true, already: false, transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/) })
  // A restart in between, and a window that has passed, change nothing about what was moved.
  const restarted = await open(ctx.store, 'two')
  restarted.time.seconds += 1_000
  const second = await restarted.chain.settle(authorization, signature)
  expect(second).toEqual({ ...first, already: true })
  expect(await ctx.chain.authorizationState(buyer, authorization.nonce)).toMatchObject({
    used: true,
    transaction: first.ok ? first.transaction : undefined,
  })
  expect(await ctx.chain.balanceOf(buyer)).toBe(4_000n)
  expect(await ctx.chain.balanceOf(ctx.chain.payTo)).toBe(1_000n)
})

test('a wallet can pay its last unit', async () => {
  const ctx = await open()
  await fund(ctx, buyer, 1_000n)
  const { authorization, signature } = await signed(ctx, 0)
  expect(await ctx.chain.settle(authorization, signature)).toMatchObject({ ok: true, already: false })
  expect(await ctx.chain.balanceOf(buyer)).toBe(0n)
})

test('settlements that arrive together move money once', async () => {
  const ctx = await open()
  await fund(ctx, buyer, 5_000n)
  const { authorization, signature } = await signed(ctx, 0)
  const results = await Promise.all(Array.from({ length: 16 }, () => ctx.chain.settle(authorization, signature)))
  expect(results.filter((result) => result.ok && !result.already)).toHaveLength(1)
  expect(new Set(results.map((result) => (result.ok ? result.transaction : result.failure))).size).toBe(1)
  expect(await ctx.chain.balanceOf(ctx.chain.payTo)).toBe(1_000n)
})

test.each([
  { name: 'more than the wallet holds', change: { value: 5_001n }, failure: 'insufficient_funds' },
  { name: 'an unknown wallet', payer: 2, change: {}, failure: 'insufficient_funds' },
  { name: 'the second it ends', change: { validBefore: BigInt(NOW_SECONDS) }, failure: 'authorization_expired' },
  { name: 'early', change: { validAfter: BigInt(NOW_SECONDS + 1) }, failure: 'authorization_not_yet_valid' },
  { name: 'changed value', sent: { value: 2_000n }, failure: 'signature_invalid' },
  { name: 'changed payee', sent: { to: other }, failure: 'signature_invalid' },
  { name: "another's money", sent: { from: other }, failure: 'signature_invalid' },
] as const)('refuses $name and moves nothing', async (row) => {
  const ctx = await open()
  await fund(ctx, buyer, 5_000n)
  await fund(ctx, other, 5_000n)
  const { authorization, signature } = await signed(
    ctx,
    'payer' in row ? row.payer : 0,
    'change' in row ? row.change : {},
  )
  const sent = { ...authorization, ...('sent' in row ? row.sent : {}) }
  expect(await ctx.chain.verify(sent, signature)).toEqual({ ok: false, failure: row.failure })
  expect(await ctx.chain.settle(sent, signature)).toEqual({ ok: false, failure: row.failure, sent: false })
  expect(await ctx.chain.balanceOf(ctx.chain.payTo)).toBe(0n)
  expect(await ctx.chain.authorizationState(sent.from, sent.nonce)).toMatchObject({ used: false })
})

test('a used nonce with other bytes is refused', async () => {
  const ctx = await open()
  await fund(ctx, buyer, 5_000n)
  const first = await signed(ctx, 0)
  await ctx.chain.settle(first.authorization, first.signature)
  const second = await signed(ctx, 0, { value: 2_000n })
  const result = await ctx.chain.settle(second.authorization, second.signature)
  expect(result).toEqual({ ok: false, failure: 'authorization_used', sent: false })
})

test('a payout is made once for its id', async () => {
  const ctx = await open()
  await fund(ctx, ctx.chain.payTo, 5_000n)
  const payout = { id: 'out_0000000000000001', to: other, amount: usdc(2_000n) }
  const first = await ctx.chain.transfer(payout)
  expect(first).toMatchObject({ ok: true, already: false })
  expect(await ctx.chain.transfer(payout)).toEqual({ ...first, already: true })
  expect(await ctx.chain.transfer({ ...payout, amount: usdc(1n) })).toEqual({ ok: false, failure: 'id_reused' })
  expect(await ctx.chain.transfer({ ...payout, to: buyer })).toEqual({ ok: false, failure: 'id_reused' })
  expect(await ctx.chain.transfer({ ...payout, id: 'out_0000000000000002', amount: usdc(3_001n) })).toEqual({
    ok: false,
    failure: 'insufficient_funds',
  })
  expect(await ctx.chain.balanceOf(other)).toBe(2_000n)
})

test('the faucet gives a wallet $1,000 a day', async () => {
  const { chain } = await open()
  const ask = (amount: bigint, day: number, wallet = buyer) =>
    chain.faucet({ wallet, amount: usdc(amount), nowMs: day * DAY_MS + 1 })
  expect(await ask(600_000_000n, 1)).toMatchObject({ ok: true, remainingToday: 400_000_000n })
  expect(await ask(400_000_001n, 1)).toEqual({ ok: false, failure: 'daily_limit', remainingToday: 400_000_000n })
  expect(await ask(400_000_000n, 1)).toMatchObject({ ok: true, remainingToday: 0n })
  expect(await ask(1n, 1)).toMatchObject({ ok: false })
  expect(await ask(FAUCET_DAILY_LIMIT, 1, other)).toMatchObject({ ok: true })
  expect(await ask(FAUCET_DAILY_LIMIT, 2)).toMatchObject({ ok: true })
  expect(await chain.balanceOf(buyer)).toBe(2_000_000_000n)
})

const step = fc.oneof(
  fc.record({ kind: fc.constant('mint' as const), to: fc.nat(2), amount: fc.integer({ min: 1, max: 3_000 }) }),
  fc.record({
    kind: fc.constant('settle' as const),
    from: fc.nat(2),
    to: fc.nat(3),
    nonce: fc.nat(3),
    amount: fc.integer({ min: 0, max: 3_000 }),
  }),
  fc.record({
    kind: fc.constant('pay' as const),
    to: fc.nat(2),
    id: fc.nat(3),
    amount: fc.integer({ min: 0, max: 3_000 }),
  }),
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

async function run(ctx: Context, taken: Step): Promise<void> {
  const { chain } = ctx
  const amount = usdc(BigInt(taken.amount))
  const to = wallets[taken.to] ?? chain.payTo
  if (taken.kind === 'mint') await chain.faucet({ wallet: to, amount, nowMs: 0 })
  if (taken.kind === 'pay') await chain.transfer({ id: String(taken.id), to, amount })
  if (taken.kind === 'settle') {
    const { authorization, signature } = await signed(ctx, taken.from, {
      to,
      value: amount,
      nonce: nonce(taken.nonce),
    })
    await chain.settle(authorization, signature)
  }
}

test('whatever happens at once, no unit appears, vanishes or goes below zero', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 14 }), async (steps) => {
      const ctx = await open()
      await Promise.all(steps.map((taken) => run(ctx, taken)))
      const { supply, sum, lowest } = await supplyAndSum(ctx)
      expect(sum).toBe(supply)
      expect(lowest).toBeGreaterThanOrEqual(0n)
      expect(sum).toBe(
        steps.reduce((total, taken) => (taken.kind === 'mint' ? total + BigInt(taken.amount) : total), 0n),
      )
    }),
    { numRuns: 60 },
  )
})

test('one nonce of a wallet moves money at most once, whichever bytes come', async () => {
  const ctx = await open()
  await fund(ctx, buyer, 100_000n)
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 2, maxLength: 8 }),
      fc.nat(),
      async (values, n) => {
        const before = await ctx.chain.balanceOf(buyer)
        const known = await ctx.chain.authorizationState(buyer, nonce(n))
        const payments = await Promise.all(
          values.map((value) => signed(ctx, 0, { value: BigInt(value), nonce: nonce(n) })),
        )
        await Promise.all(payments.map(({ authorization, signature }) => ctx.chain.settle(authorization, signature)))
        const moved = before - (await ctx.chain.balanceOf(buyer))
        expect(known.used ? moved === 0n : values.includes(Number(moved))).toBe(true)
      },
    ),
    { numRuns: 20 },
  )
})
