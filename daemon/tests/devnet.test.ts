import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPayments, soundBooks } from '../../fixtures/kit/money.ts'
import { type Marketplace, openMarketplace, signPayment } from '../../fixtures/market/marketplace.ts'
import { anvilProgram } from '../ports/chain/evm/anvil/anvil.testkit.ts'

// @slow starts a chain

const TIMES = 5
const body = { data: 'on a chain of our own' }
let market: Marketplace
let path: string

beforeAll(async () => {
  market = await openMarketplace({ chain: 'devnet', chainSetup: { rpcUrls: [], anvil: anvilProgram() } })
  path = `/v1/services/${await market.serviceId('qr_code')}/purchase`
})
afterAll(() => market.close())

test('a devnet is the same chain however often it is started again', async () => {
  const buyer = await market.buyer('1.00')
  const { asset, payTo } = market.daemon.ctx.chain
  const price = BigInt((await market.call('POST', path, { body })).body.accepts[0].maxAmountRequired)
  for (let time = 1; time <= TIMES; time += 1) {
    await market.restart()
    const { chain } = market.daemon.ctx
    expect([chain.asset, chain.payTo]).toEqual([asset, payTo])
    const paid = await signPayment(buyer.account, await market.call('POST', path, { body }))
    expect((await market.call('POST', path, { body, headers: paid })).status).toBe(200)
    expect(await chain.balanceOf(buyer.wallet)).toBe(1_000_000n - BigInt(time) * price)
  }
  expect(await openPayments(market)).toEqual([])
  await soundBooks(market)
})
