import { expect, test } from 'vitest'
import { toWallet } from '../../../src/core/hex.ts'
import { usdc } from '../../../src/core/money.ts'
import { collections } from '../../app.ts'
import { commit } from '../../store/draw.ts'
import { openMemoryStore } from '../../store/memory/open.testkit.ts'
import { type DealRow, deals } from '../escrow/rows.ts'
import { account } from '../ledger/legs.ts'
import { post } from '../ledger/post.ts'
import { compareChain } from './audit.ts'

const wallet = toWallet('0x1111111111111111111111111111111111111111')
const AMOUNT = usdc(525_000n)

function dealOf(id: string, change: Partial<DealRow>): Omit<DealRow, 'version'> {
  return {
    ...{ id, buyer: wallet, refund_to: wallet, net: usdc(500_000n), fee: usdc(25_000n), state: 'held', deadline: 1 },
    ...{ covers: null, sent: true, closed: false, wants_deadline: null, wants_closed: null, wants_end: null },
    ...{ to_buyer: null, open: true, due: true, returning: false, next_attempt_at: 0, attempts: 0, last_error: null },
    ...{ transactions: [], created_at: 0 },
    ...change,
  }
}

test('money that leaves the contract while its deals are read is not held for nobody', async () => {
  const store = openMemoryStore(collections)
  let seed = 0
  const entropy = () => Buffer.alloc(32, ++seed)
  await commit({ store, entropy }, async (t, draw) => {
    const legs = ['job_1', 'job_2'].map((id) => ({ from: account.ext, to: account.escrow(id), amount: AMOUNT }))
    await post(t, draw, { kind: 'fixed_price_call', ref: { kind: 'test', id: 'x' }, legs, at: 0 })
    await t.table(deals).insert(dealOf('job_1', { wants_end: 'refund' }) as DealRow)
    // On its way in: what the contract holds is not what the rows say, so that each deal is read.
    await t.table(deals).insert(dealOf('job_2', { state: 'none' }) as DealRow)
  })
  let [held, back, reads] = [2n * AMOUNT, 0n, 0]
  const escrow = {
    status: async () => ({ held }),
    // The refund of the first one comes into a block just then.
    dealOf: async (id: string) => {
      reads += 1
      ;[held, back] = [AMOUNT, AMOUNT]
      return { state: id === 'job_1' ? 'refunded' : 'held', net: usdc(500_000n), fee: usdc(25_000n) }
    },
  }
  const chain = { payTo: wallet, escrow, balanceOf: async () => back }
  const checks = await compareChain({ store, chain, clock: { now: () => 0 } } as never) // as it needs
  expect(reads).toBeGreaterThan(0)
  expect(checks.filter(({ ok }) => !ok)).toEqual([])
  await store.close()
})
