import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Marketplace, openMarketplace } from '../../../fixtures/market/marketplace.ts'
import { type Person, registered } from '../../../fixtures/market/people.ts'
import { events } from '../../events/rows.ts'
import { services } from '../listings/rows.ts'

let market: Marketplace
let provider: Person
let agent: Person
beforeAll(async () => {
  market = await openMarketplace()
  provider = await registered(market, { type: 'provider', name: 'Counters' })
  agent = await registered(market, { type: 'agent' })
})
afterAll(() => market.close())

const body = {
  name: 'Word count',
  description: 'Counts the words of a text.',
  price: '0.50',
  pricing_model: 'fixed',
  fulfillment_type: 'instant',
  estimated_delivery: '2 seconds',
  category: 'text',
  tags: ['words'],
  input_schema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  deliverable_schema: { words: { type: 'object', properties: { count: { type: 'integer' } }, required: ['count'] } },
}

const create = (change: object = {}) => provider.call('POST', '/v1/services', { ...body, ...change })
const detail = (id: string) => market.call('GET', `/v1/services/${id}`)
const foundBy = async (query: string) => {
  const page = await market.call('GET', `/v1/services/catalog?provider=${provider.id}&limit=100&${query}`)
  return page.body.services.map((row: { id: string }) => row.id) as string[]
}

describe('POST /v1/services', () => {
  test('lists a service as it was described, with the price that buyers pay', async () => {
    const created = await create()
    expect(created.status).toBe(200)
    expect(created.body).toMatchObject({
      ...body,
      price: { fixed: '$0.50' },
      agent_price: { fixed: '$0.525' },
      provider_net_price: { fixed: '$0.50' },
      provider_id: provider.id,
      provider_name: 'Counters',
      service_type: 'data_api',
      status: 'active',
      endpoint: `POST /v1/services/${created.body.id}/purchase`,
      webhook_url: null,
      webhook_healthy: false,
    })
    const { webhook_url: _, ...shown } = created.body
    expect((await detail(created.body.id)).body).toEqual(shown)
  })

  test.each([
    { given: '0.25', shown: '$0.25' },
    { given: '$0.25', shown: '$0.25' },
    { given: 0.25, shown: '$0.25' },
    { given: { fixed: '0.25' }, shown: '$0.25' },
    { given: { fixed: 10000 }, shown: '$10000.00' },
    { given: '0.001', shown: '$0.001' },
  ])('reads the price $given', async ({ given, shown }) => {
    expect((await create({ price: given })).body.price).toEqual({ fixed: shown })
  })

  test.each([
    { given: { fulfillment_type: 'instant' }, read: ['instant', 'data_api'] },
    { given: { fulfillment_type: 'automated' }, read: ['automated', 'automated_service'] },
    { given: { fulfillment_type: 'async' }, read: ['automated', 'automated_service'] },
    { given: { fulfillment_type: 'human' }, read: ['human', 'human_service'] },
    { given: { fulfillment_type: 'human', service_type: 'data_api' }, read: ['human', 'data_api'] },
  ])('reads $given', async ({ given, read }) => {
    const created = await create(given)
    expect([created.body.fulfillment_type, created.body.service_type]).toEqual(read)
  })

  test('quote_required needs no price: it has none, price filters leave it out, purchase points to inquire', async () => {
    const { price: _, ...unpriced } = body
    const created = await provider.call('POST', '/v1/services', { ...unpriced, pricing_model: 'quote_required' })
    const { id } = created.body
    expect([created.status, created.body.price, created.body.agent_price]).toEqual([
      200,
      { fixed: null },
      { fixed: null },
    ])
    expect(await foundBy('sort=newest')).toContain(id)
    expect(await foundBy('min_price=0')).not.toContain(id)
    const bought = await market.call('POST', `/v1/services/${id}/purchase`)
    expect([bought.status, bought.body.code]).toEqual([409, 'quote_required'])
  })

  test('the older form is shown where it is asked for', async () => {
    const created = await create({ form: 'older' })
    const shown = (await detail(created.body.id)).body
    expect([shown.provider_reputation, shown.provider_is_new, shown.service_reputation]).toEqual([75, true, undefined])
  })

  test('an instant listing that nothing fulfils is 503 before any 402', async () => {
    const { id } = (await create()).body
    const bought = await agent.pay(`/v1/services/${id}/purchase`, { body: { text: 'a b' } })
    expect([bought.status, bought.body.code]).toEqual([503, 'unavailable'])
  })

  test.each([
    { at: 'name', change: { name: ' ' } },
    { at: 'name', change: { name: 'x'.repeat(101) } },
    { at: 'description', change: { description: undefined } },
    { at: 'price', change: { price: undefined } },
    { at: 'price', change: { price: '0.0005' } },
    { at: 'price', change: { price: '10000.001' } },
    { at: 'price', change: { price: -1 } },
    { at: 'price', change: { price: ['1'] } },
    { at: 'price.fixed', change: { price: { fixed: '1e3' } } },
    { at: 'fulfillment_type', change: { fulfillment_type: 'magic' } },
    { at: 'service_type', change: { service_type: 'magic' } },
    { at: 'tags.0', change: { tags: [''] } },
    { at: 'input_schema', change: { input_schema: [] } },
    { at: 'input_schema.type', change: { input_schema: { type: 'array' } } },
    {
      at: 'input_schema.properties.a.$ref',
      change: { input_schema: { properties: { a: { $ref: 'https://x.example/' } } } },
    },
    { at: 'input_schema.properties.a.pattern', change: { input_schema: { properties: { a: { pattern: '(a)\\1' } } } } },
    { at: 'deliverable_schema.type', change: { deliverable_schema: { type: 'word' } } },
    { at: 'webhook_url', change: { webhook_url: 'http://example.com/' } },
    { at: 'webhook_url', change: { webhook_url: 'http://[::2]/' } },
    { at: 'status', change: { status: 'active' } },
    { at: 'first_party_slug', change: { first_party_slug: 'qr_code' } },
  ])('a bad $at is a 400 that names it: $change', async ({ at, change }) => {
    const before = await foundBy('sort=newest')
    const refused = await create(change)
    expect([refused.status, refused.body.code, refused.body.details[0].path]).toEqual([400, 'invalid_request', at])
    expect(await foundBy('sort=newest')).toEqual(before)
  })

  test('only providers may list', async () => {
    const refused = await agent.call('POST', '/v1/services', body)
    expect([refused.status, refused.body.code]).toEqual([403, 'forbidden'])
  })
})

describe('PUT /v1/services/{id}', () => {
  test.each([
    { change: { price: '0.75' }, shown: { price: { fixed: '$0.75' }, agent_price: { fixed: '$0.788' } } },
    { change: { name: 'New', tags: [] }, shown: { name: 'New', tags: [], description: body.description } },
    {
      change: { fulfillment_type: 'async' },
      shown: { fulfillment_type: 'automated', service_type: 'automated_service' },
    },
    { change: { pricing_model: 'quote_required', price: null }, shown: { price: { fixed: null } } },
    {
      change: { webhook_url: 'https://counters.example/hook' },
      shown: { webhook_healthy: false, webhook_status: 'not_tried' },
    },
    { change: { form: 'older' }, shown: { provider_reputation: 75 } },
    { change: { status: 'inactive' }, shown: { status: 'inactive' } },
    { change: {}, shown: { name: body.name, price: { fixed: '$0.50' }, status: 'active' } },
  ])('$change', async ({ change, shown }) => {
    const { id } = (await create()).body
    const changed = await provider.call('PUT', `/v1/services/${id}`, change)
    expect([changed.status, changed.body]).toEqual([200, expect.objectContaining(shown)])
    expect((await detail(id)).body).toMatchObject(shown)
  })

  test('an inactive listing is out of the catalog and cannot be bought, until it is active again', async () => {
    const { id } = (await create()).body
    await provider.call('PUT', `/v1/services/${id}`, { status: 'inactive' })
    expect(await foundBy('sort=newest')).not.toContain(id)
    expect((await market.call('POST', `/v1/services/${id}/purchase`)).status).toBe(404)
    await provider.call('PUT', `/v1/services/${id}`, { status: 'active' })
    expect(await foundBy('sort=newest')).toContain(id)
  })

  test.each([
    { at: 'price', change: { price: null } },
    { at: 'price', change: { price: '0' } },
    { at: 'status', change: { status: 'deleted' } },
    { at: 'input_schema.type', change: { input_schema: { type: 'string' } } },
    { at: 'provider_id', change: { provider_id: 'p_0000000000000000' } },
  ])('a bad $at is a 400 that names it, and nothing changes: $change', async ({ at, change }) => {
    const { id } = (await create()).body
    const before = (await detail(id)).body
    const refused = await provider.call('PUT', `/v1/services/${id}`, { name: 'New', ...change })
    expect([refused.status, refused.body.details[0].path]).toEqual([400, at])
    expect((await detail(id)).body).toEqual(before)
  })
})

describe('DELETE /v1/services/{id}', () => {
  test('keeps the row as deleted; the listing is gone for everyone', async () => {
    const { id } = (await create()).body
    const path = `/v1/services/${id}`
    const deleted = await provider.call('DELETE', path)
    expect([deleted.status, deleted.body]).toEqual([200, { id, service_id: id, deleted: true }])
    expect(await foundBy('sort=newest')).not.toContain(id)
    expect((await market.daemon.ctx.store.table(services).get(id))?.status).toBe('deleted')
    const after = [
      detail(id),
      provider.call('DELETE', path),
      provider.call('PUT', path, { name: 'Back' }),
      market.call('POST', `${path}/purchase`),
    ]
    expect((await Promise.all(after)).map((answer) => answer.status)).toEqual([404, 404, 404, 404])
  })
})

test.each(['PUT', 'DELETE'])('%s is for the owner only', async (method) => {
  const { id } = (await create()).body
  const other = await registered(market, { type: 'both' })
  const change = method === 'PUT' ? { name: 'Mine' } : undefined
  const answers = [
    other.call(method, `/v1/services/${id}`, change),
    agent.call(method, `/v1/services/${id}`, change),
    other.call(method, `/v1/services/${await market.serviceId('qr_code')}`, change),
    other.call(method, '/v1/services/svc_0000000000000000', change),
    market.call(method, `/v1/services/${id}`, change ? { body: change } : {}),
  ]
  expect((await Promise.all(answers)).map(({ status, body: { code } }) => [status, code])).toEqual([
    [403, 'forbidden'],
    [403, 'forbidden'],
    [403, 'forbidden'],
    [404, 'not_found'],
    [401, 'unauthorized'],
  ])
  expect((await detail(id)).body.name).toBe(body.name)
})

describe('the catalog', () => {
  test('shows each write to whoever reads right after it, over pages that were finished before', async () => {
    const name = (at: number) => `zebra number ${at}`
    const search = async () => (await market.call('GET', '/v1/services/catalog?q=zebra')).body
    for (let at = 0; at < 10; at += 1) {
      expect((await search()).total).toBe(0)
      const { id } = (await create({ name: name(at) })).body
      expect((await search()).services.map((row: { name: string }) => row.name)).toEqual([name(at)])
      await provider.call('PUT', `/v1/services/${id}`, { name: `zebra renamed ${at}` })
      expect((await search()).services.map((row: { name: string }) => row.name)).toEqual([`zebra renamed ${at}`])
      await provider.call('DELETE', `/v1/services/${id}`)
    }
  })

  test('is the same after a restart', async () => {
    const before = await foundBy('sort=price_asc')
    await market.restart()
    expect(await foundBy('sort=price_asc')).toEqual(before)
  })
})

test('the provider hears of each write', async () => {
  const { id } = (await create()).body
  await provider.call('PUT', `/v1/services/${id}`, { status: 'inactive' })
  await provider.call('DELETE', `/v1/services/${id}`)
  const { rows } = await market.daemon.ctx.store.table(events).page('own', [provider.id], { limit: 3, order: 'desc' })
  expect(rows.map((row) => [row.type, row.subject_id, row.data['status']])).toEqual([
    ['service.deleted', id, 'deleted'],
    ['service.updated', id, 'inactive'],
    ['service.created', id, 'active'],
  ])
})
