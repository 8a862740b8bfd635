import { afterEach, describe, expect, test } from 'vitest'
import { CENT } from '../../../fixtures/payments/facilitated.ts'
import {
  type Asking,
  type Facilitator,
  generations,
  OTHER_SHOP,
  openFacilitator,
  SHOP,
} from '../../../fixtures/payments/facilitator.ts'
import type { Hex, Wallet } from '../../../src/core/hex.ts'
import { faultReason, type PaymentFault } from '../../../src/core/payment-fault.ts'
import { settlements } from './rows.ts'

let at: Facilitator
afterEach(() => at.market.close())

async function open(...given: Parameters<typeof openFacilitator>): Promise<void> {
  at = await openFacilitator(...given)
}

const now = () => BigInt(Math.floor(Date.now() / 1000))

describe('a payment', () => {
  test.each(generations)('of v%i is verified, settled once, and its money moves to the seller', async (version) => {
    await open()
    const buyer = await at.market.buyer('1.00')
    const asked = await at.ask(buyer, { version })
    expect((await at.verify(asked)).body).toEqual({ isValid: true, payer: buyer.account.address })
    const { body } = await at.settle(asked)
    expect(body).toEqual({
      success: true,
      transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      network: version === 1 ? 'base' : 'eip155:8453',
      amount: String(CENT),
      payer: buyer.account.address,
    })
    expect(await at.held(SHOP)).toBe(CENT)
    expect((await at.settle(asked)).body).toMatchObject({ success: false, errorReason: 'duplicate_settlement' })
    expect((await at.verify(asked)).body).toMatchObject({
      isValid: false,
      invalidReason: faultReason('nonce_used', version),
    })
    expect(await at.held(SHOP)).toBe(CENT)
  })

  const lowered = (signature: Hex): Hex =>
    `${signature.slice(0, -4)}${signature.at(-4) === '0' ? '1' : '0'}${signature.slice(-3)}` as Hex
  const wrong: readonly [PaymentFault, () => Asking][] = [
    ['signature_invalid', () => ({ change: { signature: lowered } })],
    ['expired', () => ({ change: { validBefore: now() - 1n } })],
    ['not_yet_valid', () => ({ change: { validAfter: now() + 1_000n } })],
    ['recipient_mismatch', () => ({ change: { to: OTHER_SHOP } })],
    ['insufficient_funds', () => ({ amount: 2_000_000n })],
    ['amount_mismatch', () => ({ change: { value: CENT - 1n } })],
    ['payee_not_served', () => ({ payTo: at.chain().payTo })],
  ]
  test.each(generations)(
    'of v%i that is no good is a 200 with the words of its generation, and moves nothing',
    async (version) => {
      await open()
      const buyer = await at.market.buyer('1.00')
      for (const [fault, asking] of wrong) {
        const asked = await at.ask(buyer, { version, ...asking() })
        const reason = faultReason(fault, version)
        const [verdict, settled] = [await at.verify(asked), await at.settle(asked)]
        expect([verdict.status, verdict.body.isValid, verdict.body.invalidReason, verdict.body.code]).toEqual([
          200,
          false,
          reason,
          fault,
        ])
        expect([settled.status, settled.body.success, settled.body.errorReason]).toEqual([200, false, reason])
        expect(settled.body).toMatchObject({ transaction: '', network: version === 1 ? 'base' : 'eip155:8453' })
      }
      expect(await at.held(buyer.wallet)).toBe(1_000_000n)
      expect(await at.market.daemon.ctx.store.table(settlements).count('newest', [])).toBe(0)
    },
  )

  test('of more than was asked is taken in v1, as published facilitators do, and never in v2', async () => {
    await open()
    const buyer = await at.market.buyer('1.00')
    const change = { value: CENT + 1n }
    expect((await at.settle(await at.ask(buyer, { version: 1, change }))).body).toMatchObject({
      success: true,
      amount: '10001',
    })
    expect((await at.settle(await at.ask(buyer, { version: 2, change }))).body.errorReason).toBe(
      faultReason('amount_mismatch', 2),
    )
  })

  test('for another token, network, scheme or domain is told apart', async () => {
    await open()
    const buyer = await at.market.buyer('1.00')
    const asked = await at.ask(buyer)
    const with_ = (change: object) => ({ ...asked, paymentRequirements: { ...asked.paymentRequirements, ...change } })
    const words = async (change: object) => (await at.verify(with_(change))).body.code
    expect(await words({ asset: SHOP })).toBe('asset_mismatch')
    expect(await words({ network: 'eip155:1' })).toBe('network_mismatch')
    expect(await words({ scheme: 'upto' })).toBe('scheme_unsupported')
    expect(await words({ extra: {} })).toBe('domain_missing')
    expect(await words({ extra: { name: 'Coin', version: '2' } })).toBe('domain_name_mismatch')
    expect(await words({ payTo: 'me' })).toBe('requirement_mismatch')
    expect((await at.verify({ ...asked, x402Version: 3 })).body.code).toBe('version_unsupported')
    expect((await at.verify({ ...asked, paymentPayload: { x402Version: 2 } })).body.code).toBe('malformed')
  })

  test.each([
    [{ x402Version: 3 }, /^x402Version must be 1 or 2\.$/],
    [{ paymentPayload: {} }, /^In paymentPayload, \w[\w.]* is missing or malformed\.$/],
    [{ paymentRequirements: {} }, /^In paymentRequirements, scheme is missing or malformed\.$/],
    [
      { paymentRequirements: { scheme: 'exact', payTo: 'me' } },
      /^In paymentRequirements, \w+ is missing or malformed\.$/,
    ],
  ])('whose body is wrong, %j, is told by the member at fault, not by a header', async (change, sentence) => {
    await open()
    const asked = { ...(await at.ask(await at.market.buyer('1.00'))), ...change }
    expect((await at.verify(asked)).body.invalidMessage).toMatch(sentence)
    expect((await at.settle(asked)).body.errorMessage).toMatch(sentence)
  })

  test.each([[{}], [[]], [{ x402Version: 2 }], [{ x402Version: 2, paymentPayload: 'x', paymentRequirements: {} }]])(
    'that is none, %j, is a 400',
    async (body) => {
      await open()
      for (const answer of [await at.verify(body), await at.settle(body)]) {
        expect([answer.status, answer.body.code]).toEqual([400, 'invalid_request'])
      }
    },
  )

  test.each(generations)('of a listed payer, or to a listed payee, is refused in v%i', async (version) => {
    let listed: Wallet | undefined
    await open({}, { isSanctioned: async (wallet) => wallet === listed })
    const buyer = await at.market.buyer('1.00')
    const asked = await at.ask(buyer, { version })
    for (const wallet of [buyer.wallet, SHOP]) {
      listed = wallet
      expect((await at.verify(asked)).body.code).toBe('wallet_blocked')
      expect((await at.settle(asked)).body.code).toBe('wallet_blocked')
    }
    expect(await at.held(SHOP)).toBe(0n)
  })
})
