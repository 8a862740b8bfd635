import { afterAll, beforeAll, expect, test } from 'vitest'
import { PRICE } from '../../../fixtures/market/escrow.ts'
import type { Person } from '../../../fixtures/market/people.ts'
import { DAY_MS, MINUTE_MS } from '../../../src/core/time.ts'
import { everyRow } from '../../store/each-page.ts'
import { auditBooks } from '../audit/audit.ts'
import { ledger } from '../ledger/rows.ts'
import { type Bench, EPOCH, nobody, openBench, other } from './bench.testkit.ts'

// @slow starts a chain

/* Where blocks may be undone, what others do with the contract counts once its block is final. */

let bench: Bench
let human: string
let buyer: Person
beforeAll(async () => {
  bench = await openBench({ realMoney: true })
  human = await bench.market.list('human')
  buyer = await bench.market.agent({ balance: '9.00' })
})
afterAll(() => bench.close())

const mine = (blocks: number) => bench.chain.client.mine({ blocks })
const finalise = () => mine(2 * EPOCH + 1)
const cancel = async (id: string) => {
  const { thread_id: thread } = await bench.market.job(id)
  return buyer.call('POST', `/v1/threads/${thread}/decline`, {})
}

/** Bought, its money in the contract beyond any reorganisation; then somebody else pays the buyer with it. */
async function taken(from: 'x402' | 'balance'): Promise<string> {
  const answer = await bench.market.buy(human, buyer, { from })
  expect([answer.status, answer.text]).toEqual([200, answer.text])
  const id: string = answer.body.job_id
  await bench.until(id, ({ state }) => state === 'held')
  await finalise()
  expect(await bench.contractCall(other, 'emergencyWithdraw', id)).toMatchObject({ ok: true })
  await bench.look()
  expect(await bench.dealOf(id)).toMatchObject({ state: 'held', open: true, taken: { state: 'withdrawn' } })
  return id
}

const postingsOf = async (id: string) => {
  const rows = await everyRow(bench.market.ctx().store.table(ledger), { index: 'job', prefix: [id], limit: 500 })
  return rows.map(({ kind }) => kind)
}
const sentByUs = () => bench.chain.client.getTransactionCount({ address: bench.evm.keys.gas.address })

test('while it is not final nothing of the job is booked, paid or sent, and the operator is told', async () => {
  const id = await taken('balance')
  const [books, sent] = [await postingsOf(id), await sentByUs()]
  const refused = await cancel(id)
  expect([refused.status, refused.body.error]).toEqual([409, expect.stringContaining('until that call is final')])
  const failed = await bench.market.provider.call('POST', `/v1/jobs/${id}/update`, { status: 'failed', notes: 'no' })
  expect(failed.status).toBe(409)
  bench.market.pass(2 * DAY_MS)
  await bench.market.monitor()
  expect(await bench.market.job(id)).toMatchObject({ status: 'dispatched', escrow_status: 'held' })
  const shown = await buyer.call('GET', `/v1/jobs/${id}`)
  expect(shown.body.escrow.contract).toMatchObject({ state: 'held', waits: expect.stringContaining('withdrawn') })
  const { items } = (await bench.market.market.admin('GET', '/dashboard/api/admin/attention')).body
  expect(items.find((item: { id: string }) => item.id === `chain ${id}`)).toMatchObject({ grave: false })
  // The books agree with the chain but for what is said to wait.
  const { checks } = await auditBooks(bench.market.ctx())
  expect(checks.filter(({ ok }) => !ok)).toEqual([])
  expect(checks.find(({ name }) => name === 'escrow')?.detail).toContain(
    `of ${id} (withdrawn): not in the sums until the block is final`,
  )
  expect(items.filter((item: { id: string }) => item.id === 'chain drift')).toEqual([])
  expect([await postingsOf(id), await sentByUs()]).toEqual([books, sent])
  // A reorganisation drops it: nothing was booked, and the job goes on.
  await bench.chain.client.request({ method: 'anvil_reorg', params: [1, []] } as never)
  expect(await bench.port().dealOf(id)).toMatchObject({ state: 'held' })
  await bench.look()
  expect((await bench.dealOf(id))?.taken).toBeUndefined()
  bench.market.pass(2 * MINUTE_MS)
  await bench.market.monitor()
  await bench.until(id, ({ open }) => !open)
  expect(await bench.dealOf(id)).toMatchObject({ state: 'refunded' })
  expect(await bench.market.job(id)).toMatchObject({ status: 'expired', escrow_status: 'refunded' })
  expect(await bench.market.faults()).toEqual([])
})

test.each(['x402', 'balance'] as const)(
  'once it is final it is booked, once, also over restarts (%s)',
  async (from) => {
    const before = await bench.balanceOf(buyer)
    const id = await taken(from)
    const books = await postingsOf(id)
    await bench.market.market.restart()
    expect(await bench.dealOf(id)).toMatchObject({ open: true, taken: { state: 'withdrawn' } })
    expect(await postingsOf(id)).toEqual(books)
    await finalise()
    await bench.until(id, ({ open }) => !open)
    expect(await bench.dealOf(id)).toMatchObject({ state: 'withdrawn' })
    expect(await bench.market.job(id)).toMatchObject({ status: 'refunded', escrow_status: 'refunded' })
    expect(await postingsOf(id)).toEqual([...books, 'refund'])
    await bench.look()
    await bench.market.market.restart()
    await bench.look()
    expect(await postingsOf(id)).toEqual([...books, 'refund'])
    expect(await bench.balanceOf(buyer)).toBe(from === 'x402' ? before : before + PRICE.agent)
    expect(await bench.market.faults()).toEqual([])
    expect(await bench.contractCall(nobody, 'claimTimeout', id)).toMatchObject({ ok: false })
  },
)
