import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Marketplace, openMarketplace, signPayment } from '../fixtures/marketplace.ts'

let market: Marketplace
beforeAll(async () => {
  market = await openMarketplace()
})
afterAll(() => market.close())

type Seen = { id: string; event: string; data: { cursor: number; type: string; subject: { id: string } } }

async function open(query = ''): Promise<{ next: () => Promise<Seen>; close: () => void }> {
  const key = (await readFile(join(market.dir, 'admin.key'), 'utf8')).trim()
  const leave = new AbortController()
  const response = await fetch(`${market.url()}/dashboard/api/admin/events${query}`, {
    headers: { Authorization: `Bearer ${key}` },
    signal: leave.signal,
  })
  expect(response.headers.get('content-type')).toBe('text/event-stream')
  const frames = framesOf(response.body as ReadableStream<Uint8Array>)
  expect((await frames.next()).value).toContain('event: connected')
  return {
    close: () => leave.abort(),
    next: async () => {
      const frame = (await frames.next()).value as string
      const [id = '', event = '', data = ''] = frame.split('\n').map((line) => line.slice(line.indexOf(': ') + 2))
      return { id, event, data: JSON.parse(data) }
    },
  }
}

async function* framesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let text = ''
  for await (const chunk of body) {
    text += Buffer.from(chunk).toString()
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const frame = text.slice(0, end)
      text = text.slice(end + 2)
      if (!frame.startsWith(':')) yield frame
    }
  }
}

async function buy(): Promise<string> {
  const path = `/v1/services/${await market.serviceId('qr_code')}/purchase`
  const buyer = await market.buyer('1.00')
  const offer = await market.call('POST', path, { body: {} })
  const headers = await signPayment(buyer.account, offer)
  return (await market.call('POST', path, { body: { data: 'x' }, headers })).body.job_id
}

test('what happens is told as it happens, and again from a cursor, after a restart too', async () => {
  const stream = await open()
  const jobs = [await buy(), await buy()]
  const live = [await stream.next(), await stream.next()]
  stream.close()
  expect(live.map(({ event, data }) => [event, data.type, data.subject.id])).toEqual(
    jobs.map((id) => ['job.completed', 'job.completed', id]),
  )
  await market.restart()
  const again = await open('?cursor=0')
  expect([await again.next(), await again.next()]).toEqual(live)
  again.close()
  const second = await open(`?cursor=${live[0]?.id}`)
  expect(await second.next()).toEqual(live[1])
  second.close()
})

test('a stream does not keep the daemon from stopping', async () => {
  const stream = await open()
  await market.restart()
  stream.close()
})

test('recent log records are served with filters and hold no credential', async () => {
  await buy()
  const answer = await market.admin('GET', '/dashboard/api/admin/logs?level=error&limit=5')
  expect([answer.status, answer.body.records]).toEqual([200, []])
  const all = await market.admin('GET', '/dashboard/api/admin/logs')
  expect(all.text).not.toMatch(/0x[0-9a-f]{130}|sk_[0-9a-f]{40}|adm_[0-9a-f]{40}/)
})
