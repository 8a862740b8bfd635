import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type EventStream, openEventStream } from '../../fixtures/kit/event-stream.ts'
import { type Marketplace, openMarketplace, signPayment } from '../../fixtures/market/marketplace.ts'
import { MAX_WAITERS_PER_CALLER } from './signal.ts'

let market: Marketplace
beforeAll(async () => {
  market = await openMarketplace()
})
afterAll(() => market.close())

async function open(query = ''): Promise<EventStream> {
  const key = (await readFile(join(market.dir, 'admin.key'), 'utf8')).trim()
  return openEventStream(`${market.url()}/dashboard/api/admin/events${query}`, { Authorization: `Bearer ${key}` })
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
  const again = await open(`?cursor=${live[0]?.data.cursor - 1}`)
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

test('what was written together has one transaction, and what came later another', async () => {
  const stream = await open('?cursor=0')
  const seen: { cursor: number; tx: number }[] = []
  for (const _ of [await buy(), await buy()]) seen.push((await stream.next()).data)
  stream.close()
  const txs = seen.map(({ tx }) => tx)
  expect(new Set(txs).size).toBeGreaterThan(1)
  for (const { cursor, tx } of seen) expect(tx).toBeLessThanOrEqual(cursor)
  expect(txs).toEqual(txs.toSorted((a, b) => a - b))
})

test('a look at the head of the stream does not begin it', async () => {
  const key = (await readFile(join(market.dir, 'admin.key'), 'utf8')).trim()
  const url = `${market.url()}/dashboard/api/admin/events`
  for (let times = 0; times <= MAX_WAITERS_PER_CALLER; times += 1) {
    const head = await fetch(url, { method: 'HEAD', headers: { Authorization: `Bearer ${key}` } })
    expect([head.status, head.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
  }
})

test('recent log records are served with filters and hold no credential', async () => {
  await buy()
  const answer = await market.admin('GET', '/dashboard/api/admin/logs?level=error&limit=5')
  expect([answer.status, answer.body.records]).toEqual([200, []])
  const all = await market.admin('GET', '/dashboard/api/admin/logs')
  expect(all.text).not.toMatch(/0x[0-9a-f]{130}|sk_[0-9a-f]{40}|adm_[0-9a-f]{40}/)
})
