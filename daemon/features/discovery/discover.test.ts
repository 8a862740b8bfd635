import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Answer, type Marketplace, openMarketplace, signPayment } from '../../../fixtures/market/marketplace.ts'
import { type Person, registered, stranger } from '../../../fixtures/market/people.ts'
import { toWallet } from '../../../src/core/hex.ts'
import { commit } from '../../store/draw.ts'
import { services } from '../listings/rows.ts'

let market: Marketplace
let asked: Answer
let buyer: Person
beforeAll(async () => {
  market = await openMarketplace()
  const provider = await registered(market, { type: 'provider' })
  await provider.call('POST', '/v1/services', {
    name: "It's $(here) `now`",
    description: 'A name that a shell would like to run.',
    price: '0.05',
    fulfillment_type: 'automated',
  })
  buyer = await stranger(market)
  asked = await buyer.pay('/v1/discover')
})
afterAll(() => market.close())

type Step = { title: string; request: { method: string; url: string; headers: object; body?: object }; curl: string }
const steps = () => asked.body.guide.steps as Step[]
const stepOf = (title: string) => steps().find((step) => step.title === title) as Step

test('for 0.001 it returns the active catalog as the catalog shows it', async () => {
  const catalog = await market.call('GET', '/v1/services/catalog?limit=100')
  expect([asked.status, asked.body.total, asked.body.next]).toEqual([200, catalog.body.total, null])
  const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1)
  expect(asked.body.services.sort(byId)).toEqual(catalog.body.services.sort(byId))
  const wallet = toWallet(buyer.account.address)
  expect(await market.daemon.ctx.chain.balanceOf(wallet)).toBe(9_999_000n)
})

test('every step of the guide is for this very instance, and in the markdown', () => {
  for (const step of steps()) {
    expect(step.request.url.startsWith(`${market.url()}/v1/`)).toBe(true)
    expect(asked.body.guide_markdown).toContain(step.curl)
  }
})

test('the requests of the guide run as they stand', async () => {
  const send = async ({ request }: Step, headers: Record<string, string> = {}) => {
    const { pathname, search } = new URL(request.url)
    const body = request.body === undefined ? {} : { body: request.body }
    return market.call(request.method, `${pathname}${search}`, { ...body, headers })
  }
  expect((await send(stepOf('Search the catalog'))).status).toBe(200)
  expect((await send(stepOf('Look at a service'))).status).toBe(200)
  const offer = await send(stepOf('Ask for its price'))
  expect(offer.status).toBe(402)
  const bought = await send(stepOf('Buy it'), await signPayment(buyer.account, offer))
  expect([bought.status, bought.body.status]).toEqual([200, 'completed'])
  const price = await send(stepOf('Register'))
  const joined = await send(stepOf('Register'), await signPayment(buyer.account, price))
  expect(joined.status).toBe(200)
  const key = { 'X-API-Key': joined.body.api_key }
  expect((await send(stepOf('See your jobs'), key)).body.total).toBe(1)
  expect((await send(stepOf('List a service of your own'), key)).status).toBe(200)
})

test('its shell lines are well quoted', async () => {
  for (const { curl } of steps()) await promisify(execFile)('sh', ['-n', '-c', curl])
  const { stdout } = await promisify(execFile)('sh', [
    '-c',
    `curl() { printf '%s\\n' "$@"; }; ${stepOf('Buy it').curl}`,
  ])
  expect(stdout.split('\n')).toContain(JSON.stringify(stepOf('Buy it').request.body))
})

test('a catalog of more than 1,000 goes on at next', async () => {
  const { store } = market.daemon.ctx
  const { rows } = await store.table(services).page('status', ['active'], { limit: 1 })
  const [first] = rows
  if (!first) throw new Error('no listing')
  await commit(market.daemon.ctx, async (t, draw) => {
    for (let i = 1; i <= 1_010; i += 1) {
      await t.table(services).insert({ ...first, id: draw.id('service'), listed_at: first.listed_at + i })
    }
  })
  const { body } = await buyer.pay('/v1/discover')
  const { pathname, search } = new URL(body.next)
  const rest = await market.call('GET', `${pathname}${search}`)
  const ids = [...body.services, ...rest.body.services].map((row: { id: string }) => row.id)
  expect([body.services.length, body.total, new Set(ids).size]).toEqual([1_000, ids.length, ids.length])
})
