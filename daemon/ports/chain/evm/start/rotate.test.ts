import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { runs } from '../../../../../fixtures/kit/depth.ts'
import type { Wallet } from '../../../../../src/core/hex.ts'
import { usdc, ZERO } from '../../../../../src/core/money.ts'
import { openMemoryStore } from '../../../../store/memory/open.testkit.ts'
import type { Store } from '../../../../store/port.ts'
import type { OperatorKeys, SettleResult } from '../../chain.ts'
import { openKey, type Signer } from '../../key.ts'
import type { TransferOrder } from '../queue/queue.ts'
import type { Keyed } from './key-rows.ts'
import type { EvmStart } from './keys.ts'
import { openOperatorKeys } from './rotate.ts'
import { operatorKeys } from './rows.ts'

/* The money of a replaced pay-to key, which is moved while money arrives and leaves, and the daemon dies at any step. */

const RUNS = runs(400, 100)
const MAX_STEPS = 20

let [old, next]: Signer[] = []
beforeAll(async () => {
  old = await openKey('11'.repeat(32))
  next = await openKey('22'.repeat(32))
})

class Died extends Error {}

/** What a token and its queue do with authorizations: each nonce moves money once, and an answer may be lost. */
function openToken(from: Wallet, to: Wallet) {
  const balances = new Map<string, bigint>([
    [from, 0n],
    [to, 0n],
  ])
  const used = new Map<string, bigint>()
  const token = {
    balances,
    /** Money that sweeps moved. */
    moved: () => [...used.values()].reduce((sum, value) => sum + value, 0n),
    add: (wallet: Wallet, value: bigint) => balances.set(wallet, (balances.get(wallet) ?? 0n) + value),
    async settle({ authorization }: Pick<TransferOrder, 'authorization'>): Promise<SettleResult> {
      const { nonce, value, ...move } = authorization
      const known = used.get(nonce)
      if (known !== undefined && known !== value) throw new Error(`nonce ${nonce} moves two amounts`)
      if (known !== undefined) return { ok: true, transaction: '0x1', already: true }
      if ((balances.get(move.from) ?? 0n) < value) return { ok: false, failure: 'insufficient_funds', sent: false }
      token.add(move.from, -value)
      token.add(move.to, value)
      used.set(nonce, value)
      return { ok: true, transaction: '0x1', already: false }
    },
  }
  return token
}
type Token = ReturnType<typeof openToken>

type World = { readonly store: Store; readonly token: Token; readonly from: Wallet; readonly to: Wallet }

/** A daemon over a store and a token, which dies before or after its call of this number. */
function begin({ store, token, from, to }: World, dies = Number.MAX_SAFE_INTEGER, isAfter = false): OperatorKeys {
  let calls = 0
  const through = async <T>(work: () => Promise<T>): Promise<T> => {
    calls += 1
    if (calls > dies || (calls === dies && !isAfter)) throw new Died()
    const result = await work()
    if (calls === dies) throw new Died()
    return result
  }
  const ring = {
    all: [
      { address: to, until: Number.POSITIVE_INFINITY, key: next, escrow: undefined },
      { address: from, until: 0, key: old, escrow: undefined },
    ],
  }
  const chain = {
    ...{ ring, payTo: to, digestOf: () => new Uint8Array(32) },
    balanceOf: async (wallet: Wallet) => usdc(token.balances.get(wallet) ?? 0n),
    queue: { settle: (order: TransferOrder) => through(() => token.settle(order)) },
  }
  const start = { store: { ...store, tx: (body: never) => through(() => store.tx(body)) }, wall: () => 0 }
  return openOperatorKeys(start as never as EvmStart, { chain } as never as Keyed) // only what a sweep reads
}

type Step =
  | { readonly do: 'arrive'; readonly amount: bigint }
  | { readonly do: 'pay'; readonly amount: bigint }
  | { readonly do: 'sweep'; readonly keep: bigint }
  | { readonly do: 'die'; readonly keep: bigint; readonly at: number; readonly isAfter: boolean }

const amount = fc.bigInt({ min: 1n, max: 1_000n })
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant('arrive' as const), amount }),
  fc.record({ do: fc.constant('pay' as const), amount }),
  fc.record({ do: fc.constant('sweep' as const), keep: fc.constantFrom(0n, 100n) }),
  fc.record({
    do: fc.constant('die' as const),
    keep: fc.constantFrom(0n, 100n),
    at: fc.integer({ min: 1, max: 3 }),
    isAfter: fc.boolean(),
  }),
)

async function openWorld(): Promise<World> {
  const [from, to] = [old?.address, next?.address]
  if (!from || !to) throw new Error('the keys are open')
  const store = openMemoryStore([operatorKeys])
  const row = { id: from, role: 'pay_to', state: 'retiring', since: 0, until: 0, source: '' } as const
  await store.tx((t) => t.table(operatorKeys).insert({ ...row, sweeps: 0, swept: ZERO }))
  return { store, token: openToken(from, to), from, to }
}

/** @returns by how much all money grew */
async function take(world: World, one: Step): Promise<bigint> {
  const { token, from } = world
  if (one.do === 'sweep') await begin(world).sweep(from, one.keep)
  if (one.do === 'die') await begin(world, one.at, one.isAfter).sweep(from, one.keep).catch(onlyDeath)
  if (one.do !== 'arrive' && one.do !== 'pay') return 0n
  const held = token.balances.get(from) ?? 0n
  const least = one.amount < held ? one.amount : held
  const change = one.do === 'arrive' ? one.amount : -least
  token.add(from, change)
  return change
}

test('a sweep moves each amount once, books what it moved, and leaves nothing', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: MAX_STEPS }), async (history) => {
      const world = await openWorld()
      const { token, from, to } = world
      let whole = 0n
      for (const one of history) {
        whole += await take(world, one)
        expect((token.balances.get(from) ?? 0n) + (token.balances.get(to) ?? 0n)).toBe(whole)
      }
      // The first ends what is under way, and the second moves the rest.
      await begin(world).sweep(from, 0n)
      expect(await begin(world).sweep(from, 0n)).toBe(0n)
      const row = await world.store.table(operatorKeys).get(from)
      expect([row?.swept, row?.sweep]).toEqual([token.moved(), undefined])
      expect(token.balances.get(to)).toBe(whole)
    }),
    { numRuns: RUNS },
  )
})

function onlyDeath(error: unknown): undefined {
  if (!(error instanceof Died)) throw error
}
