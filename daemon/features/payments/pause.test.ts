import { afterEach, expect, test } from 'vitest'
import { gate } from '../../../fixtures/kit/faults.ts'
import { openPayments } from '../../../fixtures/kit/money.ts'
import { type Marketplace, openMarketplace, signPayment } from '../../../fixtures/market/marketplace.ts'
import { writePlatform } from '../../kernel/switches.ts'
import { commit } from '../../store/draw.ts'

const BUDGET = 1_000_000n
const body = { data: 'x' }

let market: Marketplace
afterEach(() => market.close())

test('a payment that passed the gate before a pause and is written after it is refused and charges nobody', async () => {
  const inside = gate()
  market = await openMarketplace({}, { isSanctioned: async () => inside.wait().then(() => false) })
  const path = `/v1/services/${await market.serviceId('qr_code')}/purchase`
  const buyer = await market.buyer('1.00')
  const signed = await signPayment(buyer.account, await market.call('POST', path, { body }))
  const answer = market.call('POST', path, { body, headers: signed })
  await inside.reached
  await commit(market.daemon.ctx, (t) => writePlatform(t, { paused_at: 1 }))
  inside.open()
  expect([(await answer).status, (await answer).body.code]).toEqual([503, 'paused'])
  expect(await openPayments(market)).toEqual([])
  expect(await market.daemon.ctx.chain.balanceOf(buyer.wallet)).toBe(BUDGET)
})
