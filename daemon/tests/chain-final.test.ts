import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ChainMarket, openChainMarket } from '../../fixtures/kit/chain-market.testkit.ts'
import { soundBooks } from '../../fixtures/kit/money.ts'
import { type Buyer, signPayment } from '../../fixtures/market/marketplace.ts'

// @slow starts a chain

/* A payment on a chain that finalises as a public one does, as the daemon tells it from its block to the end. */

const EPOCH = 4
const PRICE = 10_000n
const patience = { timeout: 30_000, interval: 100 }

let opened: ChainMarket
let market: ChainMarket['market']
beforeAll(async () => {
  opened = await openChainMarket({ epoch: EPOCH, change: { timings: { followMs: 50, resendMs: 300, keepMs: 0 } } })
  market = opened.market
})
afterAll(() => opened.close())

const mine = (blocks: number) => opened.testChain.client.mine({ blocks })

async function bought(): Promise<{ buyer: Buyer; transaction: string }> {
  const buyer = await market.buyer('1.00')
  // What came before it has its blocks, and never those of the payment.
  await mine(1)
  const answer = await opened.buy(await signPayment(buyer.account, await opened.buy()))
  expect(answer.status).toBe(200)
  const receipt = Buffer.from(answer.headers.get('X-PAYMENT-RESPONSE') ?? '', 'base64').toString()
  return { buyer, transaction: JSON.parse(receipt).transaction }
}

async function told(transaction: string) {
  const { transactions } = (await market.admin('GET', `/dashboard/api/admin/chain?tx=${transaction}`)).body
  return transactions[0]
}
const stateOf = async (transaction: string) => (await told(transaction)).state
/** The daemon has looked at the chain once more, and at the payment with it. */
const looked = () => new Promise((resolve) => setTimeout(resolve, 500))

test('is included, confirmed by `safe`, final by `finalized`, each when it is and not before', async () => {
  const { transaction } = await bought()
  await looked()
  expect(await stateOf(transaction)).toBe('included')
  await mine(EPOCH)
  await expect.poll(() => stateOf(transaction), patience).toBe('confirmed')
  await looked()
  expect(await stateOf(transaction)).toBe('confirmed')
  await mine(EPOCH + 1)
  await expect.poll(() => stateOf(transaction), patience).toBe('final')
  await market.restart()
  expect(await stateOf(transaction)).toBe('final')
  await soundBooks(market)
})

test('comes again when its block is undone, once, and is final then', async () => {
  const { buyer, transaction } = await bought()
  const { reorged } = opened.bench.chain.status()
  await opened.testChain.client.request({ method: 'anvil_reorg', params: [1, []] } as never)
  await expect.poll(() => opened.bench.chain.status().reorged, patience).toBe(reorged + 1)
  await expect.poll(() => opened.bench.chain.balanceOf(buyer.wallet), patience).toBe(1_000_000n - PRICE)
  await mine(2 * EPOCH + 1)
  await expect.poll(() => stateOf(transaction), patience).toBe('final')
  expect(await told(transaction)).toMatchObject({ ok: true, transfers: 1, items: [{ state: 'moved' }] })
  expect(opened.bench.chain.status().reversed).toBe(0)
  await soundBooks(market)
})
