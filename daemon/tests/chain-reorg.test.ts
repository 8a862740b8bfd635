import { encodeFunctionData } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ChainMarket, openChainMarket } from '../../fixtures/kit/chain-market.testkit.ts'
import { openPayments, soundBooks } from '../../fixtures/kit/money.ts'
import { type Buyer, signPayment } from '../../fixtures/market/marketplace.ts'
import type { Wallet } from '../../src/core/hex.ts'
import { payments } from '../features/payments/rows.ts'
import { accountAt } from '../ports/chain/evm/anvil/anvil.testkit.ts'
import { contracts } from '../ports/chain/evm/contracts/artifacts.testkit.ts'

// @slow starts a chain

const PRICE = 10_000n
const patience = { interval: 100 }

let opened: ChainMarket
let testChain: ChainMarket['testChain']
let bench: ChainMarket['bench']
let market: ChainMarket['market']
let buy: ChainMarket['buy']
/** How far the clock of whoever asks the chain is put ahead. */
let ahead = 0

beforeAll(async () => {
  const timings = { followMs: 100, resendMs: 300, reversalGraceMs: 0 }
  opened = await openChainMarket({ change: { wall: () => Date.now() + ahead, timings } })
  ;({ testChain, bench, market, buy } = opened)
})
afterAll(() => opened.close())

const sign = async ({ account }: Buyer) => signPayment(account, await buy())
const token = () => ({ address: bench.deployment.asset, abi: contracts.testToken.abi })
/** As the node itself says, also while it is behind. */
const balanceOf = (wallet: Wallet) => testChain.read(token(), 'balanceOf', [wallet]) as Promise<bigint>
const fundsOf = ({ wallet }: Buyer) => balanceOf(wallet)
const paidIn = () => balanceOf(bench.chain.payTo)
const paymentOf = async ({ wallet }: Buyer) => {
  const { rows } = await market.daemon.ctx.store.table(payments).page('payer', [wallet], { limit: 1 })
  return rows[0]
}
const stateOf = async (buyer: Buyer) => (await paymentOf(buyer))?.state

test.each([1, 3])(
  'a reorganisation of %i blocks charges nobody twice, and nothing of the books changes',
  async (depth) => {
    const buyers = await Promise.all([1, 2, 3].map(() => market.buyer('1.00')))
    const signed = await Promise.all(buyers.map(sign))
    const before = await paidIn()
    const answers = []
    for (const headers of signed) answers.push(await buy(headers))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    const { reorged } = bench.chain.status()
    await testChain.client.request({ method: 'anvil_reorg', params: [depth, []] } as never)
    await expect.poll(() => bench.chain.status().reorged, patience).toBe(reorged + depth)
    await expect.poll(paidIn, patience).toBe(before + 3n * PRICE)
    const again = await Promise.all(signed.map(buy))
    expect(again.map(({ status, body: { job_id } }) => [status, job_id])).toEqual(
      answers.map(({ body: { job_id } }) => [200, job_id]),
    )
    expect(await Promise.all(buyers.map(fundsOf))).toEqual(buyers.map(() => 1_000_000n - PRICE))
    expect(bench.chain.status().reversed).toBe(0)
    await soundBooks(market)
  },
)

/** In the chain that counts, the money of a wallet went elsewhere before. */
async function moveAway(buyer: Buyer): Promise<void> {
  const { wallet } = buyer
  await bench.rpc('anvil_setBalance', wallet, '0xde0b6b3a7640000')
  await bench.rpc('anvil_impersonateAccount', wallet)
  const args = [accountAt(5), await fundsOf(buyer)] as const
  const data = encodeFunctionData({ abi: token().abi, functionName: 'transfer', args })
  await bench.rpc('eth_sendTransaction', { from: wallet, to: token().address, data, gas: '0x989680' })
  expect(await fundsOf(buyer)).toBe(0n)
}

test('a payment that a deep reorganisation undid for good is booked as a loss once, also by a daemon that was down meanwhile', async () => {
  const [poor, kept] = await Promise.all([market.buyer('1.00'), market.buyer('1.00')])
  const [lost, fine] = [await sign(poor), await sign(kept)]
  const snapshot = await testChain.client.snapshot()
  expect([(await buy(lost)).status, (await buy(fine)).status]).toEqual([200, 200])
  const before = await paidIn()
  await market.daemon.stop()
  await testChain.client.setAutomine(false)
  await testChain.client.revert({ id: snapshot })
  await testChain.client.setAutomine(true)
  await moveAway(poor)
  await expect.poll(paidIn, patience).toBe(before - PRICE)
  // Until its window closes the money may come back.
  expect(bench.chain.status().reversed).toBe(0)
  ahead = 3_600_000
  await expect.poll(() => bench.chain.status().reversed, patience).toBe(1)
  await market.restart()
  await expect.poll(() => stateOf(poor), patience).toBe('reversed')
  const booked = await paymentOf(poor)
  expect(await stateOf(kept)).toBe('fulfilled')
  expect(bench.chain.status()).toMatchObject({ health: 'degraded', reversed: 1 })
  await market.restart()
  await expect.poll(() => bench.chain.status().reversed, patience).toBe(1)
  await expect.poll(() => paymentOf(poor), patience).toEqual(booked)
  expect(await openPayments(market)).toEqual([])
  expect(await paidIn()).toBe(before - PRICE)
})
