import { load } from 'cheerio'
import { hashMessage, toHex, keccak256 as viemKeccak } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Marketplace, openMarketplace } from '../../../fixtures/market/marketplace.ts'
import { type Person, registered, stranger } from '../../../fixtures/market/people.ts'
import { intentOf } from '../../../fixtures/market/traces.ts'
import { checksumAddress, type Hex } from '../../../src/core/hex.ts'
import { personalDigest } from '../../../src/core/keccak.ts'
import type { TraceEvent } from '../../../src/model/trace.ts'
import { digestOf } from '../../kernel/canonical.ts'

let market: Marketplace
let ann: Person
beforeAll(async () => {
  market = await openMarketplace()
  ann = await registered(market, { type: 'agent', name: 'Ann' })
})
afterAll(() => market.close())

const bytes32 = (digit: string): Hex => `0x${digit.repeat(64)}`
let made = 0

function eventOf(payer: string, change: Partial<TraceEvent> = {}): TraceEvent {
  made += 1
  const intent = { ...intentOf(payer), ...change.intent }
  const decision = {
    id: 'dec_1',
    intent_hash: digestOf(intent).hash,
    verdict: 'allow' as const,
    policy_id: 'budget',
    reason_code: 'within_budget',
    decided_at: '2026-01-31T11:59:00Z',
    issuer: 'guard',
  }
  const payment = { amount: '10000', network: 'base', settled_at: '2026-01-31T11:59:30Z' }
  const at = '2026-01-31T11:59:31Z'
  return { id: `event-${made}`, at, decision, outcome: 'allowed_paid', source: 'sdk', payment, ...change, intent }
}

const record = (event: unknown) => ann.call('POST', '/v1/trace', { event })
const payer = () => ann.account.address

async function signed(person: Person, event: unknown, change: { seconds?: number; origin?: string } = {}) {
  const body = JSON.stringify({ event })
  const timestamp = String(Math.floor(market.daemon.ctx.clock.wall() / 1000) + (change.seconds ?? 0))
  const lines = [
    'souk trace v1',
    `origin: ${change.origin ?? market.url()}`,
    `payer: ${checksumAddress((event as TraceEvent).intent.payer as Hex)}`,
    `body: ${viemKeccak(toHex(body))}`,
    `timestamp: ${timestamp}`,
  ]
  const signature = await person.account.signMessage({ message: lines.join('\n') })
  const headers = { 'X-TRACE-SIGNATURE': signature, 'X-TRACE-TIMESTAMP': timestamp }
  return { body: { event }, headers }
}

describe('a trace', () => {
  test('is recorded by key; its link opens once and shows the attempt', async () => {
    const { status, body } = await record(eventOf(payer()))
    expect([status, body.link.startsWith(`${market.url()}/dashboard/traces/`)]).toEqual([200, true])
    const path = new URL(body.link).pathname
    expect((await market.call('HEAD', path)).status).toBe(200)
    const page = await market.call('GET', path)
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(load(page.text)('h1').text()).toBe('The purchase was allowed and paid.')
    expect(page.text).toContain('within_budget')
    expect((await market.call('GET', path)).status).toBe(404)
  })

  test('of two that open its link at once, one sees it', async () => {
    const { body } = await record(eventOf(payer()))
    const path = new URL(body.link).pathname
    const pages = await Promise.all(Array.from({ length: 8 }, () => market.call('GET', path)))
    expect(pages.filter(({ status }) => status === 200)).toHaveLength(1)
  })

  test('sent again answers as it did without a link; another event of its id is a 409', async () => {
    const event = eventOf(payer())
    const first = await record(event)
    expect((await record(event)).body).toEqual({ trace_id: first.body.trace_id, link: null, link_expires_at: null })
    const other = await record({ ...event, source: 'mcp' })
    expect([other.status, other.body.code]).toEqual([409, 'conflict'])
  })

  test('of a refusal that no policy decided is taken, and shown', async () => {
    const { payment: _, ...attempt } = eventOf(payer())
    const { status, body } = await record({ ...attempt, decision: null, outcome: 'denied' })
    expect(status).toBe(200)
    const page = await market.call('GET', new URL(body.link).pathname)
    expect(load(page.text)('h1').text()).toContain('denied')
  })

  test('markup in any of its texts is inert on the page', async () => {
    const evil = '"><script>alert(1)</script><img src=x onerror=alert(1)>'
    const event = eventOf(payer(), {
      id: evil,
      intent: { id: evil, network: evil, purpose: evil } as TraceEvent['intent'],
    })
    const poisoned = {
      ...event,
      decision: {
        ...event.decision,
        id: evil,
        policy_id: evil,
        reason_code: evil,
        detail: evil,
        issuer: evil,
        signature: evil,
      },
      payment: { ...event.payment, network: evil },
      result: { status: evil, error_code: evil },
    }
    const { body } = await record(poisoned)
    const page = load((await market.call('GET', new URL(body.link).pathname)).text)
    expect(page('script, img').length).toBe(0)
    expect(
      page('td')
        .toArray()
        .filter((cell) => page(cell).text() === evil).length,
    ).toBe(13)
  })
})

describe('a trace without a key', () => {
  test('is signed by the payer of its intent, who need not have registered', async () => {
    const bob = await stranger(market)
    const answer = await market.call('POST', '/v1/trace', await signed(bob, eventOf(bob.account.address)))
    expect([answer.status, typeof answer.body.link]).toEqual([200, 'string'])
  })

  test('the digest is the one that wallets sign', () => {
    const text = 'souk trace v1\nümlaut'
    expect(toHex(personalDigest(text))).toBe(hashMessage(text))
  })

  test.each([
    ['another wallet', async (bob: Person) => signed(ann, eventOf(bob.account.address))],
    ['an old signature', async (bob: Person) => signed(bob, eventOf(bob.account.address), { seconds: -301 })],
    ['one from the future', async (bob: Person) => signed(bob, eventOf(bob.account.address), { seconds: 3_600 })],
    [
      'one for another marketplace',
      async (bob: Person) => signed(bob, eventOf(bob.account.address), { origin: 'https://x' }),
    ],
    [
      'one over another body',
      async (bob: Person) => ({
        ...(await signed(bob, eventOf(bob.account.address))),
        body: { event: eventOf(bob.account.address) },
      }),
    ],
    ['no signature', async (bob: Person) => ({ body: { event: eventOf(bob.account.address) } })],
    [
      'noise',
      async (bob: Person) => ({
        body: { event: eventOf(bob.account.address) },
        headers: { 'X-TRACE-SIGNATURE': '0xzz', 'X-TRACE-TIMESTAMP': 'soon' },
      }),
    ],
  ])('%s is a 401', async (_, make) => {
    const bob = await stranger(market)
    const answer = await market.call('POST', '/v1/trace', await make(bob))
    expect([answer.status, answer.body.code]).toEqual([401, 'unauthorized'])
  })
})

describe('an event that contradicts itself', () => {
  const broken = (change: (event: TraceEvent) => unknown) => change(eventOf(payer()))
  test.each([
    [
      'event.decision.intent_hash',
      (e: TraceEvent) => ({ ...e, intent: { ...e.intent, amount: '1' }, payment: { ...e.payment, amount: '1' } }),
    ],
    ['event.outcome', (e: TraceEvent) => ({ ...e, decision: { ...e.decision, verdict: 'deny' } })],
    ['event.outcome', ({ payment: _, ...e }: TraceEvent) => ({ ...e, outcome: 'denied' })],
    ['event.payment', ({ payment: _, ...e }: TraceEvent) => e],
    ['event.payment', (e: TraceEvent) => ({ ...e, outcome: 'abandoned' })],
    ['event.payment.amount', (e: TraceEvent) => ({ ...e, payment: { ...e.payment, amount: '9999' } })],
    ['event.payment.network', (e: TraceEvent) => ({ ...e, payment: { ...e.payment, network: 'solana' } })],
    [
      'event.payment.authorization_nonce',
      (e: TraceEvent) => ({ ...e, payment: { ...e.payment, authorization_nonce: bytes32('b') } }),
    ],
    ['event.intent.amount', (e: TraceEvent) => ({ ...e, intent: { ...e.intent, amount: '-1' } })],
    ['event.color', (e: TraceEvent) => ({ ...e, color: 'red' })],
  ])('is a 400 that names %s', async (path, change) => {
    const { status, body } = await record(broken(change))
    expect([status, body.details.map((one: { path: string }) => one.path)]).toEqual([
      400,
      expect.arrayContaining([path]),
    ])
  })

  test('too large a body is a 413', async () => {
    const { status } = await record({ ...eventOf(payer()), id: 'x'.repeat(17_000) })
    expect(status).toBe(413)
  })
})
