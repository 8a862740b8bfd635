import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Marketplace, openMarketplace } from '../../fixtures/market/marketplace.ts'
import { talkIn } from '../../fixtures/market/negotiation.ts'
import { registered } from '../../fixtures/market/people.ts'
import { planOn } from '../../fixtures/market/plans.ts'
import { postingWithBid } from '../../fixtures/market/postings.ts'
import { product } from '../../fixtures/market/products.ts'
import { isKept } from '../../fixtures/scenarios/scenario.ts'
import { type Endpoint, isPaid, templatePath } from '../../src/api/endpoint/define.ts'
import { api, endpointNames } from '../../src/api/index.ts'
import { showsInHealth, statusOf } from '../../src/api/status.ts'
import { writePlatform } from '../kernel/switches.ts'
import { commit } from '../store/draw.ts'

const all = endpointNames.map((name): [string, Endpoint] => [name, api[name]])
/** Rows that answer unless somebody switches them off. */
const rows = all.filter(([, row]) => row.switch === undefined)
const where = (select: (row: Endpoint) => boolean) => rows.filter(([, row]) => select(row))

let market: Marketplace
let thread: string
let plan: string
let posting: string
let sold: string
beforeAll(async () => {
  market = await openMarketplace()
  const talk = await talkIn(market)
  await talk.propose('1.00')
  thread = talk.thread
  plan = await planOn(market)
  posting = await postingWithBid(market)
  sold = (await product(market, await registered(market, { type: 'provider' }))).body.id
})
afterAll(() => market.close())

/** The row's path with parameters that lead somewhere where they can. */
async function pathOf(row: Endpoint): Promise<string> {
  const noun = row.path.split('/')[2] ?? ''
  const services = await market.serviceId('qr_code')
  const ids: Record<string, string> = { services, threads: thread, plans: plan, postings: posting, products: sold }
  return row.path.replace(/:[A-Za-z]+/, ids[noun] ?? 'job_0123456789abcdef').replace(/:[A-Za-z]+/g, 'x')
}

const call = async (row: Endpoint, headers: Record<string, string> = {}) =>
  market.call(row.method, await pathOf(row), { headers })

test.each(where(isKept))('%s is 401 without a credential, and with a wrong one', async (_, row) => {
  const wrong = { 'X-API-Key': `sk_${'0'.repeat(40)}`, Authorization: 'Bearer adm_0' }
  for (const headers of [{}, wrong]) {
    const answer = await call(row, headers)
    expect([answer.status, answer.body.code]).toEqual([401, 'unauthorized'])
  }
})

const [known, unknown] = ['1', '0'].map((digit) => `sk_${digit.repeat(40)}`) as [string, string]
test.each(all)('%s refuses two API keys that differ', async (_, row) => {
  const pairs: Record<string, string>[] = [
    { 'X-API-Key': known, 'X-BALANCE-AUTH': unknown },
    { 'X-API-Key': known, 'X-BALANCE-AUTH': 'garbage' },
    { 'X-API-Key': known, Authorization: `Bearer ${unknown}` },
    { 'X-BALANCE-AUTH': known, Authorization: `Bearer ${unknown}` },
  ]
  for (const headers of pairs) {
    const answer = await call(row, headers)
    expect([answer.status, answer.body.code]).toEqual([400, 'invalid_request'])
  }
})

test.each(all.filter(([, row]) => row.switch !== undefined))('%s is a 404 until it is enabled', async (_, row) => {
  const answer = await call(row)
  expect([answer.status, answer.body.code]).toEqual([404, 'not_found'])
})

describe.each(where(isPaid))('%s without a payment', (_, row) => {
  test('is a dual 402 that names its price, in both generations', async () => {
    const answer = await call(row)
    expect([answer.status, answer.body.code, answer.body.x402Version]).toEqual([402, 'payment_required', 1])
    expect(answer.headers.get('cache-control')).toBe('no-store')
    const v2 = JSON.parse(Buffer.from(answer.headers.get('PAYMENT-REQUIRED') as string, 'base64').toString())
    const amount = answer.body.accepts[0].maxAmountRequired
    expect(v2.accepts[0].amount).toBe(amount)
    if ('price' in row.access && row.access.price !== 'varies') expect(amount).toBe(String(row.access.price))
    expect(answer.body.accepts[0].resource).toBe(`${market.url()}${await pathOf(row)}`)
  })

  test.each(['X-PAYMENT', 'PAYMENT-SIGNATURE'])('asks again when a %s header cannot be read', async (header) => {
    const answer = await call(row, { [header]: '%%%' })
    expect([answer.status, answer.body.error, answer.body.accepts.length]).toEqual([402, 'invalid_payload', 1])
    expect(answer.body.message).toMatch(/^The payment header: ./)
  })

  test('refuses two payment credentials at once', async () => {
    const answer = await call(row, { 'X-PAYMENT': 'e30=', 'X-BALANCE-AUTH': 'sk_x' })
    expect([answer.status, answer.body.code]).toEqual([400, 'invalid_request'])
  })
})

describe('while paused and cut over', () => {
  beforeAll(() => switches({ paused_at: market.daemon.ctx.clock.now(), checkout_v2: true }))
  afterAll(() => switches({ paused_at: null, checkout_v2: false }))

  test.each(where((row) => row.origin !== 'ours'))('%s answers as its status says', async (_, row) => {
    const status = statusOf(row, market.daemon.ctx.switches.now())
    const answer = await call(row)
    if (status === 'deferred') expect([answer.status, answer.body.code]).toEqual([410, 'deferred'])
    else if (isPaid(row)) expect([answer.status, answer.body.code]).toEqual([503, 'paused'])
    else expect(['deferred', 'paused']).not.toContain(answer.body?.code)
  })

  test('health lists each of the specification’s rows with its computed status', async () => {
    const switched = market.daemon.ctx.switches.now()
    const { body } = await market.call('GET', '/health')
    expect([body.status, body.paused, body.checkout_v2]).toEqual(['paused', true, true])
    expect(body.endpoints.map((row: { path: string; status: string }) => [row.path, row.status])).toEqual(
      where((row) => showsInHealth(row, switched)).map(([, row]) => [row.path, statusOf(row, switched)]),
    )
  })
})

async function switches(change: { paused_at: number | null; checkout_v2: boolean }): Promise<void> {
  await commit(market.daemon.ctx, (t) => writePlatform(t, change))
  while (market.daemon.ctx.switches.now().paused !== (change.paused_at !== null))
    await new Promise((done) => setTimeout(done, 1))
}

test('the description passes a published validator and has every row', async () => {
  const { Validator } = await import('@seriousme/openapi-schema-validator')
  const { body } = await market.call('GET', '/openapi.json')
  const result = await new Validator().validate(structuredClone(body))
  expect(result.errors ?? []).toEqual([])
  const described = Object.entries<object>(body.paths).flatMap(([path, item]) =>
    Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
  )
  expect(described.sort()).toEqual(rows.map(([, row]) => `${row.method} ${templatePath(row.path)}`).sort())
})
