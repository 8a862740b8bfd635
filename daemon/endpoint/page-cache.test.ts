import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Marketplace, openMarketplace } from '../../fixtures/market/marketplace.ts'
import { services } from '../features/listings/rows.ts'

let market: Marketplace
beforeAll(async () => {
  market = await openMarketplace()
})
afterAll(() => market.close())

const path = '/v1/services/catalog?q=qr'

async function rename(name: string): Promise<void> {
  const id = await market.serviceId('qr_code')
  await market.daemon.ctx.store.tx(async (t) => {
    const row = await t.table(services).getForUpdate(id)
    if (row) await t.table(services).put({ ...row, name })
  })
}

test('a finished page is the same for everyone, headers of the request included', async () => {
  const first = await market.call('GET', path)
  const again = await market.call('GET', path, { headers: { Origin: 'https://elsewhere.example' } })
  expect(again.text).toBe(first.text)
  expect(again.headers.get('access-control-allow-origin')).toBe('*')
  expect(first.headers.get('access-control-allow-origin')).toBeNull()
  expect(again.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'))
  const head = await market.call('HEAD', path)
  expect([head.status, head.text]).toEqual([200, ''])
  expect(head.headers.get('etag')).toBe(first.headers.get('etag'))
  const posted = await market.call('POST', path)
  expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS'])
})

test('a finished page is gone when a listing has changed', async () => {
  expect((await market.call('GET', path)).body.services[0].name).not.toBe('QR codes of old')
  await rename('QR codes of old')
  await expect.poll(async () => (await market.call('GET', path)).body.services[0].name).toBe('QR codes of old')
})

test('a refused query is no page', async () => {
  for (const _ of [1, 2]) expect((await market.call('GET', `${path}&limit=0`)).status).toBe(400)
})
