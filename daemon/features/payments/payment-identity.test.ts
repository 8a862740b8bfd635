import { recoverTypedDataAddress } from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { chainWith, gate, movableClock } from '../../../fixtures/kit/faults.ts'
import {
  balanceOfAccount,
  listing,
  type Member,
  member,
  openPayments,
  payFor,
  soundBooks,
} from '../../../fixtures/kit/money.ts'
import {
  type Answer,
  type Buyer,
  type Marketplace,
  openMarketplace,
  signPayment,
} from '../../../fixtures/market/marketplace.ts'
import { authorizationTypes, circleUsdc } from '../../../src/core/authorization.ts'
import type { Hex } from '../../../src/core/hex.ts'
import { DAY_MS, MINUTE_MS } from '../../../src/core/time.ts'
import { writePlatform } from '../../kernel/switches.ts'
import { commit } from '../../store/draw.ts'
import { jobs } from '../jobs/rows.ts'
import { account } from '../ledger/legs.ts'
import { type LedgerRow, ledger } from '../ledger/rows.ts'

// @slow every way to pay, by everybody who could

const PRICE = 10_000n
const body = { data: 'mine' }

let market: Marketplace
let path: string
let wallOffset = 0

beforeAll(async () => {
  market = await openMarketplace({}, { clock: { now: () => Date.now(), wall: () => Date.now() + wallOffset } })
  path = `/v1/services/${await market.serviceId('qr_code')}/purchase`
})
afterAll(() => market.close())
afterEach(async () => {
  wallOffset = 0
  await soundBooks(market)
})

const funds = (buyer: Buyer) => market.daemon.ctx.chain.balanceOf(buyer.wallet)
const buy = (headers: Record<string, string>, request: object = { body }) =>
  market.call('POST', path, { ...request, headers })
const jobsOf = (buyer: Buyer) => market.daemon.ctx.store.table(jobs).count('buyer', [buyer.wallet])

async function sign(buyer: Buyer, version: 1 | 2 = 1): Promise<Record<string, string>> {
  return signPayment(buyer.account, await market.call('POST', path, { body }), { version })
}

async function switches(change: { paused_at?: number | null; checkout_v2?: boolean }): Promise<void> {
  await commit(market.daemon.ctx, (t) => writePlatform(t, change))
  const switched = market.daemon.ctx.switches.now
  while (change.paused_at !== undefined && switched().paused !== (change.paused_at !== null)) await turn()
  while (change.checkout_v2 !== undefined && switched().checkoutV2 !== change.checkout_v2) await turn()
}
const turn = () => new Promise(setImmediate)

describe.each([1, 2] as const)('a used payment header, x402 v%i', (version) => {
  test('is a 409 on any other request, and charges nothing more', async () => {
    const one = await member(market)
    const before = await funds(one)
    const headers = await sign(one, version)
    expect((await buy(headers)).status).toBe(200)
    const others: [string, Promise<Answer>][] = [
      ['another body', buy(headers, { body: { data: 'yours' } })],
      ['another type', buy(headers, { body: { data: 1 } })],
      ['no body', buy(headers, {})],
      ['another query', market.call('POST', `${path}?x=1`, { body, headers })],
      ['another path', market.call('POST', '/v1/discover', { body: {}, headers })],
      ['another method', market.call('GET', '/v1/jobs/job_0000000000000000', { headers })],
    ]
    for (const [name, sent] of others) {
      const answer = await sent
      expect([name, answer.status, answer.body.code]).toEqual([name, 409, 'idempotency_mismatch'])
    }
    expect((await buy({ ...headers, 'X-API-Key': one.apiKey })).headers.get('Idempotency-Replayed')).toBe('true')
    expect([await funds(one), await jobsOf(one)]).toEqual([before - PRICE, 1])
  })

  test('is refused with the key of somebody else', async () => {
    const [one, other] = [await market.buyer(), await member(market)]
    const headers = await sign(one, version)
    expect((await buy(headers)).status).toBe(200)
    const answer = await buy({ ...headers, 'X-API-Key': other.apiKey })
    expect([answer.status, answer.body.code]).toEqual([403, 'forbidden'])
  })

  test('gives the answer again until it expires, and then only under its Idempotency-Key', async () => {
    const one = await market.buyer()
    const headers = { ...(await sign(one, version)), 'Idempotency-Key': 'mine' }
    const { 'Idempotency-Key': _, ...bare } = headers
    const paid = await buy(headers)
    expect((await buy(bare)).body.job_id).toBe(paid.body.job_id)
    wallOffset = 5 * MINUTE_MS
    const [late, keyed] = [await buy(bare), await buy(headers)]
    expect([late.status, late.body.code, late.body.receipt_id]).toEqual([409, 'conflict', paid.body.receipt_id])
    expect([keyed.status, keyed.text]).toEqual([200, paid.text])
  })
})

describe('one Idempotency-Key of two callers', () => {
  test.each<[string, (one: Member) => Promise<Record<string, string>>]>([
    ['x402', (one) => sign(one)],
    ['balance', async (one) => ({ 'X-BALANCE-AUTH': one.apiKey })],
  ])('by %s: each buys its own, and none gets the other’s answer', async (_, pay) => {
    const two = [await member(market, { balance: '1.00' }), await member(market, { balance: '1.00' })]
    const key = { 'Idempotency-Key': 'shared' }
    const answers = await Promise.all(two.map(async (one) => buy({ ...(await pay(one)), ...key })))
    expect(answers.map((answer) => answer.status)).toEqual([200, 200])
    expect(answers[0]?.body.job_id).not.toBe(answers[1]?.body.job_id)
    expect(await Promise.all(two.map(jobsOf))).toEqual([1, 1])
  })

  test('the same caller with another request under it is a 409, uncharged', async () => {
    const one = await member(market, { balance: '1.00' })
    const headers = { 'X-BALANCE-AUTH': one.apiKey, 'Idempotency-Key': 'once' }
    expect((await buy(headers)).status).toBe(200)
    const answer = await buy(headers, { body: { data: 'other' } })
    expect([answer.status, answer.body.code]).toEqual([409, 'idempotency_mismatch'])
    expect(await balanceOfAccount(market, account.balance(one.id))).toBe(1_000_000n - PRICE)
  })

  test('a fresh signature under it gets the stored answer, and is not used', async () => {
    const one = await market.buyer()
    const key = { 'Idempotency-Key': 'again' }
    const paid = await buy({ ...(await sign(one)), ...key })
    const fresh = await sign(one)
    const again = await buy({ ...fresh, ...key })
    expect([again.status, again.body.job_id, again.body.access_token]).toEqual([200, paid.body.job_id, null])
    expect((await buy(fresh)).body.job_id).not.toBe(paid.body.job_id)
    expect(await jobsOf(one)).toBe(2)
  })
})

describe('who paid gets the answer', () => {
  test.each(['paused', 'cut over'] as const)('although the marketplace is %s by now', async (how) => {
    const one = await member(market, { wallet: '5.00', balance: '1.00' })
    const deposit = '/v1/balance/deposit?amount=1.00'
    const signed = await signPayment(one.account, await market.call('POST', deposit))
    const byBalance = { 'X-BALANCE-AUTH': one.apiKey, 'Idempotency-Key': 'lost' }
    const [deposited, bought] = [await market.call('POST', deposit, { headers: signed }), await buy(byBalance)]
    const unused = await sign(one)
    await switches(how === 'paused' ? { paused_at: Date.now() } : { checkout_v2: true })
    try {
      const [again, other] = [await market.call('POST', deposit, { headers: signed }), await buy(byBalance)]
      expect([again.status, again.text]).toEqual([200, deposited.text])
      expect([other.status, other.text]).toEqual([200, bought.text])
      if (how === 'paused') expect((await buy(unused)).body.code).toBe('paused')
    } finally {
      await switches({ paused_at: null, checkout_v2: false })
    }
  })

  test('a purchase that races the pause is bought or refused, and charged accordingly', async () => {
    const buyers = await Promise.all(Array.from({ length: 24 }, () => market.buyer('0.01')))
    const signed = await Promise.all(buyers.map((one) => sign(one)))
    const answers = signed.map((headers, at) => turn().then(() => (at === 12 ? pauseAnd(headers) : buy(headers))))
    const statuses = (await Promise.all(answers)).map((answer) => answer.status)
    await switches({ paused_at: null })
    expect(statuses.filter((status) => status !== 200 && status !== 503)).toEqual([])
    expect(await openPayments(market)).toEqual([])
    for (const [at, one] of buyers.entries()) {
      const isBought = statuses[at] === 200
      expect([await funds(one), await jobsOf(one)]).toEqual(isBought ? [0n, 1] : [PRICE, 0])
    }
  })

  async function pauseAnd(headers: Record<string, string>): Promise<Answer> {
    void commit(market.daemon.ctx, (t) => writePlatform(t, { paused_at: 1 }))
    return buy(headers)
  }
})

test('a reservation made before the pause is finished, one after it is refused', async () => {
  const settling = gate()
  const paused = await openMarketplace(
    {},
    {
      chain: chainWith((real) => ({
        settle: async (...signed) => {
          await settling.wait()
          return real.settle(...signed)
        },
      })),
    },
  )
  try {
    const row = `/v1/services/${await paused.serviceId('qr_code')}/purchase`
    const [early, late] = [await paused.buyer(), await paused.buyer()]
    const first = payFor(paused, early, { path: row, body })
    const signed = await signPayment(late.account, await paused.call('POST', row, { body }))
    await settling.reached
    await commit(paused.daemon.ctx, (t) => writePlatform(t, { paused_at: 1 }))
    const refused = await paused.call('POST', row, { body, headers: signed })
    settling.open()
    expect([(await first).status, refused.status, refused.body.code]).toEqual([200, 503, 'paused'])
  } finally {
    await paused.close()
  }
})

describe('a signature made here', () => {
  test('is worth nothing at another installation', async () => {
    const other = await openMarketplace()
    try {
      const one = await market.buyer()
      const signed = await sign(one)
      const there = `/v1/services/${await other.serviceId('qr_code')}/purchase`
      const answer = await other.call('POST', there, { body, headers: signed })
      expect([answer.status, answer.body.code]).toEqual([402, 'payment_required'])
      const [mine, theirs] = [market.daemon.ctx.chain, other.daemon.ctx.chain]
      expect(mine.asset.address).not.toBe(theirs.asset.address)
      expect(mine.payTo).not.toBe(theirs.payTo)
    } finally {
      await other.close()
    }
  })

  test('recovers to nobody’s wallet under the domain of Circle’s USDC', async () => {
    const one = await market.buyer()
    const { 'X-PAYMENT': header } = await sign(one)
    const { payload } = JSON.parse(Buffer.from(header as string, 'base64').toString())
    const { authorization, signature } = payload
    const message = {
      ...authorization,
      value: BigInt(authorization.value),
      validAfter: BigInt(authorization.validAfter),
      validBefore: BigInt(authorization.validBefore),
    }
    const signerUnder = (verifyingContract: Hex, name: string, chainId: number) =>
      recoverTypedDataAddress({
        domain: { name, version: '2', chainId, verifyingContract },
        types: authorizationTypes,
        primaryType: 'TransferWithAuthorization',
        message,
        signature,
      })
    const { asset } = market.daemon.ctx.chain
    expect(await signerUnder(asset.address, 'USD Coin', 8453)).toBe(one.account.address)
    expect(await signerUnder(circleUsdc.base.asset, 'USD Coin', 8453)).not.toBe(one.account.address)
    expect(await signerUnder(circleUsdc['base-sepolia'].asset, 'USDC', 84532)).not.toBe(one.account.address)
    expect(Object.values(circleUsdc).map((token) => token.asset)).not.toContain(asset.address)
  })
})

test.each([1, 2] as const)(
  '31 days later by the business clock an unmodified client still buys, x402 v%i',
  async (version) => {
    const { clock, advance } = movableClock()
    const later = await openMarketplace({}, { clock })
    try {
      const one = await later.buyer()
      const row = `${later.url()}/v1/services/${await later.serviceId('qr_code')}/purchase`
      const send = () =>
        one.fetch(version)(row, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json' },
          body: JSON.stringify(body),
        })
      expect((await send()).status).toBe(200)
      advance(31 * DAY_MS)
      expect((await send()).status).toBe(200)
      await soundBooks(later)
    } finally {
      await later.close()
    }
  },
)

describe('by balance, x402 v1 and v2', () => {
  type Bought = { answer: Answer['body']; entry: Pick<LedgerRow, 'kind' | 'ref_kind' | 'lines'>; source: string }

  /** The answer but for its ids, and the postings with the paying account made neutral. */
  async function bought(one: Member, row: string, headers: Record<string, string>): Promise<Bought> {
    const { body: answer } = await market.call('POST', row, { body, headers })
    const { rows } = await market.daemon.ctx.store.table(ledger).page('seq', [], { limit: 1, order: 'desc' })
    const { kind, ref_kind, lines } = rows[0] as LedgerRow
    const source = lines.find((line) => line.delta < 0n)?.account as string
    const own = new Map([
      [source, 'SOURCE'],
      [account.escrow(answer.job_id), 'ESCROW'],
    ])
    const neutral = lines.map((line) => ({ ...line, account: own.get(line.account) ?? line.account }))
    const { job_id: _1, thread_id: _2, receipt_id: _3, status_url: _4, ...same } = answer
    expect(await jobsOf(one)).toBe(1)
    return { answer: same, entry: { kind, ref_kind, lines: neutral }, source: source.split(':')[0] as string }
  }

  test.each<[string, () => Promise<string>]>([
    ['an instant service', async () => path],
    ['an order into escrow', async () => `/v1/services/${(await listing(market)).id}/purchase`],
  ])('%s is the same answer and the same postings, but for the account it is paid from', async (_, find) => {
    const row = await find()
    const members = [await member(market, { balance: '1.00' }), await member(market), await member(market)] as const
    const signed = async (at: 1 | 2) =>
      signPayment(members[at].account, await market.call('POST', row, { body }), { version: at })
    const byBalance = await bought(members[0], row, { 'X-BALANCE-AUTH': members[0].apiKey })
    const byV1 = await bought(members[1], row, await signed(1))
    const byV2 = await bought(members[2], row, await signed(2))
    expect([byBalance.source, byV1.source, byV2.source]).toEqual(['hold', 'ext', 'ext'])
    for (const by of [byV1, byV2]) {
      expect(by.answer).toEqual(byBalance.answer)
      expect(by.entry).toEqual(byBalance.entry)
    }
  })
})
