import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { PRICE } from '../../../fixtures/market/escrow.ts'
import type { Person } from '../../../fixtures/market/people.ts'
import { payouts } from '../payouts/rows.ts'
import { type Bench, nobody, openBench, other } from './bench.testkit.ts'
import { type DealRow, deals } from './rows.ts'

/* A real daemon over a real chain: what becomes of jobs becomes of their money in the contract, and the other way round. */

let bench: Bench
let automated: string
let human: string
let buyer: Person
beforeAll(async () => {
  bench = await openBench()
  automated = await bench.market.list('automated')
  human = await bench.market.list('human', { name: 'Proof reading' })
  buyer = await bench.market.agent({ balance: '9.00' })
})
afterEach(async () => {
  if ((await bench.port().status()).paused) await bench.call(other, 'unpause')
  await bench.look()
})
afterAll(() => bench.close())

type Paid = 'x402' | 'balance'
const ways = ['x402', 'balance'] as const

async function bought(from: Paid = 'x402', service = automated): Promise<string> {
  const answer = await bench.market.buy(service, buyer, { from })
  expect([answer.status, answer.text]).toEqual([200, answer.text])
  return answer.body.job_id
}

/** Bought, and its money lies in the contract. */
async function deposited(from: Paid = 'x402', service = automated): Promise<string> {
  const id = await bought(from, service)
  await bench.until(id, ({ state }) => state === 'held')
  return id
}

async function delivered(from: Paid = 'x402'): Promise<string> {
  const id = await deposited(from, human)
  const body = { status: 'completed', deliverable: { words: 3 } }
  expect((await bench.market.provider.call('POST', `/v1/jobs/${id}/update`, body)).status).toBe(200)
  return id
}

async function cancel(id: string): Promise<void> {
  const { thread_id: thread } = await bench.market.job(id)
  expect((await buyer.call('POST', `/v1/threads/${thread}/decline`, {})).status).toBe(200)
}

const purse = async () => ({
  wallet: await bench.balanceOf(buyer),
  balance: await bench.market.booked(`bal:${buyer.id}`),
})

/** Books and chain agree. @returns what the contract holds. */
async function sound(): Promise<bigint> {
  expect(await bench.market.faults()).toEqual([])
  return (await bench.port().status()).held
}

const admin = (path: string, body: unknown) =>
  bench.market.market.admin('POST', `/dashboard/api/admin/${path}`, { body })

test.each(ways)('a job paid by %s: its money waits in the contract, and is released', async (from) => {
  const id = await deposited(from)
  expect(await bench.port().dealOf(id)).toMatchObject({ state: 'held', net: PRICE.net, fee: PRICE.fee })
  expect(await sound()).toBe(PRICE.agent)
  const body = { status: 'completed', deliverable: { words: 3 } }
  expect((await bench.market.provider.call('POST', `/v1/jobs/${id}/update`, body)).status).toBe(200)
  await bench.market.monitor()
  expect(await bench.market.job(id)).toMatchObject({ status: 'released', escrow_status: 'released' })
  const deal = await bench.until(id, ({ open }) => !open)
  expect(await bench.port().dealOf(id)).toMatchObject({ state: 'released' })
  expect(await sound()).toBe(0n)
  const shown = await buyer.call('GET', `/v1/jobs/${id}`)
  expect(shown.body.escrow.contract).toEqual({
    state: 'released',
    waits: null,
    transactions: deal.transactions.map(({ act, hash }) => ({ act, transaction: hash })),
  })
  expect(deal.transactions[0]?.act).toBe('deposit')
  expect(deal.transactions.at(-1)?.act).toBe('release')
})

test.each(ways)('a cancelled job paid by %s comes back from the contract, and its buyer is paid once', async (from) => {
  const before = await purse()
  const id = await deposited(from)
  await cancel(id)
  await bench.until(id, ({ open }) => !open)
  expect(await bench.port().dealOf(id)).toMatchObject({ state: 'refunded' })
  expect(await sound()).toBe(0n)
  expect(await purse()).toEqual(before)
})

test('a job that ends before its money was put in leaves nothing behind', async () => {
  const before = await purse()
  const id = await bought()
  await cancel(id)
  await bench.until(id, ({ open }) => !open)
  expect(await sound()).toBe(0n)
  expect(await purse()).toEqual(before)
})

test.each(ways)('a dispute over a job paid by %s is split by the contract as the books split it', async (from) => {
  const before = await purse()
  const id = await delivered(from)
  await bench.until(id, ({ closed }) => closed)
  const complaint = { reason: 'half of it is missing', category: 'quality' }
  expect((await buyer.pay(`/v1/jobs/${id}/dispute`, { body: complaint })).status).toBe(200)
  const paid = before.wallet - (await purse()).wallet - (from === 'x402' ? PRICE.agent : 0n)
  const ruled = await admin(`jobs/${id}/resolve`, { outcome: 'split', buyer_amount: '0.100001', reason: 'half' })
  expect(ruled.status).toBe(200)
  await bench.until(id, ({ open }) => !open)
  expect(await bench.port().dealOf(id)).toMatchObject({ state: 'split', toBuyer: 100_001n })
  expect(await sound()).toBe(0n)
  const after = await purse()
  const lost = PRICE.agent - 100_001n
  expect(before.wallet - after.wallet).toBe(paid + (from === 'x402' ? lost : 0n))
  expect(before.balance - after.balance).toBe(from === 'balance' ? lost : 0n)
})

test.each(ways)('an emergency withdrawal of a job paid by %s pays its buyer alone, also while paused', async (from) => {
  const before = await purse()
  const id = await deposited(from)
  expect((await admin('escrow/pause-contract', {})).status).toBe(200)
  const answer = await admin(`jobs/${id}/emergency-withdraw`, { reason: 'the provider is gone' })
  expect([answer.status, answer.body.status]).toEqual([200, 'refunded'])
  const { state } = await bench.until(id, ({ open }) => !open)
  // What came from a balance goes back there.
  expect(state).toBe(from === 'x402' ? 'withdrawn' : 'refunded')
  expect(await sound()).toBe(0n)
  expect(await purse()).toEqual(before)
  expect((await admin('escrow/unpause-contract', {})).status).toBe(200)
})

test('an emergency withdrawal waits for a deposit that is on its way', async () => {
  const before = await purse()
  const id = await bought()
  expect((await admin(`jobs/${id}/emergency-withdraw`, { reason: 'a mistake' })).body.status).toBe('refunded')
  await bench.until(id, ({ open }) => !open)
  expect(await sound()).toBe(0n)
  expect(await purse()).toEqual(before)
})

test('pause and unpause are transactions: what is due waits meanwhile, and is done after it', async () => {
  const id = await delivered()
  const reviewed = await buyer.pay(`/v1/threads/${(await bench.market.job(id)).thread_id}/verify`, { body: {} })
  expect(reviewed.status).toBe(200)
  const paused = await admin('escrow/pause-contract', { reason: 'a look' })
  expect(paused.body).toMatchObject({ paused: true, changed: true })
  expect(await bench.port().status()).toMatchObject({ paused: true })
  const refused = await bench.market.buy(automated, buyer, { from: 'balance' })
  expect([refused.status, refused.body.code, refused.body.feature]).toEqual([503, 'paused', 'escrow'])
  await bench.market.monitor()
  expect(await bench.market.job(id)).toMatchObject({ status: 'verified', escrow_status: 'held' })
  expect((await admin('escrow/unpause-contract', {})).body).toMatchObject({ paused: false, changed: true })
  expect(await bench.port().status()).toMatchObject({ paused: false })
  await bench.market.monitor()
  await bench.until(id, ({ state }) => state === 'released')
  expect(await sound()).toBe(0n)
})

test('while somebody else has paused the contract deposit and release revert, and ways out do not', async () => {
  const before = await purse()
  const ids = [await deposited(), await deposited(), await deposited('balance')]
  const [released, refunded, withdrawn] = ids as [string, string, string]
  expect(await bench.call(other, 'pause')).toMatchObject({ ok: true })
  await bench.look()
  expect(bench.market.ctx().switches.now().escrowPaused).toBe(true)
  expect(await bench.contractCall(other, 'release', released)).toEqual({ ok: false, error: 'EnforcedPause' })
  expect(await bench.deposit(other)).toEqual({ ok: false, error: 'EnforcedPause' })
  // A refund by the operator's other key moves it to where the marketplace pays from: the job does not end by that.
  expect(await bench.contractCall(other, 'refund', refunded)).toMatchObject({ ok: true })
  expect(await bench.contractCall(other, 'emergencyWithdraw', withdrawn)).toMatchObject({ ok: true })
  await bench.look()
  expect(await bench.dealOf(refunded)).toMatchObject({ state: 'refunded', open: false })
  expect(await bench.market.job(refunded)).toMatchObject({ status: 'dispatched', escrow_status: 'held' })
  expect(await bench.market.job(withdrawn)).toMatchObject({ status: 'refunded', escrow_status: 'refunded' })
  expect(await sound()).toBe(PRICE.agent)
  expect(await bench.call(other, 'unpause')).toMatchObject({ ok: true })
  await bench.look()
  expect(bench.market.ctx().switches.now().escrowPaused).toBe(false)
  await cancel(released)
  await cancel(refunded)
  expect(await sound()).toBe(0n)
  // The emergency paid the wallet, as the contract does.
  expect(await purse()).toEqual({ wallet: before.wallet + PRICE.agent, balance: before.balance - PRICE.agent })
})

test('a deposit and a release that a pause caught wait for its end', async () => {
  expect(await bench.call(other, 'pause')).toMatchObject({ ok: true })
  const id = await bought()
  const waiting = await bench.until(id, ({ last_error }) => last_error !== null)
  expect(waiting).toMatchObject({ state: 'none', last_error: 'the contract is paused', sent: false })
  expect(await sound()).toBe(0n)
  expect(await bench.call(other, 'unpause')).toMatchObject({ ok: true })
  await bench.until(id, ({ state }) => state === 'held')
  const body = { status: 'completed', deliverable: { words: 3 } }
  expect(await bench.call(other, 'pause')).toMatchObject({ ok: true })
  expect((await bench.market.provider.call('POST', `/v1/jobs/${id}/update`, body)).status).toBe(200)
  await bench.market.monitor()
  await bench.until(id, ({ wants_end, last_error }) => wants_end === 'release' && last_error !== null)
  expect(await sound()).toBe(PRICE.agent)
  expect(await bench.call(other, 'unpause')).toMatchObject({ ok: true })
  await bench.until(id, ({ state }) => state === 'released')
  expect(await sound()).toBe(0n)
})

test.each(ways)('who was paid by the contract is not paid again by the books that refund it (%s)', async (from) => {
  const before = await purse()
  const id = await deposited(from)
  expect(await bench.contractCall(other, 'emergencyWithdraw', id)).toMatchObject({ ok: true })
  await cancel(id)
  await bench.until(id, ({ open }) => !open)
  expect(await bench.dealOf(id)).toMatchObject({ state: 'withdrawn' })
  expect(await sound()).toBe(0n)
  const { wallet, balance } = await purse()
  expect(wallet + balance).toBe(before.wallet + before.balance)
  expect((await bench.market.ctx().store.table(payouts).page('due', [], { limit: 1 })).rows).toEqual([])
  expect((await bench.market.job(id)).timeline.at(-1)?.event).toBe('withdrawn')
})

test('money that the contract gave back after the provider was paid is a loss of the marketplace, and the books say so', async () => {
  const id = await delivered()
  await bench.until(id, ({ closed }) => closed)
  const kept = async () =>
    (await bench.market.booked('oper')) + (await bench.market.booked('fees')) + (await bench.market.booked('ops'))
  const thread = (await bench.market.job(id)).thread_id
  expect((await buyer.pay(`/v1/threads/${thread}/verify`, { body: {} })).status).toBe(200)
  // It has to have as much itself.
  expect((await admin(`participants/${buyer.id}/adjust`, { amount: '-1.00', reason: 'for the test' })).status).toBe(200)
  const before = await kept()
  expect(await bench.contractCall(other, 'emergencyWithdraw', id)).toMatchObject({ ok: true })
  await bench.market.monitor()
  await bench.until(id, ({ open }) => !open)
  expect(await bench.market.job(id)).toMatchObject({ status: 'released' })
  expect(await kept()).toBe(before + PRICE.fee - PRICE.agent)
  expect(await sound()).toBe(0n)
})

test('an audit names each job of which the contract does otherwise than the books have it', async () => {
  const id = await deposited()
  const lost = await deposited()
  expect(await bench.contractCall(other, 'emergencyWithdraw', lost)).toMatchObject({ ok: true })
  const { checks } = (await bench.market.market.admin('GET', '/dashboard/api/admin/audit')).body
  const faults = checks.filter(({ ok }: { ok: boolean }) => !ok)
  expect(faults.map(({ name }: { name: string }) => name)).toEqual(['chain', 'escrow'])
  expect(faults[1].detail).toBe(`the books have 0.525 of ${lost} as held, the contract as withdrawn`)
  await bench.look()
  expect(await sound()).toBe(PRICE.agent)
  await cancel(id)
  expect(await sound()).toBe(0n)
})

test('money that the contract does not let go on needs a hand, until it does', async () => {
  const id = await deposited('x402', human)
  const waits = async () => {
    const { body } = await bench.market.market.admin('GET', '/dashboard/api/admin/attention')
    return body.items.filter((item: { id: string }) => item.id === `chain ${id}`)
  }
  expect(await waits()).toEqual([])
  const stuck = { due: true, attempts: 10, next_attempt_at: 2 ** 45, last_error: 'the contract rejects it' }
  const before = await changed(id, stuck)
  expect(await waits()).toMatchObject([
    { grave: true, sentence: expect.stringContaining('the contract rejects it'), fix: `souk jobs view ${id}` },
  ])
  await changed(id, before)
  expect(await waits()).toEqual([])
  await cancel(id)
  expect(await sound()).toBe(0n)
})

/** @returns what it was before. */
async function changed(id: string, change: Partial<DealRow>): Promise<Partial<DealRow>> {
  return bench.market.ctx().store.tx(async (t) => {
    const row = await t.table(deals).getForUpdate(id)
    if (!row) throw new Error(id)
    const { version: _, ...before } = row
    await t.table(deals).put({ ...before, ...change })
    return before
  })
}

test('a daemon that starts again finds what others did with the contract, and goes on with the rest', async () => {
  const before = await purse()
  const [gone, stays] = [await deposited(), await deposited()]
  await bench.market.market.daemon.stop()
  expect(await bench.contractCall(other, 'emergencyWithdraw', gone)).toMatchObject({ ok: true })
  await bench.market.market.restart()
  expect(await bench.market.job(gone)).toMatchObject({ status: 'refunded' })
  await cancel(stays)
  expect(await sound()).toBe(0n)
  expect(await purse()).toEqual(before)
})

// The clock of the chain does not go back: this comes last.
test('after its deadline anybody may send the money back to the buyer of a job that was not delivered, and of no other', async () => {
  const before = await purse()
  const late = await deposited('balance')
  const done = await delivered('balance')
  await bench.until(done, ({ closed }) => closed)
  expect(await bench.contractCall(nobody, 'claimTimeout', late)).toEqual({ ok: false, error: 'TooEarly' })
  await bench.chain.client.increaseTime({ seconds: 30 * 86_400 })
  await bench.chain.client.mine({ blocks: 1 })
  expect(await bench.call(other, 'pause')).toMatchObject({ ok: true })
  expect(await bench.contractCall(nobody, 'claimTimeout', done)).toEqual({ ok: false, error: 'TimeoutClosed' })
  expect(await bench.contractCall(nobody, 'claimTimeout', late)).toMatchObject({ ok: true })
  await bench.look()
  expect(await bench.market.job(late)).toMatchObject({ status: 'expired', escrow_status: 'refunded' })
  expect(await bench.dealOf(late)).toMatchObject({ state: 'timed_out', open: false })
  expect(await sound()).toBe(PRICE.agent)
  expect(await purse()).toEqual({ wallet: before.wallet + PRICE.agent, balance: before.balance - 2n * PRICE.agent })
})
