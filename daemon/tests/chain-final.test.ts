import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ChainMarket, openChainMarket } from '../../fixtures/kit/chain-market.testkit.ts'
import { soundBooks } from '../../fixtures/kit/money.ts'
import { type Buyer, signPayment } from '../../fixtures/market/marketplace.ts'
import { usdc } from '../../src/core/money.ts'

// @slow starts a chain

/* A payment on a chain that finalises as a public one does, as the daemon tells it from its block to the end. */

const EPOCH = 4
const PRICE = 10_000n
const patience = { interval: 100 }

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

test('comes again when even a block that was `safe` is undone, and charges nobody twice', async () => {
  const { buyer, transaction } = await bought()
  await mine(EPOCH)
  await expect.poll(() => stateOf(transaction), patience).toBe('confirmed')
  const { reorged } = opened.bench.chain.status()
  await opened.testChain.client.request({ method: 'anvil_reorg', params: [EPOCH + 1, []] } as never)
  await expect.poll(() => opened.bench.chain.status().reorged, patience).toBe(reorged + 1)
  await expect.poll(() => opened.bench.chain.balanceOf(buyer.wallet), patience).toBe(1_000_000n - PRICE)
  expect(await stateOf(transaction)).not.toBe('final')
  await mine(2 * EPOCH + 1)
  await expect.poll(() => stateOf(transaction), patience).toBe('final')
  expect(opened.bench.chain.status().reversed).toBe(0)
  await soundBooks(market)
})

test('above the instant limit is answered once it is `safe`, also where its block was undone before', async () => {
  const settings = { instantLimit: usdc(PRICE - 1n) }
  const other = await openChainMarket({ epoch: EPOCH, change: { timings: { followMs: 50, resendMs: 300 }, settings } })
  try {
    const { client } = other.testChain
    const { chain } = other.bench
    const buyer = await other.market.buyer('1.00')
    await client.mine({ blocks: 1 })
    const headers = await signPayment(buyer.account, await other.buy())
    let isAnswered = false
    const answer = other.buy(headers).finally(() => {
      isAnswered = true
    })
    await expect.poll(() => chain.balanceOf(buyer.wallet), patience).toBe(1_000_000n - PRICE)
    // Only what the daemon has seen in a block can be seen to leave it.
    const states = async () => {
      const { transactions } = (await other.market.admin('GET', '/dashboard/api/admin/chain')).body
      return transactions.map(({ state }: { state: string }) => state)
    }
    await expect.poll(states, patience).not.toContain('signed')
    await client.request({ method: 'anvil_reorg', params: [1, []] } as never)
    await expect.poll(() => chain.status().reorged, patience).toBe(1)
    await expect.poll(() => chain.balanceOf(buyer.wallet), patience).toBe(1_000_000n - PRICE)
    await looked()
    expect(isAnswered).toBe(false)
    await client.mine({ blocks: EPOCH + 1 })
    expect((await answer).status).toBe(200)
    expect(await chain.balanceOf(buyer.wallet)).toBe(1_000_000n - PRICE)
    await soundBooks(other.market)
  } finally {
    await other.close()
  }
})
