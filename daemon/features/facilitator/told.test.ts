import { afterEach, describe, expect, test } from 'vitest'
import { requiredBy } from '../../../fixtures/payments/facilitated.ts'
import { type Facilitator, OTHER_SHOP, openFacilitator, SHOP } from '../../../fixtures/payments/facilitator.ts'
import { MAX_RESOURCES } from './catalogue.ts'
import { facilitatedResources } from './rows.ts'

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

  const bazaar = {
    info: { input: { type: 'http', method: 'GET' } },
    schema: { $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object' },
  }

  test('what was paid for is on the list where its server declared it, and why it is not', async () => {
    await open()
    const buyer = await at.market.buyer('1.00')
    const told = async (extensions: object, url = 'https://shop.example/weather') => {
      const asked = await at.ask(buyer)
      const resource = { url, description: 'Weather', mimeType: 'application/json', tags: ['sky'] }
      const answer = await at.settle({ ...asked, paymentPayload: { ...asked.paymentPayload, resource, extensions } })
      expect(answer.body.success).toBe(true)
      const header = answer.headers.get('extension-responses')
      return header === null ? undefined : JSON.parse(Buffer.from(header, 'base64').toString()).bazaar
    }
    expect(await told({})).toBeUndefined()
    expect(await told({ bazaar: {} })).toMatchObject({ status: 'rejected' })
    expect(await told({ bazaar }, 'not an address')).toMatchObject({ status: 'rejected' })
    expect(await told({ bazaar: { ...bazaar, info: { much: 'x'.repeat(20_000) } } })).toMatchObject({
      status: 'rejected',
    })
    expect(await told({ bazaar })).toEqual({ status: 'success' })
    expect(await told({ bazaar })).toEqual({ status: 'success' })
    const v1 = await at.ask(buyer, { version: 1, resource: 'https://shop.example/old' })
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
