import { expect, test } from 'vitest'
import { openMarketplace } from '../../fixtures/market/marketplace.ts'
import { registered } from '../../fixtures/market/people.ts'
import { load as outside } from '../../fixtures/outside/load.ts'

const NAME = 'service.created'

test('an unmodified EventSource that lost its connection misses no named event, and sees none twice', async () => {
  const { EventSource } = await outside('eventsource')
  const market = await openMarketplace()
  const provider = await registered(market, { type: 'provider' })
  const list = async () => {
    const body = { name: 'Word count', description: 'Counts words.', price: '0.50', fulfillment_type: 'human' }
    return (await provider.call('POST', '/v1/services', body)).body.id as string
  }
  const resumed: (string | null)[] = []
  const seen: string[] = []
  let cut: ((reason: Error) => void) | undefined
  const source = new EventSource(`${market.url()}/v1/events`, {
    fetch: async (url: string, init: RequestInit) => {
      const headers = new Headers({ ...init.headers, 'X-API-Key': provider.key })
      resumed.push(headers.get('last-event-id'))
      const response = await fetch(url, { ...init, headers })
      const line = new TransformStream({
        start(end) {
          cut = (reason) => end.error(reason)
        },
      })
      const body = response.body?.pipeThrough(line) ?? null
      return { status: response.status, url: response.url, redirected: false, headers: response.headers, body }
    },
  })
  source.addEventListener(NAME, ({ data }: { data: string }) => seen.push(JSON.parse(data).subject.id))
  const has = async (count: number) => {
    while (seen.length < count) await new Promise((resolve) => setTimeout(resolve, 10))
  }
  try {
    const ids = [await list(), await list()]
    await has(2)
    cut?.(new TypeError('terminated'))
    ids.push(await list())
    await has(3)
    expect(seen).toEqual(ids)
    expect(resumed).toEqual([null, expect.stringMatching(/^\d+$/)])
  } finally {
    source.close()
    await market.close()
  }
})
