import { hash } from 'node:crypto'
import { load } from 'cheerio'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Marketplace, openMarketplace } from '../../../fixtures/market/marketplace.ts'

let market: Marketplace
beforeAll(async () => {
  market = await openMarketplace()
})
afterAll(() => market.close())

test('the reference page is whole in itself, and its policy allows exactly the scripts in it', async () => {
  const { text, headers } = await market.call('GET', '/docs')
  expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
  const page = load(text)
  const scripts = page('script').toArray()
  expect(scripts.map(({ attribs }) => attribs)).toEqual([{}, {}])
  const policy = page('meta[http-equiv]').attr('content')
  for (const script of scripts) expect(policy).toContain(`'sha256-${hash('sha256', page(script).text(), 'base64')}'`)
  expect(page('link, img, iframe').length).toBe(0)
  expect(page('script').last().text()).toMatch(/^SwaggerUIBundle\(.*"url":"\/openapi.json"/)
})

test('it is sent once to who keeps it', async () => {
  const { headers } = await market.call('GET', '/docs')
  const again = await market.call('GET', '/docs', { headers: { 'If-None-Match': headers.get('etag') as string } })
  expect(again.status).toBe(304)
})
