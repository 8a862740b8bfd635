import { afterEach, describe, expect, test } from 'vitest'
import { chainWith, gate } from '../../../fixtures/kit/faults.ts'
import { CENT } from '../../../fixtures/payments/facilitated.ts'
import {
  type Facilitator,
  generations,
  openFacilitator,
  SHOP,
  slowChain,
} from '../../../fixtures/payments/facilitator.ts'
import type { Hex, Wallet } from '../../../src/core/hex.ts'
import type { SettleResult } from '../../ports/chain/chain.ts'
import { MAX_DOUBTS } from './hand.ts'
import { type SettlementRow, settlements } from './rows.ts'

let at: Facilitator
afterEach(() => at.market.close())

async function open(...given: Parameters<typeof openFacilitator>): Promise<void> {
  at = await openFacilitator(...given)
}

describe('one success for one authorization', () => {
  test('8 identical settles at once: one success, the money moves once', async () => {
    await open()
    const asked = await at.ask(await at.market.buyer('1.00'))
    const answers = await Promise.all([...Array(8)].map(() => at.settle(asked)))
    const reasons = answers.map(({ body }) => body.errorReason ?? 'success')
    expect(reasons.toSorted()).toEqual([...Array(7).fill('duplicate_settlement'), 'success'])
    expect(await at.held(SHOP)).toBe(CENT)
  })

  test.each(generations)('two servers with one authorization of v%i: one of them gets the success', async (version) => {
    await open()
    const asked = await at.ask(await at.market.buyer('1.00'), { version })
    const resource = 'https://other.example/report'
    const elsewhere =
      version === 1
        ? { ...asked, paymentRequirements: { ...asked.paymentRequirements, resource } }
        : { ...asked, paymentPayload: { ...asked.paymentPayload, resource: { url: resource } } }
    const answers = await Promise.all([at.settle(asked), at.settle(elsewhere)])
    expect(answers.map(({ body }) => body.success).toSorted()).toEqual([false, true])
    expect(await at.held(SHOP)).toBe(CENT)
  })

  test('what was moved behind its back is not sold as if it had been settled here', async () => {
    await open()
    const asked = await at.ask(await at.market.buyer('1.00'))
    const { signature, authorization } = asked.paymentPayload.payload
    const { from, to, nonce } = authorization as Record<string, string>
    const signed = {
      from: from as Wallet,
      to: to as Wallet,
      nonce: nonce as Hex,
      value: CENT,
      validAfter: 0n,
      validBefore: BigInt(authorization['validBefore'] ?? 0),
    }
    expect((await at.chain().settle(signed, signature)).ok).toBe(true)
    expect((await at.verify(asked)).body.code).toBe('nonce_used')
    expect((await at.settle(asked)).body.code).toBe('nonce_used')
  })

  test('a success that nobody received is kept for the same caller, and for no other', async () => {
    const door = gate()
    await open({}, slowChain(door))
    const asked = await at.ask(await at.market.buyer('1.00'))
    await at.hangUp(asked, door.reached)
    door.open()
    await at.becomes('settled')
    expect((await at.verify(asked)).body.isValid).toBe(true)
    const other = { ...asked, paymentRequirements: { ...asked.paymentRequirements, maxTimeoutSeconds: 61 } }
    expect((await at.verify(other)).body.isValid).toBe(false)
    expect((await at.settle(other)).body.errorReason).toBe('duplicate_settlement')
    expect((await at.settle(asked)).body.success).toBe(true)
    expect((await at.settle(asked)).body.errorReason).toBe('duplicate_settlement')
    expect(await at.held(SHOP)).toBe(CENT)
  })

  test('a slow chain: pending in time, valid while it may come, and then the success, once', async () => {
    const door = gate()
    await open({ rules: { waitMs: 20 } }, slowChain(door))
    const asked = await at.ask(await at.market.buyer('1.00'))
    expect((await at.settle(asked)).body).toMatchObject({
      success: false,
      errorReason: 'settlement_pending',
      transaction: '',
    })
    expect((await at.verify(asked)).body.isValid).toBe(true)
    door.open()
    await at.becomes('settled')
    const answers = [await at.settle(asked), await at.settle(asked)]
    expect(answers.map(({ body }) => body.success)).toEqual([true, false])
    expect(await at.held(SHOP)).toBe(CENT)
  })

  test.each([[1, 'unexpected_settle_error'] as const, [2, 'settlement_pending'] as const])(
    'a chain that sent and did not say, in v%i: %s with the hash',
    async (version, reason) => {
      const hash = `0x${'12'.repeat(32)}` as Hex
      let tries = 0
      const silent: SettleResult = { ok: false, failure: 'unavailable', sent: true, transaction: hash }
      await open(
        {},
        {
          chain: chainWith((real) => ({
            settle: async (...signed) => (tries++ === 0 ? silent : real.settle(...signed)),
          })),
        },
      )
      const asked = await at.ask(await at.market.buyer('1.00'), { version })
      expect((await at.settle(asked)).body).toMatchObject({ success: false, errorReason: reason, transaction: hash })
      expect((await at.settle(asked)).body.success).toBe(true)
      expect(await at.held(SHOP)).toBe(CENT)
    },
  )

  test('a refusal of the chain frees the authorization: it is good once the wallet is filled', async () => {
    await open({}, { chain: chainWith((real) => ({ verify: async () => ({ ok: true }), faucet: real.faucet })) })
    const buyer = await at.market.buyer('0.001')
    const asked = await at.ask(buyer)
    expect((await at.settle(asked)).body.code).toBe('insufficient_funds')
    await at.market.admin('POST', '/dashboard/api/admin/faucet', { body: { wallet: buyer.wallet, amount: '1.00' } })
    expect((await at.settle(asked)).body.success).toBe(true)
  })

  test('a restart between settled and answered: the success is handed out once', async () => {
    const door = gate()
    await open({}, slowChain(door))
    const asked = await at.ask(await at.market.buyer('1.00'))
    await at.hangUp(asked, door.reached)
    door.open()
    await at.market.restart()
    const answers = [await at.settle(asked), await at.settle(asked)]
    expect(answers.map(({ body }) => body.success)).toEqual([true, false])
    await at.market.restart()
    expect((await at.settle(asked)).body.errorReason).toBe('duplicate_settlement')
    expect(await at.held(SHOP)).toBe(CENT)
  })

  test('what a killed daemon was handing out is given to its owner again, a few times at most, and to nobody else', async () => {
    await open()
    const asked = await at.ask(await at.market.buyer('1.00'))
    const other = { ...asked, paymentRequirements: { ...asked.paymentRequirements, maxTimeoutSeconds: 61 } }
    expect((await at.settle(asked)).body.success).toBe(true)
    const { store } = at.market.daemon.ctx
    const [{ id }] = (await store.table(settlements).page('newest', [], { limit: 1 })).rows as [SettlementRow]
    const killed = async () => {
      await expect.poll(async () => (await store.table(settlements).get(id))?.state).toBe('handed')
      await store.tx(async (t) => {
        const row = (await t.table(settlements).getForUpdate(id)) as SettlementRow
        await t.table(settlements).put({ ...row, state: 'handing', handed_by: 'an earlier start' })
      })
    }
    for (let n = 0; n < MAX_DOUBTS; n += 1) {
      await killed()
      expect((await at.verify(other)).body.isValid).toBe(false)
      expect((await at.settle(other)).body.errorReason).toBe('duplicate_settlement')
      expect((await at.verify(asked)).body.isValid).toBe(true)
      const answers = await Promise.all([at.settle(asked), at.settle(asked)])
      expect(answers.map(({ body }) => body.success).toSorted()).toEqual([false, true])
    }
    await killed()
    expect((await at.verify(asked)).body.isValid).toBe(false)
    expect((await at.settle(asked)).body.errorReason).toBe('duplicate_settlement')
    expect(await at.held(SHOP)).toBe(CENT)
  })
})
