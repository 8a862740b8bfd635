import { afterEach, describe, expect, test } from 'vitest'
import { requiredBy } from '../../../fixtures/payments/facilitated.ts'
import { type Facilitator, OTHER_SHOP, openFacilitator, SHOP } from '../../../fixtures/payments/facilitator.ts'
import { MAX_RESOURCES } from './catalogue.ts'
import { facilitatedResources } from './rows.ts'

// @slow it fills a list of 1,000 paid resources

let at: Facilitator
afterEach(() => at.market.close())

async function open(...given: Parameters<typeof openFacilitator>): Promise<void> {
  at = await openFacilitator(...given)
}

describe('what it tells', () => {
  test('kinds, counts by path and result, and settlements by their state', async () => {
    await open()
    const supported = await at.market.call('GET', '/facilitator/supported')
    expect(supported.body).toMatchObject({
      kinds: [
        { x402Version: 2, scheme: 'exact', network: 'eip155:8453' },
        { x402Version: 1, scheme: 'exact', network: 'base' },
      ],
      extensions: ['bazaar'],
    })
    const asked = await at.ask(await at.market.buyer('1.00'))
    await at.verify(asked)
    await at.settle(asked)
    await at.settle(asked)
    await at.settle({ ...asked, x402Version: 9 })
    const figures = (await at.market.admin('GET', '/metrics')).text
    for (const line of [
      '{path="verify",result="ok"} 1',
      '{path="settle",result="ok"} 1',
      '{path="settle",result="duplicate_settlement"} 1',
      '{path="settle",result="version_unsupported"} 1',
    ]) {
      expect(figures).toContain(`souk_facilitator_requests_total${line}`)
    }
    const listed = (state: string) => at.market.admin('GET', `/dashboard/api/admin/facilitator?state=${state}`)
    await expect.poll(async () => (await listed('handed')).body.total).toBe(1)
    const { body } = await listed('handed')
    expect(body).toMatchObject({ enabled: true, keyless: true, url: `${at.market.url()}/facilitator`, total: 1 })
    expect(body.settlements).toMatchObject([{ state: 'handed', seller: 'local', amount: '0.01', x402_version: 2 }])
    expect((await listed('sent')).body.total).toBe(0)
  })

  test('a server that asks for another token, to log, operator and attention, and not only to the buyer', async () => {
    await open()
    const asked = await at.ask(await at.market.buyer('1.00'))
    const asset = `0x${'ab'.repeat(20)}`
    const other = { ...asked, paymentRequirements: { ...asked.paymentRequirements, asset } }
    for (const _ of [1, 2]) expect((await at.verify(other)).body.isValid).toBe(false)
    const { body } = await at.market.admin('GET', '/dashboard/api/admin/facilitator')
    expect(body.wrong_tokens).toMatchObject([{ seller: 'local', fault: 'asset_mismatch', asset, count: 2 }])
    const { items } = (await at.market.admin('GET', '/dashboard/api/admin/attention')).body
    const [item] = items.filter(({ sentence }: { sentence: string }) => sentence.includes(asset))
    expect(item).toMatchObject({ kind: 'chain', fix: 'souk facilitator show' })
    expect(item.sentence).toContain('2 times')
  })

  const bazaar = {
    info: { input: { type: 'http', method: 'GET' } },
    schema: { $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object' },
  }
  /** What the answer to a settlement says of the list; undefined where it says nothing. */
  async function told(extensions: object, resource: object = {}) {
    const asked = await at.ask(await at.market.buyer('1.00'))
    const about = { url: 'https://shop.example/weather', description: 'Weather', mimeType: 'application/json' }
    const paymentPayload = { ...asked.paymentPayload, resource: { ...about, ...resource }, extensions }
    const answer = await at.settle({ ...asked, paymentPayload })
    expect(answer.body.success).toBe(true)
    const header = answer.headers.get('extension-responses')
    return header === null ? undefined : JSON.parse(Buffer.from(header, 'base64').toString()).bazaar
  }
  const listed = async (query = '') => (await at.market.call('GET', `/facilitator/discovery/resources${query}`)).body

  test('what was paid for is on the list where its server declared it, and why it is not', async () => {
    await open()
    expect(await told({})).toBeUndefined()
    expect(await told({ bazaar: {} })).toMatchObject({ status: 'rejected' })
    expect(await told({ bazaar }, { url: 'not an address' })).toMatchObject({ status: 'rejected' })
    expect(await told({ bazaar: { ...bazaar, info: { much: 'x'.repeat(20_000) } } })).toMatchObject({
      status: 'rejected',
    })
    expect(await told({ bazaar })).toEqual({ status: 'success' })
    expect(await told({ bazaar })).toEqual({ status: 'success' })
    const v1 = await at.ask(await at.market.buyer('1.00'), { version: 1, resource: 'https://shop.example/old' })
    const outputSchema = { input: { type: 'http', method: 'GET', discoverable: true } }
    await at.settle({ ...v1, paymentRequirements: { ...v1.paymentRequirements, outputSchema } })
    const { body } = await at.market.call('GET', '/facilitator/discovery/resources?type=http&limit=10')
    expect(body.pagination).toEqual({ limit: 10, offset: 0, total: 2 })
    expect(body.items.map((item: { resource: string }) => item.resource).toSorted()).toEqual([
      'https://shop.example/old',
      'https://shop.example/weather',
    ])
    expect((await at.market.call('GET', `/facilitator/discovery/resources?payTo=${OTHER_SHOP}`)).body.items).toEqual([])
  })

  test('an entry that breaks its own schema, lacks an input, or refers elsewhere does not come onto the list', async () => {
    await open()
    const { info } = bazaar
    const strict = { type: 'object', properties: { input: { required: ['queryParams'] } } }
    const wrong: readonly (readonly [object, RegExp])[] = [
      [{ info, schema: strict }, /does not match bazaar.schema/],
      [{ info: {}, schema: bazaar.schema }, /input/],
      [{ info: { input: { type: 'mcp' } }, schema: bazaar.schema }, /toolName/],
      [{ info, schema: { $ref: 'https://elsewhere.example/schema.json' } }, /external references/],
      [
        { info, schema: { type: 'object', properties: { input: { $ref: 'https://elsewhere.example/' } } } },
        /external references/,
      ],
    ]
    for (const [entry, why] of wrong) {
      expect(await told({ bazaar: entry })).toEqual({ status: 'rejected', rejectedReason: expect.stringMatching(why) })
    }
    expect((await listed()).items).toEqual([])
  })

  test('payments of one route are one entry, whatever their query; a template that is not of the path is left out', async () => {
    await open()
    const weather = (path: string) => ({ url: `https://shop.example${path}`, tags: ['Sky', 'sky', 'rain'] })
    await told({ bazaar }, weather('/weather?city=a'))
    await told({ bazaar }, weather('/weather?city=b'))
    const templated = (routeTemplate: string) => ({ bazaar: { ...bazaar, routeTemplate } })
    await told(templated('/users/:id'), weather('/users/1'))
    await told(templated('/users/:id'), weather('/users/2'))
    for (const bad of ['/others/:id', '/../users/:id', '//elsewhere.example/:id', 'users/:id', '/users/:id/x'])
      await told(templated(bad), weather('/users/3'))
    const { items } = await listed()
    expect(items.map((item: { resource: string }) => item.resource).toSorted()).toEqual([
      'https://shop.example/users/3',
      'https://shop.example/users/:id',
      'https://shop.example/weather',
    ])
    expect(items[0]).toMatchObject({ tags: ['Sky', 'rain'] })
    expect(items[0].extensions.bazaar).not.toHaveProperty('routeTemplate')
  })

  test('tools of one MCP server are entries of their own, and a filter takes a network as the entry names it', async () => {
    await open()
    for (const toolName of ['search', 'fetch', 'search']) {
      const input = { type: 'mcp', toolName, inputSchema: { type: 'object' } }
      await told({ bazaar: { ...bazaar, info: { input } } }, { url: 'mcp://tools.example/server' })
    }
    await told({ bazaar })
    const { items } = await listed('?type=mcp&limit=5000')
    expect(items).toMatchObject([{ type: 'mcp', resource: 'mcp://tools.example/server' }, { type: 'mcp' }])
    expect((await listed('?limit=5000')).pagination).toEqual({ limit: 100, offset: 0, total: 3 })
    expect((await listed('?type=http&network=eip155:8453')).items).toHaveLength(1)
    expect((await listed('?network=base')).items).toEqual([])
  })

  test(`the list holds ${MAX_RESOURCES}: a new one takes the place of the one paid for longest ago`, async () => {
    await open()
    const { store } = at.market.daemon.ctx
    const accepts = requiredBy(at.chain(), { version: 2, payTo: SHOP })
    await store.tx(async (t) => {
      for (let n = 0; n < MAX_RESOURCES; n += 1) {
        await t.table(facilitatedResources).insert({
          id: `row ${n}`,
          x402_version: 2,
          resource: `https://shop.example/${n}`,
          pay_to: SHOP,
          accepts,
          description: '',
          mime_type: '',
          service_name: null,
          tags: [],
          extensions: { bazaar },
          updated_at: n + 1,
        })
      }
    })
    const asked = await at.ask(await at.market.buyer('1.00'), { resource: 'https://shop.example/new' })
    await at.settle({ ...asked, paymentPayload: { ...asked.paymentPayload, extensions: { bazaar } } })
    const page = async (offset: number) =>
      (await at.market.call('GET', `/facilitator/discovery/resources?limit=100&offset=${offset}`)).body
    const [first, last] = [await page(0), await page(MAX_RESOURCES - 100)]
    expect(first.pagination.total).toBe(MAX_RESOURCES)
    expect(first.items[0].resource).toBe('https://shop.example/new')
    expect(last.items.at(-1).resource).toBe('https://shop.example/1')
  })
})
