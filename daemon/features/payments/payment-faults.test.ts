import { randomBytes } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { chainWith } from '../../../fixtures/kit/faults.ts'
import { balanceOfAccount, openPayments, soundBooks } from '../../../fixtures/kit/money.ts'
import {
  type Answer,
  type Buyer,
  type Marketplace,
  openMarketplace,
  signPayment,
} from '../../../fixtures/market/marketplace.ts'
import { fundsFor, signLive } from '../../../fixtures/payments/live.ts'
import { malformedHeaders, type Vector, vectors } from '../../../fixtures/payments/vectors.ts'
import type { Hex } from '../../../src/core/hex.ts'
import { formatAmount } from '../../../src/core/money.ts'
import { faultReason, type PaymentFault } from '../../../src/core/payment-fault.ts'
import type { SettleFailure, SettleRefusal } from '../../ports/chain/chain.ts'
import { account } from '../ledger/legs.ts'
import { payments } from './rows.ts'

// @slow a fault at every step of a payment

let market: Marketplace
/** Settles first: 6 s must be left. */
const first = { path: '/v1/discover', body: {} }
/** Runs first: 36 s must be left. */
const last = { path: '', body: { data: 'x' } }
let settleFails: Omit<SettleRefusal, 'ok'> | undefined
/** Where wall time stands still: the windows of a signature are told apart by a second. */
let heldWall: number | undefined

beforeAll(async () => {
  market = await openMarketplace(
    {},
    {
      clock: { now: Date.now, wall: () => heldWall ?? Date.now() },
      chain: chainWith((real) => ({
        settle: async (...signed) => {
          const failure = settleFails
          settleFails = undefined
          return failure ? { ok: false, ...failure } : real.settle(...signed)
        },
      })),
    },
  )
  last.path = `/v1/services/${await market.serviceId('qr_code')}/purchase`
})
afterAll(() => market.close())

const nonceOf = () => `0x${randomBytes(32).toString('hex')}` as Hex
const funds = (buyer: Buyer) => market.daemon.ctx.chain.balanceOf(buyer.wallet)
const post = (row: typeof first, headers: Record<string, string> = {}) =>
  market.call('POST', row.path, { body: row.body, headers })

/** The reason in the object of each generation. */
function reasons(answer: Answer): [string, string] {
  const v2 = JSON.parse(Buffer.from(answer.headers.get('PAYMENT-REQUIRED') as string, 'base64').toString())
  return [answer.body.error, v2.error]
}

const both = (fault: PaymentFault) => [faultReason(fault, 1), faultReason(fault, 2)]

/** Vectors about money that is promised elsewhere have a test of their own below. */
const played = vectors.filter((vector) => vector.facts?.openReservations === undefined)
const cases = played.flatMap((vector) =>
  vector.versions.map((version): [string, 1 | 2, Vector] => [vector.name, version, vector]),
)

describe('each rule of verification over HTTP', () => {
  afterEach(() => {
    heldWall = undefined
  })

  test.each(cases)('%s, x402 v%i', async (_, version, vector) => {
    const row = vector.facts?.marginSeconds === undefined ? first : last
    const offer = await post(row)
    const price = BigInt(offer.body.accepts[0].maxAmountRequired)
    const held = fundsFor(vector, price)
    const buyer = await market.buyer(formatAmount(held))
    const ext = await balanceOfAccount(market, account.ext)
    const nonce = nonceOf()
    heldWall = Date.now()
    const stage = { account: buyer.account, offer, nowSeconds: Math.floor(heldWall / 1000), nonce }
    const answer = await post(row, await signLive(vector, version, stage))
    heldWall = undefined

    if (vector.fault === null) {
      expect([answer.status, await funds(buyer)]).toEqual([200, held - price])
      return
    }
    expect([answer.status, reasons(answer)]).toEqual([402, both(vector.fault)])
    expect([await funds(buyer), await balanceOfAccount(market, account.ext)]).toEqual([held, ext])
    expect(await openPayments(market)).toEqual([])

    await fund(buyer, price)
    const good = await post(row, await signPayment(buyer.account, offer, { version, change: { nonce } }))
    expect(good.status).toBe(200)
  })
})

async function fund({ wallet }: Buyer, amount: bigint): Promise<void> {
  await market.admin('POST', '/dashboard/api/admin/faucet', { body: { wallet, amount: formatAmount(amount) } })
}

test.each(malformedHeaders.map((one): [string, typeof one] => [one.name, one]))(
  'a header that is malformed: %s',
  async (_, { version, header, fault }) => {
    const answer = await post(first, { [version === 1 ? 'X-PAYMENT' : 'PAYMENT-SIGNATURE']: header })
    expect([answer.status, reasons(answer)]).toEqual([402, both(fault)])
    expect(await market.daemon.ctx.store.table(payments).count('open', [])).toBe(0)
  },
)

describe('what the chain says when it is asked to settle', () => {
  /** The last: whether the payment stays open, as its bytes may still move the money. */
  const failures: [SettleFailure, PaymentFault, 'sent' | 'unsent', 0 | 1][] = [
    ['insufficient_funds', 'insufficient_funds', 'unsent', 0],
    ['authorization_used', 'nonce_used', 'unsent', 0],
    ['authorization_cancelled', 'nonce_used', 'unsent', 0],
    ['authorization_expired', 'expired', 'unsent', 0],
    ['authorization_not_yet_valid', 'not_yet_valid', 'unsent', 0],
    ['signature_invalid', 'signature_invalid', 'unsent', 0],
    ['wallet_unsupported', 'smart_wallet_unsupported', 'unsent', 0],
    ['payer_blocked', 'payer_blocked', 'unsent', 0],
    ['reverted', 'settlement_failed', 'unsent', 0],
    ['reverted', 'settlement_failed', 'sent', 1],
    ['insufficient_funds', 'insufficient_funds', 'sent', 1],
    ['token_paused', 'settlement_pending', 'unsent', 1],
    ['unavailable', 'settlement_pending', 'unsent', 1],
  ]
  const settled = failures.flatMap(([failure, fault, sent, open]) =>
    ([1, 2] as const).map((version) => [failure, sent, version, fault, open] as const),
  )

  test.each(settled)(
    '%s, %s, x402 v%i: told in its header, nothing moved, and the same payment is good later',
    async (...[failure, sent, version, fault, open]) => {
      const buyer = await market.buyer('0.10')
      const headers = await signPayment(buyer.account, await post(last), { version })
      settleFails = { failure, sent: sent === 'sent' }
      const answer = await post(last, headers)
      expect([answer.status, reasons(answer)]).toEqual([402, both(fault)])
      const told = answer.headers.get(version === 1 ? 'X-PAYMENT-RESPONSE' : 'PAYMENT-RESPONSE') as string
      expect(JSON.parse(Buffer.from(told, 'base64').toString())).toMatchObject({
        success: false,
        transaction: '',
        errorReason: faultReason(fault, version),
      })
      expect(await openPayments(market)).toHaveLength(open)
      expect(await funds(buyer)).toBe(100_000n)
      const again = await post(last, headers)
      expect([again.status, await funds(buyer)]).toEqual([200, 90_000n])
    },
  )
})

test('money that is promised to an open payment is not there for another', async () => {
  const buyer = await market.buyer('0.015')
  const offer = await post(last)
  settleFails = { failure: 'unavailable', sent: true }
  const pending = await signPayment(buyer.account, offer)
  expect((await post(last, pending)).status).toBe(402)
  const refused = await post(last, await signPayment(buyer.account, offer))
  expect(reasons(refused)).toEqual(both('insufficient_funds'))
  const smaller = await post(first, await signPayment(buyer.account, await post(first)))
  expect(smaller.status).toBe(200)
  expect((await post(last, pending)).status).toBe(200)
  expect(await funds(buyer)).toBe(4_000n)
})

afterEach(() => soundBooks(market))
beforeEach(() => {
  settleFails = undefined
})
