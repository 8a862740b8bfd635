import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { asks, TOKEN } from '../../fixtures/hostile/answers.ts'
import { type Hostile, openHostile, type Received } from '../../fixtures/hostile/server.ts'
import { moneyTricks, tricks } from '../../fixtures/hostile/tricks.ts'
import { isPayment, worthOf } from '../../fixtures/hostile/victim.ts'
import { keepPolicy } from '../../src/client/spending/policy.ts'
import { circleUsdc } from '../../src/core/authorization.ts'
import { formatAmount, usdc } from '../../src/core/money.ts'
import { createClient, type SoukClient } from './client.ts'

/* What an instance that means ill gets out of a program that pays through the library. */

const KEY = `0x${'7'.repeat(64)}` as const
const PER_PAYMENT = 250_000n
const TOTAL = 400_000n
const spend = { perPayment: formatAmount(PER_PAYMENT), total: formatAmount(TOTAL), assets: [TOKEN] }
const apiKey = `sk_${'0'.repeat(40)}`
let hostile: Hostile
let configDir: string
beforeAll(async () => {
  hostile = await openHostile()
  configDir = await mkdtemp(join(tmpdir(), 'souk-hostile-'))
})
afterAll(async () => {
  await hostile.close()
  await rm(configDir, { recursive: true })
})

const client = (place = configDir) =>
  createClient({ url: hostile.url, wallet: KEY, apiKey, spend, configDir: place, timeoutMs: 2_000 })

/** What the server may take of all that it was handed: each signature once, each charge as often as it was sent anew. */
function worth(received: readonly Received[]): bigint {
  const payments = received.filter(isPayment)
  const signed = new Map(payments.map((one) => [one.headers['payment-signature'] ?? one.headers['x-payment'], one]))
  signed.delete(undefined)
  return [...signed.values()].reduce((sum, one) => sum + worthOf(one), 0n)
}

const calls: readonly ((buyer: SoukClient, from: 'x402' | 'balance') => Promise<unknown>)[] = [
  (buyer, from) =>
    buyer.pay('purchaseService', { params: { id: 'svc_0123456789abcdef' }, body: { text: 'a' } }, { from }),
  (buyer, from) => buyer.pay('verifyJob', { params: { id: 'job_0123456789abcdef' }, body: {} }, { from }),
]

describe.each(moneyTricks)('%s', (name) => {
  it('takes no more than the policy of the client, by signature or from the balance', async () => {
    const trick = tricks[name]
    if (trick === undefined) throw new Error(`there is no trick "${name}"`)
    hostile.play(trick)
    const buyer = await client()
    const turns = Array.from({ length: 4 }, (_, turn) => calls[turn % calls.length])
    for (const from of ['x402', 'balance'] as const) {
      await Promise.allSettled(turns.map(async (call) => call?.(buyer, from)))
    }
    const payments = hostile.received.filter(isPayment)
    for (const one of payments) {
      expect(worthOf(one)).toBeLessThanOrEqual(PER_PAYMENT)
      expect(one.headers['x-max-price']).toBeDefined()
      for (const { asset } of Object.values(circleUsdc)) expect(decoded(one)).not.toContain(asset.toLowerCase())
    }
    expect(worth(hostile.received)).toBeLessThanOrEqual(TOTAL)
    expect(hostile.elsewhere.received).toEqual([])
  })
})

function decoded({ headers }: Received): string {
  const text = headers['payment-signature'] ?? headers['x-payment'] ?? ''
  return Buffer.from(text, 'base64').toString('utf8').toLowerCase()
}

it('whatever prices are asked, in whatever order and however many at once: what was signed for is what is said, and within', async () => {
  let most = 0n
  const prices = fc.array(fc.bigInt({ min: 0n, max: 300_000n }), { minLength: 1, maxLength: 12 })
  await fc.assert(
    fc.asyncProperty(prices, fc.boolean(), async (asked, atOnce) => {
      hostile.play(({ origin, received, before }) =>
        asks(origin, received, { price: usdc(asked[before % asked.length] ?? 0n) }),
      )
      const buyer = await client()
      const pays = asked.map(() => () => calls[1]?.(buyer, 'x402'))
      if (atOnce) await Promise.allSettled(pays.map(async (pay) => pay()))
      else for (const pay of pays) await pay()?.catch(() => undefined)
      const taken = worth(hostile.received)
      most = taken > most ? taken : most
      expect(taken).toBeLessThanOrEqual(TOTAL)
      expect(buyer.spent()).toBe(formatAmount(taken))
    }),
    { numRuns: 25 },
  )
  expect(most).toBeGreaterThan(0n)
})

it('the limit of a day that a person set holds over all clients of a wallet, whatever is answered', async () => {
  const place = await mkdtemp(join(configDir, 'limited-'))
  const buyers = await Promise.all([client(place), client(place)])
  keepPolicy({ config: place }, buyers[0]?.address ?? '', { per_day: '0.30', allow: [], deny: [] })
  hostile.play(({ origin, received }) => asks(origin, received, { price: usdc(100_000n) }))
  await Promise.allSettled(
    Array.from({ length: 8 }, async (_, turn) =>
      calls[1]?.(buyers[turn % 2] as SoukClient, turn < 4 ? 'x402' : 'balance'),
    ),
  )
  const sent = hostile.received.filter(isPayment)
  expect(sent.length).toBeGreaterThan(0)
  const charged = sent.filter((one) => one.headers['x-balance-auth'] !== undefined)
  expect(worth(hostile.received) + charged.reduce((sum, one) => sum + worthOf(one), 0n)).toBeLessThanOrEqual(300_000n)
})
