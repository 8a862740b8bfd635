import { hash } from 'node:crypto'
import canonicalize from 'canonicalize'
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { balanceOfAccount, type Member, member, openPayments, payFor, soundBooks } from '../../../fixtures/kit/money.ts'
import {
  type Answer,
  type Buyer,
  type Marketplace,
  openMarketplace,
  signPayment,
} from '../../../fixtures/market/marketplace.ts'
import { commit } from '../../store/draw.ts'
import type { Store } from '../../store/port.ts'
import { jobs } from '../jobs/rows.ts'
import { account } from '../ledger/legs.ts'
import { idempotency, payments } from './rows.ts'

// @slow every pair of payment and key

/* One Idempotency-Key of one wallet buys once, whichever credential a retry shows (decisions §4 Retry). */

const PRICE = 10_000n
const body = { data: 'mine' }

let market: Marketplace
let beforeWrite = async (): Promise<void> => undefined
let path: string
beforeAll(async () => {
  market = await openMarketplace(
    {},
    {
      store: (opened): Store => ({ ...opened, tx: async (body) => beforeWrite().then(() => opened.tx(body)) }),
    },
  )
  path = `/v1/services/${await market.serviceId('qr_code')}/purchase`
})
afterAll(() => market.close())
afterEach(async () => {
  await soundBooks(market)
  expect(await openPayments(market)).toEqual([])
})

const signed = async (one: Buyer, version: 1 | 2) =>
  signPayment(one.account, await market.call('POST', path, { body }), { version })

/** Ways in which one payer can show who it is and pay. */
const ways: Record<string, (one: Member) => Promise<Record<string, string>>> = {
  'x402 v1': (one) => signed(one, 1),
  'x402 v2': (one) => signed(one, 2),
  'x402 and X-API-Key': async (one) => ({ ...(await signed(one, 1)), 'X-API-Key': one.apiKey }),
  'x402 and Bearer': async (one) => ({ ...(await signed(one, 2)), Authorization: `Bearer ${one.apiKey}` }),
  balance: async (one) => ({ 'X-BALANCE-AUTH': one.apiKey }),
  'balance and X-API-Key': async (one) => ({ 'X-BALANCE-AUTH': one.apiKey, 'X-API-Key': one.apiKey }),
}
const names = Object.keys(ways)

const send = (headers: Record<string, string>, key: string) =>
  market.call('POST', path, { body, headers: { ...headers, 'Idempotency-Key': key } })

/** What the wallet and the balance of somebody hold together. */
const holdings = async (one: Member) =>
  (await market.daemon.ctx.chain.balanceOf(one.wallet)) + (await balanceOfAccount(market, account.balance(one.id)))

/** Fails unless every answer tells of the same purchase, and the books of one. */
async function boughtOnce(one: Member, before: bigint, answers: readonly Answer[]): Promise<void> {
  expect(answers.map((answer) => answer.status)).toEqual(answers.map(() => 200))
  expect(new Set(answers.map((answer) => answer.body.job_id)).size).toBe(1)
  const first = answers.filter((answer) => answer.headers.get('Idempotency-Replayed') !== 'true')
  expect(first.map((answer) => answer.body.amount)).toEqual(['0.01'])
  expect(before - (await holdings(one))).toBe(PRICE)
}

describe.each(names)('a purchase paid by %s', (first) => {
  test.each(names)('is not bought again by a retry with %s', async (second) => {
    const one = await member(market, { wallet: '0.10', balance: '0.10' })
    const before = await holdings(one)
    const [pay, again] = [ways[first], ways[second]] as [(typeof ways)[string], (typeof ways)[string]]
    const answers = [await send(await pay(one), 'once'), await send(await again(one), 'once')]
    await boughtOnce(one, before, answers)
    expect(await market.daemon.ctx.store.table(jobs).count('buyer', [one.wallet])).toBe(1)
  })
})

test('copies with any credentials that arrive together buy once', async () => {
  const one = await member(market, { wallet: '5.00', balance: '5.00' })
  let round = 0
  await fc.assert(
    fc.asyncProperty(fc.array(fc.constantFrom(...names), { minLength: 2, maxLength: 6 }), async (chosen) => {
      round += 1
      const key = `together-${round}`
      const before = await holdings(one)
      const headers = await Promise.all(chosen.map((name) => ways[name]?.(one)))
      await boughtOnce(one, before, await Promise.all(headers.map((sent) => send(sent ?? {}, key))))
    }),
    { numRuns: 25 },
  )
  expect(await market.daemon.ctx.store.table(jobs).count('buyer', [one.wallet])).toBe(round)
})

test('two credentials that are written after neither saw the other buy once, as with two daemons', async () => {
  const one = await member(market, { wallet: '0.10', balance: '0.10' })
  const before = await holdings(one)
  const headers = await Promise.all([signed(one, 2), ways.balance?.(one)])
  let waiting = 0
  const both = Promise.withResolvers<void>()
  beforeWrite = () => {
    waiting += 1
    if (waiting === headers.length) both.resolve()
    return both.promise
  }
  const answers = await Promise.all(headers.map((sent) => send(sent ?? {}, 'at-once')))
  beforeWrite = async () => undefined
  await boughtOnce(one, before, answers)
})

test('who registers after a purchase gets its answer by the key of the account', async () => {
  const buyer = await market.buyer('1.00')
  const bought = await send(await signed(buyer, 1), 'before')
  const answer = await payFor(market, buyer, { path: '/v1/register', body: { name: 'late', type: 'agent' } })
  const headers = { ...(await signed(buyer, 1)), 'X-API-Key': answer.body.api_key }
  const again = await send(headers, 'before')
  expect([again.status, again.body.job_id]).toEqual([200, bought.body.job_id])
})

test('a retry of rotate-key with the new API key makes no third one, and withholds the second', async () => {
  const one = await member(market)
  const rotate = '/v1/participants/rotate-key'
  const headers = { 'Idempotency-Key': 'rotate' }
  const rotated = await payFor(market, one, { path: rotate, headers })
  const key = rotated.body.api_key
  const again = await payFor(market, one, { path: rotate, headers: { ...headers, 'X-API-Key': key } })
  expect([again.status, again.body.api_key, again.body.secret_withheld]).toEqual([200, null, true])
  expect((await market.call('GET', '/v1/balance', { headers: { 'X-API-Key': key } })).status).toBe(200)
})

test.each(names.filter((name) => /Key|Bearer|balance/.test(name)))(
  'a purchase that the build before made under %s is not bought again by a retry after the upgrade',
  async (way) => {
    const one = await member(market, { wallet: '0.10', balance: '0.10' })
    const before = await holdings(one)
    const first = await ways[way]?.(one)
    const bought = await send(first ?? {}, 'upgrade')
    await asBefore(one, 'upgrade')
    const again = await Promise.all([first ?? {}, (await ways[way]?.(one)) ?? {}].map((sent) => send(sent, 'upgrade')))
    await boughtOnce(one, before, [bought, ...again])
  },
)

/** Rewrites the one payment of somebody as the build before kept it: found and told by the participant. */
async function asBefore(one: Member, key: string): Promise<void> {
  const { ctx } = market.daemon
  const digest = (facts: unknown) => hash('sha256', canonicalize(facts) as string)
  const scope = hash('sha256', JSON.stringify([one.id, 'POST', path, key]))
  await commit(ctx, async (t) => {
    const { rows } = await t.table(payments).page('payer', [one.wallet], { limit: 2 })
    const [row] = rows.filter(({ endpoint }) => endpoint === 'purchaseService')
    if (!row) throw new Error('nothing was bought')
    const held = await t.table(payments).getForUpdate(row.id)
    if (!held?.idempotency) throw new Error('it has no key')
    const used = await t.table(idempotency).getForUpdate(held.idempotency)
    if (!used) throw new Error('its key is not kept')
    await t.table(idempotency).delete(used.id)
    await t.table(idempotency).getForUpdate(scope)
    await t.table(idempotency).put({ id: scope, payment_id: row.id, at: used.at })
    const fingerprint = digest(['POST', path, [], body, one.id])
    await t.table(payments).put({ ...held, fingerprint, idempotency: scope })
  })
}
