import { afterEach, describe, expect, test } from 'vitest'
import { gate } from '../../../fixtures/kit/faults.ts'
import { member } from '../../../fixtures/kit/money.ts'
import { CENT } from '../../../fixtures/payments/facilitated.ts'
import {
  type Facilitator,
  OTHER_SHOP,
  openFacilitator,
  SHOP,
  slowChain,
} from '../../../fixtures/payments/facilitator.ts'
import type { Wallet } from '../../../src/core/hex.ts'
import { usdc } from '../../../src/core/money.ts'

let at: Facilitator
afterEach(() => at.market.close())

async function open(...given: Parameters<typeof openFacilitator>): Promise<void> {
  at = await openFacilitator(...given)
}

describe('who may', () => {
  test('nobody where it was not started with it, whatever key they have', async () => {
    await open({ rules: null })
    for (const path of ['/facilitator/supported', '/facilitator/discovery/resources']) {
      const { status, body } = await at.market.call('GET', path)
      expect([status, body.code]).toEqual([404, 'not_found'])
      expect(body.error).toContain('--facilitator')
    }
    expect((await at.verify({})).status).toBe(404)
    expect((await at.settle({})).status).toBe(404)
  })

  const elsewhere = { publicUrl: 'https://souk.example.org' }

  test('only the holder of a key, where others can reach it; a key that is none is refused anywhere', async () => {
    await open(elsewhere)
    const asked = await at.ask(await at.market.buyer('1.00'))
    expect((await at.verify(asked)).status).toBe(401)
    expect((await at.settle(asked)).status).toBe(401)
    const made = { Authorization: `Bearer sk_${'0'.repeat(40)}` }
    expect((await at.settle(asked, made)).status).toBe(401)
    await at.market.close()
    await open()
    expect((await at.settle(await at.ask(await at.market.buyer('1.00')), made)).status).toBe(401)
    // A proxy on this machine passes on what others sent.
    expect((await at.settle({}, { 'X-Forwarded-For': '203.0.113.9' })).status).toBe(401)
  })

  test('a key settles for its own wallet and for payees that the operator named, and for nobody else', async () => {
    await open({ ...elsewhere, rules: { payTo: [OTHER_SHOP] } })
    const seller = await member(at.market)
    const headers = { Authorization: `Bearer ${seller.apiKey}` }
    const buyer = await at.market.buyer('1.00')
    const outcome = async (payTo: Wallet) =>
      (await at.settle(await at.ask(buyer, { payTo }), headers)).body.code ?? 'ok'
    expect(await outcome(seller.wallet)).toBe('ok')
    expect(await outcome(OTHER_SHOP)).toBe('ok')
    expect(await outcome(SHOP)).toBe('payee_not_served')
    expect(await outcome(at.chain().payTo)).toBe('payee_not_served')
  })

  test('a success of one seller is nothing to another', async () => {
    const door = gate()
    await open({ ...elsewhere, rules: { payTo: [SHOP], waitMs: 20 } }, slowChain(door))
    const [one, other] = [await member(at.market), await member(at.market)]
    const headersOf = ({ apiKey }: { apiKey: string }) => ({ Authorization: `Bearer ${apiKey}` })
    const asked = await at.ask(await at.market.buyer('1.00'))
    expect((await at.settle(asked, headersOf(one))).body.errorReason).toBe('settlement_pending')
    door.open()
    await at.becomes('settled')
    expect((await at.verify(asked, headersOf(other))).body.isValid).toBe(false)
    expect((await at.settle(asked, headersOf(other))).body.errorReason).toBe('duplicate_settlement')
    expect((await at.settle(asked, headersOf(one))).body.success).toBe(true)
  })

  test('nobody pays our gas with dust, and no key more than its share of a day', async () => {
    await open({ ...elsewhere, rules: { payTo: [SHOP], minValue: usdc(5_000n), dailyGas: 160_000 } })
    const headers = { Authorization: `Bearer ${(await member(at.market)).apiKey}` }
    const buyer = await at.market.buyer('1.00')
    expect((await at.settle(await at.ask(buyer, { amount: 4_999n }), headers)).body.code).toBe('value_too_small')
    for (let n = 0; n < 2; n += 1) expect((await at.settle(await at.ask(buyer), headers)).body.success).toBe(true)
    const asked = await at.ask(buyer)
    for (const answer of [await at.verify(asked, headers), await at.settle(asked, headers)]) {
      expect([answer.status, answer.body.code]).toEqual([429, 'rate_limited'])
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
    }
    await at.market.restart()
    expect((await at.settle(asked, headers)).status).toBe(429)
    const { body } = await at.market.admin('GET', '/dashboard/api/admin/facilitator')
    expect(body.today).toMatchObject([{ settlements: 2, gas: 160_000 }])
    expect(await at.held(SHOP)).toBe(2n * CENT)
  })

  test('many keys do not use more gas than all keys may, and nobody is settled for paying itself', async () => {
    await open({ ...elsewhere, rules: { payTo: [SHOP], dailyGas: 80_000 } })
    const buyer = await at.market.buyer('1.00')
    const told: unknown[] = []
    for (let key = 0; key < 12; key += 1) {
      const seller = await member(at.market)
      const headers = { Authorization: `Bearer ${seller.apiKey}` }
      const own = await at.settle(await at.ask(seller, { payTo: seller.wallet }), headers)
      expect([own.body.success, own.body.code]).toEqual([false, 'self_payment'])
      const { body, status } = await at.settle(await at.ask(buyer), headers)
      told.push(body.success ?? status)
    }
    expect(told).toEqual([...Array(10).fill(true), 429, 429])
    expect(await at.held(SHOP)).toBe(10n * CENT)
  })

  test('paused: nothing new is verified or settled, and what was paid for is still handed out', async () => {
    const door = gate()
    await open({ rules: { waitMs: 20 } }, slowChain(door))
    const buyer = await at.market.buyer('1.00')
    const asked = await at.ask(buyer)
    await at.settle(asked)
    door.open()
    await at.becomes('settled')
    await at.market.admin('POST', '/dashboard/api/admin/platform/pause', { body: { reason: 'a look' } })
    const fresh = await at.ask(buyer)
    for (const answer of [await at.verify(fresh), await at.settle(fresh)]) {
      expect([answer.status, answer.body.code]).toEqual([503, 'paused'])
    }
    expect((await at.settle(asked)).body.success).toBe(true)
    expect(await at.held(SHOP)).toBe(CENT)
  })
})
