import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runOf } from '../../fixtures/kit/crash.ts'
import { openEventStream } from '../../fixtures/kit/event-stream.ts'
import { type Escrow, openEscrow } from '../../fixtures/market/escrow.ts'
import type { Answer } from '../../fixtures/market/marketplace.ts'
import { type Person, registered } from '../../fixtures/market/people.ts'
import { DAY_MS } from '../../src/core/time.ts'
import { housekeeping } from '../features/operator/housekeeping.ts'
import { events } from './rows.ts'
import { eventSignal, MAX_WAITERS_PER_CALLER } from './signal.ts'

let market: Escrow
let remote: Person
let service: string
beforeAll(async () => {
  market = await openEscrow()
  remote = await registered(market.market, { type: 'provider' })
  service = (await remote.call('POST', '/v1/services', listed('automated'))).body.id
})
afterAll(() => market.close())

const listed = (fulfillment_type: string) => ({
  name: 'Word count',
  description: 'Counts words.',
  price: '0.50',
  estimated_delivery: '1 hour',
  fulfillment_type,
})
const read = (who: Person, query = '') => who.call('GET', `/v1/events${query}`)
const buyer = () => market.agent({ balance: '5.00' })
const typesOf = (answer: Answer) => answer.body.events.map((event: { type: string }) => event.type)

async function buy(who: Person, text = 'a b c'): Promise<string> {
  const bought = await market.buy(service, who, { from: 'balance', body: { text } })
  if (bought.status !== 200) throw new Error(bought.text)
  return bought.body.job_id
}

/** What the log holds of somebody, read without the row. */
async function logged(who: Person): Promise<string[]> {
  const page = await market.ctx().store.table(events).page('seq', [], { limit: 1_000 })
  return page.rows.filter((row) => row.participant_id === who.id).map((row) => row.id)
}

/** Everything from a cursor on, page by page. */
async function walk(who: Person, query: string): Promise<{ ids: string[]; cursor: string }> {
  const ids: string[] = []
  let cursor = ''
  for (;;) {
    const { body } = await read(who, `?limit=2${query}${cursor && `&cursor=${cursor}`}`)
    ids.push(...body.events.map((event: { id: string }) => event.id))
    if (body.next_cursor === cursor) return { ids, cursor }
    cursor = body.next_cursor
  }
}

test('a provider without an endpoint finds in its events what an endpoint would be sent', async () => {
  const ada = await buyer()
  const job = await buy(ada, 'grüß dich')
  const { body } = await read(remote, '?types=job.*')
  const event = body.events.at(-1)
  const { thread_id } = (await ada.call('GET', `/v1/jobs/${job}`)).body
  expect(event).toMatchObject({
    type: 'job.dispatched',
    subject: { kind: 'job', id: job },
    data: {
      job_id: job,
      service_id: service,
      service_name: 'Word count',
      status: 'dispatched',
      amount: '0.525',
      brief: { text: 'grüß dich' },
      callback_url: `/v1/threads/${thread_id}/update`,
      thread_id,
    },
  })
  const delivered = await remote.call('POST', event.data.callback_url, {
    status: 'completed',
    deliverables: { words: 3 },
  })
  expect([delivered.status, (await ada.call('GET', `/v1/jobs/${job}`)).body.status]).toEqual([200, 'verified'])
  const told = await read(ada, '?types=job.*')
  expect(typesOf(told)).toEqual(['job.dispatched', 'job.completed', 'job.verified'])
  expect(told.text).not.toContain('grüß dich')
})

test('a service that must answer at once needs an endpoint', async () => {
  const id = (await remote.call('POST', '/v1/services', listed('instant'))).body.id
  const offer = await market.market.call('POST', `/v1/services/${id}/purchase`, { body: {} })
  expect([offer.status, offer.body.code]).toEqual([503, 'unavailable'])
})

test('everybody reads all of its own events and nobody else’s', async () => {
  const [ada, bob] = [await buyer(), await buyer()]
  for (const who of [ada, bob, ada]) await buy(who)
  for (const who of [ada, bob, remote, market.provider]) {
    expect((await walk(who, '')).ids).toEqual(await logged(who))
  }
  expect((await read(ada, '?limit=100')).text).not.toContain(bob.id)
})

test('types let through what they name, and the cursor passes the rest', async () => {
  const ada = await buyer()
  await buy(ada)
  const all = (await read(ada, '?limit=100')).body
  const some = await walk(ada, '&types=message.created,*.completed')
  expect(some).toEqual({ ids: [], cursor: all.next_cursor })
  expect(typesOf(await read(ada, '?types=*.dispatched'))).toEqual(['job.dispatched'])
})

test('a cursor goes on where it was after a restart', async () => {
  const ada = await buyer()
  await buy(ada)
  const { cursor } = await walk(ada, '')
  await market.market.restart()
  expect((await read(ada, `?cursor=${cursor}`)).body).toEqual({ events: [], next_cursor: cursor })
  const job = await buy(ada)
  const { events: news } = (await read(ada, `?cursor=${cursor}&types=job.*`)).body
  expect(news.map((event: { subject: { id: string } }) => event.subject.id)).toEqual([job])
})

test.each([
  ['cursor=x', 'cursor'],
  ['cursor=-1', 'cursor'],
  ['cursor=999999999', 'cursor'],
  ['types=a;b', 'types'],
  ['wait=31', 'wait'],
  ['limit=0', 'limit'],
])('%s is a 400 that names it', async (query, path) => {
  const answer = await read(remote, `?${query}`)
  expect([answer.status, answer.body.details[0].path]).toEqual([400, path])
})

describe('waiting', () => {
  test('ends with the event', async () => {
    const ada = await buyer()
    const start = await read(ada, '?cursor=latest')
    const waiting = read(ada, `?cursor=${start.body.next_cursor}&wait=30&types=job.*`)
    const job = await buy(ada)
    const { events: news } = (await waiting).body
    expect(news.map((event: { subject: { id: string } }) => event.subject.id)).toEqual([job])
  })

  test('ends with the time, and with a stop', async () => {
    const ada = await buyer()
    const { next_cursor } = (await read(ada, '?cursor=latest')).body
    const empty = { events: [], next_cursor }
    expect((await read(ada, `?cursor=${next_cursor}&wait=1`)).body).toEqual(empty)
    const waiting = read(ada, `?cursor=${next_cursor}&wait=30`)
    await isWaitedFor(ada, 1)
    await market.market.restart()
    expect((await waiting).body).toEqual(empty)
  })

  test('goes on while the marketplace is paused', async () => {
    const ada = await buyer()
    await buy(ada)
    await market.setPaused({ platform: true })
    expect(typesOf(await read(ada, '?types=job.*'))).toEqual(['job.dispatched'])
    await market.setPaused({ platform: false })
  })

  test('is bounded for each caller, and a reader that left makes room', async () => {
    const [ada, bob] = [await buyer(), await buyer()]
    const url = `${market.market.url()}/v1/events?cursor=latest&wait=30`
    const leave = new AbortController()
    const waiting = Array.from({ length: MAX_WAITERS_PER_CALLER - 1 }, () =>
      fetch(url, { headers: { 'X-API-Key': ada.key }, signal: leave.signal }).catch(() => undefined),
    )
    const stream = await openEventStream(url, { 'X-API-Key': ada.key })
    await isWaitedFor(ada, MAX_WAITERS_PER_CALLER)
    for (const accept of ['application/json', 'text/event-stream']) {
      const refused = await fetch(url, { headers: { 'X-API-Key': ada.key, Accept: accept } })
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '5'])
    }
    expect((await read(bob, '?cursor=latest&wait=1')).status).toBe(200)
    stream.close()
    leave.abort()
    await Promise.all(waiting)
    await isWaitedFor(ada, 0)
    expect((await read(ada, '?cursor=latest&wait=1')).status).toBe(200)
  })
})

/** Until so many readers of somebody wait: a place is refused exactly when all are taken. */
async function isWaitedFor(who: Person, count: number): Promise<void> {
  const signal = eventSignal.of(market.ctx())
  for (;;) {
    const over = new AbortController()
    let free = 0
    try {
      for (; free <= MAX_WAITERS_PER_CALLER; free += 1) signal.enter(who.id, over.signal)
    } catch {
      // As many as there were places.
    }
    over.abort()
    if (MAX_WAITERS_PER_CALLER - free === count) return
    await new Promise((done) => setTimeout(done, 5))
  }
}

describe('a stream', () => {
  test('tells the same as the pages, goes on as things happen, and from where it broke off', async () => {
    const ada = await buyer()
    await buy(ada)
    const url = `${market.market.url()}/v1/events?types=job.*`
    const headers = { 'X-API-Key': ada.key }
    const stream = await openEventStream(url, headers)
    const first = await stream.next()
    await buy(ada)
    const second = await stream.next()
    stream.close()
    const { events: paged } = (await read(ada, '?types=job.*')).body
    expect([first.data, second.data]).toEqual(paged)
    expect([first.id, first.event]).toEqual([paged[0].cursor, 'job.dispatched'])
    const again = await openEventStream(`${url}&cursor=0`, { ...headers, 'Last-Event-ID': first.id })
    expect(await again.next()).toEqual(second)
    again.close()
  })

  test('that asks for what is no longer there is a 400 before it begins', async () => {
    const headers = { 'X-API-Key': remote.key, Accept: 'text/event-stream', 'Last-Event-ID': '999999999' }
    const answer = await fetch(`${market.market.url()}/v1/events`, { headers })
    const { details } = (await answer.json()) as { details: unknown }
    expect([answer.status, details]).toEqual([400, [expect.objectContaining({ path: 'cursor' })]])
  })
})

test('a cursor is told when events behind it are gone, and only then', async () => {
  const [ada, bob] = [await buyer(), await buyer()]
  const old = (await read(bob)).body.next_cursor
  await buy(bob)
  const quiet = (await read(ada)).body.next_cursor
  const { next_cursor: seen } = (await read(bob)).body
  market.pass(8 * DAY_MS)
  await buy(bob)
  await runOf(housekeeping, market.ctx())

  const gone = await read(bob, `?cursor=${old}`)
  expect([gone.status, gone.body.details[0].path]).toEqual([400, 'cursor'])
  expect(gone.body.message).toContain('events after it were removed')
  const kept = (await read(bob)).body
  expect(typesOf(await read(bob, `?cursor=${gone.body.oldest_cursor}`))).toEqual(typesOf(await read(bob)))
  expect((await read(bob, `?cursor=${seen}`)).body).toEqual(kept)
  expect((await read(ada, `?cursor=${quiet}`)).body.events).toEqual([])
})
