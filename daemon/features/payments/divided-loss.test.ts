import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Hex, toWallet } from '../../../src/core/hex.ts'
import { type Usdc, usdc, ZERO } from '../../../src/core/money.ts'
import type { Leg } from '../../../src/model/ledger.ts'
import { collections } from '../../app.ts'
import { commit } from '../../store/draw.ts'
import { openMemoryStore } from '../../store/memory/open.testkit.ts'
import { account } from '../ledger/legs.ts'
import { balanceOf, post } from '../ledger/post.ts'
import { openPayoutOf } from '../payouts/payouts.ts'
import { bearers, coverLosses, dividedLoss, payAllWithheld, restore, reverse, withhold } from './reversed.ts'
import { type PaymentRow, payments } from './rows.ts'

// @slow every division of a loss

const amount = fc.bigInt({ min: 0n, max: 10n ** 12n }).map(usdc)

test('a loss is divided to the unit, in order, and takes from nobody more than is there', () => {
  fc.assert(
    fc.property(amount, fc.array(amount, { maxLength: 5 }), (loss, balances) => {
      const sources = balances.map((balance, at) => ({ from: `bal:${at}`, balance }))
      const { parts, uncovered } = dividedLoss(loss, sources)
      const given = sources.map(({ from }) => parts.find((part) => part.from === from)?.amount ?? ZERO)
      expect(given.reduce((sum, one) => sum + one, 0n) + uncovered).toBe(loss)
      let before = 0n
      for (const [at, { balance }] of sources.entries()) {
        // Each gives what is left of the loss, or all that it has.
        const left = loss - before
        expect(given[at]).toBe(balance < left ? balance : left)
        before += given[at] as bigint
      }
    }),
  )
})

const payer = toWallet('0x1111111111111111111111111111111111111111')
const provider = account.provider('p_1')
const small = fc.bigInt({ min: 1n, max: 50n }).map(usdc)
/** Where the process ends while it writes: what was told is told again at the next start. */
const dies = fc.constantFrom('never', 'never', 'before', 'after')
const which = fc.nat(1)
/**
 * What happens: the marketplace earns or spends, somebody buys, one of the last payments is undone, comes back, its refund
 * is due, what is lost is looked at again.
 */
const step = fc.oneof(
  fc.record({ does: fc.constant('earn' as const), from: fc.constantFrom('ops', 'fees', 'oper'), amount: small }),
  fc.record({ does: fc.constant('buy' as const), amount: small }),
  { weight: 3, arbitrary: fc.record({ does: fc.constant('undo' as const), which, dies }) },
  { weight: 3, arbitrary: fc.record({ does: fc.constant('back' as const), which, dies }) },
  fc.record({ does: fc.constant('cover' as const) }),
  { weight: 3, arbitrary: fc.record({ does: fc.constant('refund' as const), which }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('spend' as const) }) },
)

function paymentRow(at: number, price: Usdc): PaymentRow {
  const nonce = `0x${String(at).padStart(64, '0')}` as const
  return {
    ...{ id: `base:0xasset:${payer}:${nonce}`, version: 1, method: 'x402', state: 'fulfilled', open: false },
    ...{ payer, participant_id: null, price, settle: 'last', endpoint: 'purchaseService', input: null },
    ...{ fingerprint: 'f', idempotency: null, receipt_id: `rcpt_${at}`, authorization: null, terms: null },
    ...{ outcome: null, transaction: '0x01', created_at: at, updated_at: at },
  } as PaymentRow
}

function nonceOf({ id }: PaymentRow): Hex {
  return id.split(':').at(-1) as Hex // by paymentRow
}

type Does = typeof step extends fc.Arbitrary<infer S> ? S : never

class Died extends Error {
  override readonly name = 'Died'
}

/** Books over a store, and what a chain under them would hold. */
function world() {
  let seed = 0
  let onChain = 0n
  const store = openMemoryStore(collections)
  const entropy = () => {
    seed += 1
    return Buffer.alloc(32, seed)
  }
  const chain = { network: 'base', asset: { address: '0xasset' } }
  const log = { error: () => undefined, warn: () => undefined }
  let dying: 'never' | 'before' | 'after' = 'never'
  const mortal = {
    ...store,
    tx: async (body: Parameters<typeof store.tx>[0]) => {
      if (dying === 'before') throw new Died()
      const result = await store.tx(body)
      if (dying === 'after') throw new Died()
      return result
    },
  }
  const means = { store: mortal, entropy, chain, log, clock: { now: () => seed }, sellers: {}, blobs: {} } as never // as it needs
  const bought: PaymentRow[] = []
  const undone = new Set<string>()
  const back = new Set<string>()

  async function comeIn(to: string, value: Usdc): Promise<void> {
    const legs: Leg[] = [{ from: account.ext, to, amount: value }]
    const entry = { kind: 'fixed_price_call', ref: { kind: 'test', id: 'x' }, legs, at: seed } as const
    await commit({ store, entropy }, (t, draw) => post(t, draw, entry))
    onChain += value
  }
  /** Told by a process that may end meanwhile, and then by the next one. */
  async function told(tell: () => Promise<void>, at: typeof dying): Promise<void> {
    dying = at
    await tell().catch((error: unknown) => {
      if (!(error instanceof Died)) throw error
    })
    dying = 'never'
    await tell()
  }
  async function undo(row: PaymentRow, at: typeof dying): Promise<void> {
    if (back.has(row.id)) return
    if (!undone.has(row.id)) onChain -= row.price
    undone.add(row.id)
    await told(() => reverse(means, { from: payer, nonce: nonceOf(row), value: row.price, transaction: '0x01' }), at)
  }
  async function bringBack(row: PaymentRow, at: typeof dying): Promise<void> {
    // What was never told as undone is never told as back.
    if (!undone.has(row.id)) return
    if (!back.has(row.id)) onChain += row.price
    back.add(row.id)
    const reversal = { from: payer, nonce: nonceOf(row), value: row.price, transaction: '0x01' } as const
    await told(() => restore(means, { ...reversal, returned: '0x02' }), at)
  }
  const withheld = new Map<string, bigint>()
  /** What a provider gives back after the chain undid the payment stays here, once. */
  async function refund(row: PaymentRow | undefined): Promise<void> {
    const isBack = row === undefined || back.has(row.id)
    if (isBack || !undone.has(row.id) || withheld.has(row.id)) return
    withheld.set(row.id, row.price)
    await commit({ store, entropy }, async (t, draw) => {
      const legs: Leg[] = [{ from: provider, to: account.oper, amount: row.price }]
      await post(t, draw, { kind: 'refund', ref: { kind: 'test', id: 'x' }, legs, at: seed })
      await withhold(t, row.id, row.price)
    })
  }
  /** The marketplace spends all that it has. */
  async function spend(): Promise<void> {
    await commit({ store, entropy }, async (t, draw) => {
      const legs: Leg[] = []
      for (const from of bearers) legs.push({ from, to: account.ext, amount: await balanceOf(t, from) })
      const some = legs.filter(({ amount: value }) => value > 0n)
      if (some.length > 0) await post(t, draw, { kind: 'payout', ref: { kind: 'test', id: 'x' }, legs: some, at: seed })
      onChain -= some.reduce((sum, { amount: value }) => sum + value, 0n)
    })
  }
  async function cover(): Promise<void> {
    await payAllWithheld(means)
    await coverLosses(means)
  }
  async function reorganise({ does, which, dies: at }: Extract<Does, { does: 'undo' | 'back' }>): Promise<void> {
    const row = bought.at(-1 - which)
    if (row) await (does === 'undo' ? undo(row, at) : bringBack(row, at))
  }
  async function doOne(one: Does): Promise<void> {
    if (one.does === 'undo' || one.does === 'back') return reorganise(one)
    if (one.does === 'earn') return comeIn(one.from, one.amount)
    if (one.does === 'refund') return refund(bought.at(-1 - one.which))
    if (one.does === 'spend') return spend()
    if (one.does !== 'buy') return cover()
    const sold = paymentRow(bought.length, one.amount)
    await store.tx((t) => t.table(payments).insert(sold))
    bought.push(sold)
    return comeIn(provider, one.amount)
  }
  return { store, bought, undone, back, withheld, cover, doOne, onChain: () => onChain }
}

test('whatever is undone, comes back, is told again and covered, by processes that die: providers keep theirs, and the books say what the chain holds', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
      const { store, bought, undone, back, withheld, cover, doOne, onChain } = world()
      for (const one of steps) await doOne(one)
      await cover()
      const { ext, sold, own, rows, due } = await store.read(async (t) => ({
        ext: await balanceOf(t, account.ext),
        sold: await balanceOf(t, provider),
        own: await Promise.all(['oper', 'ops', 'fees'].map((name) => balanceOf(t, name))),
        rows: await t.table(payments).getMany(bought.map(({ id }) => id)),
        due: (await balanceOf(t, account.refund(payer))) + ((await openPayoutOf(t, payer))?.amount ?? 0n),
      }))
      const uncovered = rows.reduce((sum, row) => sum + (row.uncovered ?? 0n), 0n)
      const given = [...withheld.values()].reduce((sum, one) => sum + one, 0n)
      expect(sold).toBe(bought.reduce((sum, { price }) => sum + price, 0n) - given)
      expect(-ext - uncovered).toBe(onChain())
      expect(rows.filter(({ state }) => state === 'reversed')).toHaveLength(undone.size - back.size)
      // Something is left uncovered only while nothing is left to cover it with.
      if (uncovered > 0n) expect(own).toEqual([0n, 0n, 0n])
      // A payer is paid all that was withheld once the money is back, or is still owed it, and nothing else.
      const returned = rows.filter(({ id }) => back.has(id))
      const owed = returned.reduce((sum, row) => sum + (row.withheld ?? 0n), 0n)
      expect(due + owed).toBe(returned.reduce((sum, { id }) => sum + (withheld.get(id) ?? 0n), 0n))
      if (owed > 0n) expect(own).toEqual([0n, 0n, 0n])
      await store.close()
    }),
    { numRuns: 300 },
  )
})
