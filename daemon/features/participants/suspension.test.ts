import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { credit } from '../../../fixtures/kit/money.ts'
import type { Answer } from '../../../fixtures/market/marketplace.ts'
import { type Person, registered } from '../../../fixtures/market/people.ts'
import { openPlans, PERIOD, type Plans, START } from '../../../fixtures/market/plans.ts'
import { BID, wanted } from '../../../fixtures/market/postings.ts'
import { product as makeProduct } from '../../../fixtures/market/products.ts'
import { api } from '../../../src/api/index.ts'
import { DAY_MS } from '../../../src/core/time.ts'
import { runDueWork } from '../../crons/due-work.ts'
import { events } from '../../events/rows.ts'
import { participants } from '../../kernel/rows.ts'
import { commit } from '../../store/draw.ts'
import { readListing } from '../listings/input.ts'
import { addListing } from '../listings/write.ts'
import { postingWork } from '../postings/posting-notify-retries.ts'
import { insertPosting } from '../postings/routes.ts'
import { periodStart } from '../subscriptions/periods.ts'

/* What becomes of all that a participant offers, sells and asks for while an administrator has suspended it. */

const listed = { name: 'Other', description: 'Does it too.', price: '1.00', fulfillment_type: 'human' }
const END = periodStart(START, 'monthly', 1)
let plans: Plans
/** Sells, and asks for work itself. */
let shop: Person
let buyer: Person
let service: string
let quiet: string
let plan: string
let product: string
let draft: string
let withdrawn: string
let posting: string

beforeAll(async () => {
  plans = await openPlans()
  shop = plans.provider
  buyer = await plans.agent('90.00')
  service = await plans.list('human')
  quiet = await plans.list('human')
  await must(shop.call('PUT', `/v1/services/${quiet}`, { status: 'inactive' }))
  plan = await plans.plan([service])
  product = (await makeProduct(plans.market, shop)).body.id
  withdrawn = (await makeProduct(plans.market, shop)).body.id
  await must(shop.call('PUT', `/v1/products/${withdrawn}`, { status: 'inactive' }))
  draft = (await must(shop.call('POST', '/v1/products', { name: 'Half a book', price: '1.00' }))).body.id
  posting = (await must(shop.call('POST', '/v1/postings', wanted))).body.id
})
afterEach(async () => {
  plans.at(START)
  await suspend(shop, false)
})
afterAll(async () => {
  expect(await plans.faults()).toEqual([])
  await plans.close()
})

async function must(asked: Promise<Answer>): Promise<Answer> {
  const answer = await asked
  if (answer.status !== 200) throw new Error(answer.text)
  return answer
}

async function suspend(who: Person, suspended: boolean): Promise<void> {
  const path = `/dashboard/api/admin/participants/${who.id}`
  await must(plans.market.admin('PUT', path, { body: { suspended, reason: 'a look' } }))
}

const read = async (path: string) => (await plans.market.call('GET', path)).body
const fromBalance = (path: string, body: object = {}, who = buyer) =>
  plans.market.call('POST', path, { body, headers: { 'X-BALANCE-AUTH': who.key } })
const said = ({ status, body }: Answer) => [status, body.code]

/** What a stranger finds of the shop, as it was at first. */
async function shown() {
  const of = async (path: string, name: string) => {
    const rows: { id: string }[] = (await read(path))[name]
    return rows
      .map(({ id }) => id)
      .filter((id) => [service, quiet, plan, product, withdrawn, draft, posting].includes(id))
  }
  return {
    services: await of(`/v1/services/catalog?provider=${shop.id}`, 'services'),
    plans: [await of('/v1/plans', 'plans'), await of(`/v1/plans?provider=${shop.id}`, 'plans')],
    products: [await of('/v1/products', 'products'), await of(`/v1/products?provider=${shop.id}`, 'products')],
    postings: [await of('/v1/postings', 'postings'), await of('/v1/postings?q=manual&status=open', 'postings')],
  }
}

describe('what a suspended participant offers', () => {
  test('is listed no more, and all of it is back afterwards, but what its owner had taken down', async () => {
    const all = {
      services: [service],
      plans: [[plan], [plan]],
      products: [[product], [product]],
      postings: [[posting], [posting]],
    }
    expect(await shown()).toEqual(all)
    for (let times = 0; times < 2; times += 1) {
      await suspend(shop, true)
      await suspend(shop, true)
      expect(await shown()).toEqual({ services: [], plans: [[], []], products: [[], []], postings: [[], []] })
      await suspend(shop, false)
      expect(await shown()).toEqual(all)
    }
    expect((await read(`/v1/services/${quiet}`)).status).toBe('inactive')
    expect((await read(`/v1/products/${withdrawn}`)).status).toBe('inactive')
    expect((await shop.call('GET', `/v1/products/${draft}`)).body.status).toBe('draft')
  })

  test('is the same after a restart', async () => {
    await suspend(shop, true)
    await plans.market.restart()
    expect(await shown()).toEqual({ services: [], plans: [[], []], products: [[], []], postings: [[], []] })
    await suspend(shop, false)
    await plans.market.restart()
    expect((await shown()).postings).toEqual([[posting], [posting]])
  })

  test('is inactive to who knows its id, and its requests are not there', async () => {
    await suspend(shop, true)
    const paths = [`/v1/services/${service}`, `/v1/plans/${plan}`, `/v1/products/${product}`]
    for (const path of paths) expect(await read(path)).toMatchObject({ status: 'inactive' })
    expect((await read(`/v1/plans/${plan}`)).services).toMatchObject([{ service_id: service, status: 'inactive' }])
    expect(said(await plans.market.call('GET', `/v1/postings/${posting}`))).toEqual([404, 'not_found'])
    expect((await shop.call('GET', '/v1/products?mine=true')).body.total).toBe(3)
    expect((await shop.call('GET', `/v1/postings/${posting}/bids`)).status).toBe(200)
  })

  const sales: [name: string, path: () => string, body: object, refused: [number, string]][] = [
    ['a service', () => `/v1/services/${service}/purchase`, { text: 'a b' }, [404, 'not_found']],
    ['a plan', () => `/v1/plans/${plan}/subscribe`, {}, [409, 'invalid_transition']],
    ['a product', () => `/v1/products/${product}/purchase`, {}, [404, 'not_found']],
  ]
  test.each(sales)('%s is sold to nobody: refused before the 402, and nothing is charged', async (...sale) => {
    const [, path, body, refused] = sale
    await suspend(shop, true)
    const before = await plans.balance(buyer)
    expect(said(await plans.market.call('POST', path()))).toEqual(refused)
    expect(said(await fromBalance(path(), body))).toEqual(refused)
    expect(await plans.balance(buyer)).toBe(before)
    await suspend(shop, false)
    expect((await plans.market.call('POST', path())).status).toBe(402)
  })

  test('is nothing new: what was let in before the suspension is refused when it would be written', async () => {
    const ctx = plans.ctx()
    const before = await ctx.store.table(participants).get(shop.id)
    if (!before) throw new Error('no shop')
    await suspend(shop, true)
    const now = ctx.clock.now()
    const body = api.createPosting.body.schema.parse(wanted)
    const fields = readListing(api.createService.body.schema.parse(listed))
    const late = [
      commit(ctx, (t, draw) => insertPosting(t, draw, { body, poster: before, now })),
      commit(ctx, (t, draw) => addListing(t, draw, { provider: before, fields, now })),
    ]
    for (const one of late) await expect(one).rejects.toMatchObject({ code: 'forbidden' })
  })
})

test('who bought a product has it for good', async () => {
  const { body } = await must(fromBalance(`/v1/products/${product}/purchase`))
  await suspend(shop, true)
  const { status, text } = await buyer.call('GET', new URL(body.download_url).pathname)
  expect([status, text]).toEqual([200, 'a whole book'])
})

describe('a price that was offered', () => {
  test('is accepted only when its provider is back', async () => {
    const asked = await must(buyer.pay(`/v1/services/${service}/inquire`, { body: { brief: 'How much?' } }))
    const path = `/v1/threads/${asked.body.thread_id}`
    await must(shop.call('POST', `${path}/propose`, { price: '2.00' }))
    await suspend(shop, true)
    expect(said(await plans.market.call('POST', `${path}/accept`))).toEqual([409, 'conflict'])
    const before = await plans.balance(buyer)
    expect(said(await fromBalance(`${path}/accept`))).toEqual([409, 'conflict'])
    expect(await plans.balance(buyer)).toBe(before)
    await suspend(shop, false)
    expect((await fromBalance(`${path}/accept`)).status).toBe(200)
  })
})

describe('requests', () => {
  test('of the suspended take no bid and no award, and their bidders may still go', async () => {
    const bidder = await registered(plans.market, { type: 'provider' })
    const own = await must(bidder.call('POST', '/v1/services', listed))
    const bid = { ...BID, service_id: own.body.id }
    const placed = await must(bidder.call('POST', `/v1/postings/${posting}/bids`, bid))
    await suspend(shop, true)
    const paths = `/v1/postings/${posting}`
    expect(said(await plans.market.call('POST', `${paths}/award`))).toEqual([404, 'not_found'])
    expect(said(await shop.pay(`${paths}/award`, { body: { bid_id: placed.body.id } }))).toEqual([404, 'not_found'])
    expect(said(await fromBalance(`${paths}/award`, { bid_id: placed.body.id }, shop))).toEqual([403, 'forbidden'])
    const other = await registered(plans.market, { type: 'provider' })
    expect(said(await other.call('POST', `${paths}/bids`, bid))).toEqual([404, 'not_found'])
    expect((await bidder.call('DELETE', `${paths}/bids/${placed.body.id}`)).body.status).toBe('withdrawn')
  })

  test('of others do not go to the suspended, and do when it is back', async () => {
    const asked = (await must(buyer.call('POST', '/v1/postings', wanted))).body.id
    const bid = (await must(shop.call('POST', `/v1/postings/${asked}/bids`, { ...BID, service_id: service }))).body.id
    const award = () => fromBalance(`/v1/postings/${asked}/award`, { bid_id: bid })
    await suspend(shop, true)
    expect(said(await award())).toEqual([409, 'conflict'])
    await suspend(shop, false)
    expect((await award()).status).toBe(200)
  })

  test('age out of sight: what has expired meanwhile does not come back, and can be read', async () => {
    const deadline = new Date(START + DAY_MS).toISOString()
    const brief = (await must(shop.call('POST', '/v1/postings', { ...wanted, deadline }))).body.id
    await suspend(shop, true)
    plans.at(START + DAY_MS)
    const ctx = plans.ctx()
    await runDueWork(postingWork, { ctx, now: ctx.clock.now(), signal: new AbortController().signal })
    expect((await read(`/v1/postings/${brief}`)).status).toBe('expired')
    await suspend(shop, false)
    const open: { id: string }[] = (await read('/v1/postings?status=open')).postings
    expect(open.map(({ id }) => id)).not.toContain(brief)
  })

  test('are told to their poster as suspended and reinstated', async () => {
    await suspend(shop, true)
    await suspend(shop, false)
    const { rows } = await plans.ctx().store.table(events).page('own', [shop.id], { limit: 4, order: 'desc' })
    expect(rows.map(({ type }) => type)).toContain('posting.reinstated')
  })
})

describe('a subscription', () => {
  const act = (who: Person, id: string, name: string) => who.call('POST', `/v1/subscriptions/${id}/${name}`, {})

  test('has no service while the provider is suspended, costs nothing, and goes on when its subscriber says so', async () => {
    const who = await plans.agent()
    const id = await plans.subscribed(plan, who)
    await credit(plans.market, who.id, '1.05')
    await suspend(shop, true)
    expect(said(await who.call('POST', `/v1/services/${service}/purchase`, { text: 'a' }))).toEqual([404, 'not_found'])
    plans.at(END)
    await plans.renew()
    expect(await plans.row(id)).toMatchObject({ status: 'paused', charges: 1, failures: 0, next_event: null })
    expect(await plans.balance(who)).toBe(PERIOD.agent)
    expect(said(await act(who, id, 'resume'))).toEqual([409, 'conflict'])
    await suspend(shop, false)
    plans.at(END + 9 * DAY_MS)
    await plans.renew()
    expect(await plans.balance(who)).toBe(PERIOD.agent)
    await must(act(who, id, 'resume'))
    await plans.renew()
    expect(await plans.row(id)).toMatchObject({ status: 'active', charges: 2, current_period_start: END + 9 * DAY_MS })
    expect(await plans.balance(who)).toBe(0n)
    expect((await who.call('POST', `/v1/services/${service}/purchase`, { text: 'a' })).status).toBe(200)
  })

  test('of which nothing falls due meanwhile notices nothing', async () => {
    const who = await plans.agent()
    const id = await plans.subscribed(plan, who)
    await credit(plans.market, who.id, '1.05')
    await suspend(shop, true)
    await plans.renew()
    await suspend(shop, false)
    plans.at(END)
    await plans.renew()
    expect(await plans.row(id)).toMatchObject({ status: 'active', charges: 2, current_period_start: END })
  })

  test('that is past due is asked for no more, and does not expire', async () => {
    const who = await plans.agent()
    const id = await plans.subscribed(plan, who)
    plans.at(END)
    await plans.renew()
    expect((await plans.row(id)).status).toBe('past_due')
    await suspend(shop, true)
    for (const days of [1, 2, 3, 4]) {
      plans.at(END + days * DAY_MS)
      await plans.renew()
    }
    expect(await plans.row(id)).toMatchObject({ status: 'paused', charges: 1, failures: 0, past_due_since: null })
    expect((await act(who, id, 'cancel')).body.status).toBe('canceled')
  })

  test('that was to end, or was paused before, does so', async () => {
    const [leaving, resting] = [await plans.agent(), await plans.agent()]
    const [ends, rests] = [await plans.subscribed(plan, leaving), await plans.subscribed(plan, resting)]
    await must(act(leaving, ends, 'cancel'))
    await must(act(resting, rests, 'pause'))
    await suspend(shop, true)
    plans.at(END)
    await plans.renew()
    expect([(await plans.row(ends)).status, (await plans.row(rests)).status]).toEqual(['canceled', 'paused'])
  })
})
