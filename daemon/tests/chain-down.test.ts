import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ChainMarket, openChainMarket } from '../../fixtures/kit/chain-market.testkit.ts'
import { member, openPayments, soundBooks } from '../../fixtures/kit/money.ts'
import { type Answer, signPayment } from '../../fixtures/market/marketplace.ts'
import { recoverPayments } from '../features/payments/settle.ts'

// @slow starts a chain, and waits until a daemon has seen that it is gone

const PRICE = 10_000n
const GAS = '0x56bc75e2d63100000'
const patience = { interval: 200 }

let opened: ChainMarket
let node: ChainMarket['node']
let bench: ChainMarket['bench']
let market: ChainMarket['market']
let ask: ChainMarket['buy']

beforeAll(async () => {
  opened = await openChainMarket({ urls: (_, faulty) => [faulty.url] })
  ;({ node, bench, market, buy: ask } = opened)
})
afterAll(() => opened.close())

const asked = async () => (await ask()).status
const retryAfter = ({ status, body: { code }, headers }: Answer) => [status, code, headers.get('Retry-After')]

test('while no node answers nobody is asked to sign, what needs no chain goes on, and it all resumes by itself', async () => {
  const buyer = await market.buyer('1.00')
  const early = await signPayment(buyer.account, await ask())
  const { apiKey } = await member(market, { balance: '1.00' })
  node.dead = true
  await expect.poll(asked, patience).toBe(503)
  const refused = await ask()
  expect(retryAfter(refused)).toEqual([503, 'unavailable', '15'])
  expect(refused.body.accepts).toBeUndefined()
  expect(retryAfter(await ask(early))).toEqual([503, 'unavailable', '15'])
  expect(await openPayments(market)).toEqual([])
  expect((await ask({ 'X-BALANCE-AUTH': apiKey })).status).toBe(200)
  expect((await market.call('GET', '/v1/services/catalog')).status).toBe(200)
  node.dead = false
  await expect.poll(asked, patience).toBe(402)
  expect((await ask(early)).status).toBe(200)
  expect(await bench.chain.balanceOf(buyer.wallet)).toBe(1_000_000n - PRICE)
  await soundBooks(market)
})

test('with an empty gas key nobody is asked to sign, and what was signed before is neither lost nor paid twice', async () => {
  const buyer = await market.buyer('1.00')
  const signed = await signPayment(buyer.account, await ask())
  await bench.rpc('anvil_setBalance', bench.keys.gas.address, '0x0')
  const early = ask(signed)
  await expect.poll(asked, patience).toBe(503)
  await bench.rpc('anvil_setBalance', bench.keys.gas.address, GAS)
  await expect.poll(asked, patience).toBe(402)
  await early
  await recoverPayments(market.daemon.ctx)
  expect((await ask(signed)).status).toBe(200)
  expect(await bench.chain.balanceOf(buyer.wallet)).toBe(1_000_000n - PRICE)
  expect(await openPayments(market)).toEqual([])
  await soundBooks(market)
})
