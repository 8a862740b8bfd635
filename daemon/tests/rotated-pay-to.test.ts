import { afterAll, beforeAll, expect, test } from 'vitest'
import { soundBooks } from '../../fixtures/kit/money.ts'
import { type Escrow, openEscrow, PRICE } from '../../fixtures/market/escrow.ts'
import { type Answer, type Buyer, signPayment } from '../../fixtures/market/marketplace.ts'
import type { Wallet } from '../../src/core/hex.ts'
import { quoteWindowSeconds } from '../../src/core/limits.ts'
import { SECOND_MS } from '../../src/core/time.ts'
import { deals } from '../features/escrow/rows.ts'
import { startTestChain, type TestChain } from '../ports/chain/evm/anvil/anvil.testkit.ts'
import { testChainFlags } from '../ports/chain/evm/evm.testkit.ts'

/*
 * The pay-to key is replaced while buyers pay.
 * @slow starts a chain
 * @story of one marketplace and its keys
 */

const BUYERS = 64
/** Purchases of each buyer while the key is replaced. */
const EACH = 4
const patience = { timeout: 120_000, interval: 100 }
const ROTATE = '/dashboard/api/admin/keys/rotate'

let chain: TestChain
let shop: Escrow
let path: string
let buyers: Buyer[]
let offset = 0

beforeAll(async () => {
  chain = await startTestChain(testChainFlags)
  shop = await openEscrow({}, { chain: 'devnet', chainSetup: { rpcUrls: [chain.url] } })
  path = `/v1/services/${await shop.market.serviceId('qr_code')}/purchase`
  buyers = await Promise.all(Array.from({ length: BUYERS }, () => shop.market.buyer('5.00')))
})
afterAll(async () => {
  await shop?.close()
  await chain?.stop()
})

const port = () => shop.ctx().chain
const held = (wallet: Wallet) => port().balanceOf(wallet)
const quote = () => shop.market.call('POST', path, { body: { data: 'mine' } })
const quoted = (offer: Answer): string => offer.body.accepts[0].payTo.toLowerCase()
const signed = (buyer: Buyer, offer: Answer) => signPayment(buyer.account, offer, { nowMs: Date.now() + offset })
const paid = (headers: Record<string, string>) => shop.market.call('POST', path, { body: { data: 'mine' }, headers })
const rotate = async (body: Record<string, unknown> = {}) => {
  const answer = await shop.market.admin('POST', ROTATE, { body: { role: 'pay_to', ...body } })
  expect([answer.status, answer.text]).toEqual([200, answer.text])
  return answer.body
}
const later = (ms: number) => {
  offset += ms
  shop.pass(ms, { wall: true })
}

/** Buys so many times. @returns the addresses that were paid */
async function load(buyer: Buyer, times: number): Promise<string[]> {
  const to: string[] = []
  while (to.length < times) {
    const offer = await quote()
    const answer = await paid(await signed(buyer, offer))
    expect([answer.status, answer.text]).toEqual([200, answer.text])
    to.push(quoted(offer))
  }
  return to
}

test('the money of a job in escrow follows a leaked key to the new address, as soon as it is released', async () => {
  const old = port().payTo
  const human = await shop.list('human')
  const agent = await shop.agent()
  const { job_id: job } = (await shop.buy(human, agent)).body
  const deal = () => shop.ctx().store.table(deals).get(job)
  await expect.poll(async () => (await deal())?.state, patience).toBe('held')

  const told = await rotate({ leaked: true, reason: 'found in a log' })
  const next = port().payTo
  expect(told.paused).toBe(true)
  expect(told.keys[1]).toMatchObject({ state: 'retiring', leaked: true, escrow: '0.525' })
  // Quotes of the leaked address end at once, and its money is gone before buyers come back.
  expect(await held(old)).toBe(0n)
  expect((await shop.market.admin('POST', '/dashboard/api/admin/platform/unpause', { body: {} })).status).toBe(200)
  expect(quoted(await quote())).toBe(next)
  // Who asks how far it is pauses nothing again.
  expect((await rotate({ leaked: true, replaces: old })).paused).toBe(false)

  const before = await held(next)
  const done = { status: 'completed', deliverable: { words: 3 } }
  expect((await shop.provider.call('POST', `/v1/jobs/${job}/update`, done)).status).toBe(200)
  await shop.monitor()
  shop.pass(8 * 86_400_000)
  await shop.monitor()
  const keys = async () => (await port().keys?.list())?.map(({ address, state }) => [address, state])
  await expect.poll(keys, patience).toContainEqual([old, 'retired'])
  expect([await held(old), await held(next)]).toEqual([0n, before + PRICE.agent])
  await soundBooks(shop.market)
})

test('a rotation under load loses, doubles and refuses no payment, and the old address ends empty', async () => {
  const old = port().payTo
  const human = await shop.list('human')
  const agent = await shop.agent({ balance: '9.00' })
  const bought = await shop.buy(human, agent)
  expect(bought.status).toBe(200)
  const { job_id: job } = bought.body
  const deal = () => shop.ctx().store.table(deals).get(job)
  await expect.poll(async () => (await deal())?.state, patience).toBe('held')

  const [slow, ...others] = buyers as [Buyer, ...Buyer[]]
  const during = Promise.all(others.map((buyer) => load(buyer, EACH)))
  const early = await quote()
  expect(quoted(early)).toBe(old)
  const price = BigInt(early.body.accepts[0].maxAmountRequired)
  // Who repeats the command of the rotation that has ended begins no other one.
  const again = await shop.market.admin('POST', ROTATE, { body: { role: 'pay_to', leaked: true } })
  expect([again.status, again.body.code]).toEqual([409, 'conflict'])
  expect(again.body.message).toMatch(new RegExp(`^The last rotation .* ended at .* add --replaces ${old}\\.$`))
  expect(port().payTo).toBe(old)
  const told = await rotate({ reason: 'once a year', replaces: old })
  const next = port().payTo
  expect(next).not.toBe(old)
  expect(told).toMatchObject({
    keys: [
      { address: expect.stringMatching(new RegExp(next, 'i')), state: 'current', leaked: false },
      { state: 'retiring', escrow: '0.525', next: expect.stringContaining('quotes end') },
    ],
    paused: false,
  })
  // Asked again while it is under way, it begins no other one.
  expect((await rotate()).keys[0].address).toBe(told.keys[0].address)

  expect(quoted(await quote())).toBe(next)
  expect((await paid(await signed(slow, early))).status).toBe(200)
  const to = (await during).flat()
  expect(new Set(to)).toEqual(new Set([old, next]))
  later((quoteWindowSeconds + 1) * SECOND_MS)
  // The chain is looked at again first, because it was last seen two minutes ago.
  await expect.poll(async () => (await quote()).status, patience).toBe(402)
  const refused = await paid(await signed(slow, early))
  expect([refused.status, quoted(refused)]).toEqual([402, next])
  expect((await paid(await signed(slow, refused))).status).toBe(200)
  const after = (await Promise.all(others.map((buyer) => load(buyer, 1)))).flat()
  expect(new Set(after)).toEqual(new Set([next]))

  // The money of the old job comes by the old contract; new jobs lie in the new one.
  const second = await shop.buy(human, agent, { from: 'balance' })
  expect(second.status).toBe(200)
  const newer = () => shop.ctx().store.table(deals).get(second.body.job_id)
  await expect.poll(newer, patience).toMatchObject({ state: 'held', refund_to: next })
  const done = { status: 'completed', deliverable: { words: 3 } }
  expect((await shop.provider.call('POST', `/v1/jobs/${job}/update`, done)).status).toBe(200)
  await shop.monitor()
  shop.pass(8 * 86_400_000)
  await shop.monitor()
  await expect.poll(async () => (await deal())?.open, patience).toBe(false)

  const keys = async () => (await port().keys?.list())?.map(({ address, state }) => [address, state])
  await expect.poll(keys, patience).toContainEqual([old, 'retired'])
  expect(await held(old)).toBe(0n)
  expect(await held(next)).toBeGreaterThan(PRICE.fee)
  await soundBooks(shop.market)
  // Each payment moved its price once: before the window closed, and never to the old address after it.
  const left = await Promise.all(others.map(({ wallet }) => held(wallet)))
  expect(new Set(left)).toEqual(new Set([5_000_000n - BigInt(EACH + 1) * price]))
})
