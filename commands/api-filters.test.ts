import { afterAll, beforeAll, expect, test } from 'vitest'
import { openRemoteMarket, type RemoteMarket } from '../fixtures/kit/remote-market.ts'

let shop: RemoteMarket
beforeAll(async () => {
  shop = await openRemoteMarket()
})
afterAll(() => shop.market.close())

test('a slip in a filter is refused before anything is sent, and not answered as if it was none', async () => {
  const { code, out, err } = await shop.souk(['api', 'getCatalog', '-f', 'categry=text'])
  expect([code, out, err]).toEqual([2, '', expect.stringMatching(/no filter categry.*did you mean category/)])
  expect((await shop.souk(['api', 'getCatalog', '-f', 'category=text', '-F', 'limit=1'])).code).toBe(0)
})
