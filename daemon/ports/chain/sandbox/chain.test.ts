import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { circleUsdc } from '../../../../src/core/authorization.ts'
import { usdc } from '../../../../src/core/money.ts'
import { openMemoryStore } from '../../../store/memory/open.testkit.ts'
import type { Store } from '../../../store/port.ts'
import { type ChainBench, newPerson, signed } from '../conformance/bench.testkit.ts'
import { moneyConformance } from '../conformance/money.testkit.ts'
import { registryConformance } from '../conformance/registries.testkit.ts'
import { openRecover, type Recover } from '../signature.ts'
import { openSandboxChain, type SandboxChain } from './chain.ts'
import { sandboxAccounts, sandboxCollections, sandboxTokens } from './ledger.ts'

const NOW_SECONDS = 1_800_000_000

let recover: Recover
beforeAll(async () => {
  recover = await openRecover()
})

/** Repeatable bytes, different for each seed. */
function seeded(seed: string): (bytes: number) => Uint8Array {
  let drawn = 0
  return (bytes) => createHash('sha256').update(`${seed}${drawn++}`).digest().subarray(0, bytes)
}

type Bench = ChainBench & { chain: SandboxChain; readonly store: Store; readonly time: { seconds: number } }

async function open(store: Store = openMemoryStore([...sandboxCollections]), seed = 'one'): Promise<Bench> {
  const time = { seconds: NOW_SECONDS }
  const openChain = (from: string) =>
    openSandboxChain({ store, recover, entropy: seeded(from), wall: () => time.seconds * 1000 })
  let grants = 0
  const bench: Bench = {
    store,
    time,
    chain: await openChain(seed),
    seconds: () => time.seconds,
    fund: async (wallet, amount) => {
      const nowMs = ++grants * 86_400_000
      expect(await bench.chain.faucet({ wallet, amount: usdc(amount), nowMs })).toMatchObject({ ok: true })
    },
    reopen: async () => {
      bench.chain = await openChain('two')
    },
    close: async () => undefined,
  }
  return bench
}

describe('a sandbox', () => {
  moneyConformance(open, 60)
  registryConformance(open)
})

test('asset, payee and registries are drawn once an installation and are not real money', async () => {
  const first = await open()
  const reopened = await open(first.store, 'two')
  expect(reopened.chain.asset).toEqual(first.chain.asset)
  expect(reopened.chain.payTo).toBe(first.chain.payTo)
  const elsewhere = await open(undefined, 'two')
  const drawn = [first, elsewhere].flatMap(({ chain }) => [
    chain.asset.address,
    chain.payTo,
    chain.identityRegistry.address,
    chain.reputationRegistry.address,
    chain.verdictAnchors.address,
  ])
  expect(new Set(drawn).size).toBe(10)
  expect(first.chain.asset).toMatchObject({ name: 'USD Coin', version: '2', decimals: 6 })
})

test('an address of real USDC as the asset stops the start', async () => {
  const bytes = Buffer.from(circleUsdc.base.asset.slice(2), 'hex')
  const store = openMemoryStore([...sandboxCollections])
  const opened = openSandboxChain({ store, recover, entropy: () => bytes, wall: () => 0 })
  await expect(opened).rejects.toThrow('real token address')
})

test('a window is open from its first second to the last before its end', async () => {
  const bench = await open()
  const buyer = newPerson()
  await bench.fund(buyer.wallet, 5_000n)
  const [validAfter, validBefore] = [BigInt(NOW_SECONDS + 1), BigInt(NOW_SECONDS + 2)]
  const { authorization, signature } = await signed(bench, buyer, { validAfter, validBefore })
  const settle = () => bench.chain.settle(authorization, signature)
  expect(await settle()).toMatchObject({ failure: 'authorization_not_yet_valid' })
  bench.time.seconds += 2
  expect(await settle()).toMatchObject({ failure: 'authorization_expired' })
  bench.time.seconds -= 1
  const moved = await settle()
  expect(moved).toMatchObject({ ok: true })
  // What was moved stays so when its window has passed.
  bench.time.seconds += 1_000
  expect(await settle()).toEqual({ ...moved, already: true })
})

test('the supply is what all accounts hold, and none goes below zero', async () => {
  const grant = fc.record({ to: fc.nat(2), amount: fc.bigInt({ min: 1n, max: 3_000n }) })
  await fc.assert(
    fc.asyncProperty(fc.array(grant, { maxLength: 8 }), async (grants) => {
      const bench = await open()
      const people = [newPerson(), newPerson(), newPerson()]
      await Promise.all(
        grants.map(async ({ to, amount }) => {
          const payer = people[to]
          if (!payer) return
          await bench.fund(payer.wallet, amount)
          const { authorization, signature } = await signed(bench, payer, { value: amount + 1n })
          await bench.chain.settle(authorization, signature)
        }),
      )
      await bench.store.read(async (t) => {
        const { rows } = await t.table(sandboxAccounts).page('wallet', [], { limit: 100 })
        const balances = rows.map(({ balance }): bigint => balance)
        expect(balances.every((balance) => balance >= 0n)).toBe(true)
        const supply = (await t.table(sandboxTokens).get('token'))?.supply
        expect(balances.reduce((sum, one) => sum + one, 0n)).toBe(supply)
      })
    }),
    { numRuns: 30 },
  )
})
