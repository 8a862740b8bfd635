import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Marketplace, openMarketplace } from '../../../fixtures/market/marketplace.ts'
import { DAY_MS } from '../../../src/core/time.ts'
import { watchCallers, watchDays } from './routes.ts'

let market: Marketplace
beforeAll(async () => {
  market = await openMarketplace()
})
afterAll(() => market.close())

const from = (address: string, headers: Record<string, string> = {}) => ({ 'X-Forwarded-For': address, ...headers })
const send = (body: unknown, headers: Record<string, string> = {}) =>
  market.call('POST', '/v1/stats/events', { body, headers })
const watching = () => market.call('GET', '/v1/stats/watching')
const run = () => market.admin('POST', '/dashboard/api/admin/crons/stats-snapshot/run')
const clock = (body: unknown) => market.admin('POST', '/dashboard/api/admin/clock', { body })

describe('an explorer event', () => {
  test.each([
    [{ event: 'subject_view' }, {}, 204],
    [{ event: 'expand_io', whatever: { else: [1] } }, {}, 204],
    [{ event: 'verify_signature' }, { DNT: '0' }, 204],
    [{ event: 'nonsense' }, { DNT: '1' }, 204],
    [{ event: 'nonsense' }, { 'Sec-GPC': '1' }, 204],
    [{ event: 'nonsense' }, {}, 400],
    [{}, {}, 400],
    [[], {}, 400],
    ['text', {}, 400],
  ])('%j with %j is a %i', async (body, headers, status) => {
    const answer = await send(body, headers)
    expect([answer.status, answer.body?.code]).toEqual([status, status === 400 ? 'invalid_event' : undefined])
  })

  test('that is no JSON is an invalid event too', async () => {
    const headers = { 'Content-Type': 'application/json' }
    const answer = await fetch(`${market.url()}/v1/stats/events`, { method: 'POST', headers, body: '{' })
    expect([answer.status, await answer.json()]).toEqual([400, expect.objectContaining({ code: 'invalid_event' })])
  })
})

describe('an explorer event as a page sends it', () => {
  const post = async (type: string | undefined, body: Blob | string) => {
    const headers: Record<string, string> = type === undefined ? {} : { 'Content-Type': type }
    const answer = await fetch(`${market.url()}/v1/stats/events`, { method: 'POST', headers, body })
    return [answer.status, ((await answer.json().catch(() => ({}))) as { code?: string }).code]
  }

  test.each([
    ['text/plain;charset=UTF-8'],
    ['application/x-www-form-urlencoded'],
    ['application/octet-stream'],
    ['nonsense'],
    [undefined],
  ])('as %s is counted, and what is no event is an invalid event', async (type) => {
    const bytes = (text: string) => new Blob([text])
    expect(await post(type, bytes('{"event":"subject_view"}'))).toEqual([204, undefined])
    expect(await post(type, bytes('event=subject_view'))).toEqual([400, 'invalid_event'])
  })

  test.each([
    ['in a character set that is no JSON', 'application/json; charset=iso-8859-1', '{"event":"subject_view"}'],
    ['that is too large', 'text/plain', `{"event":"${'x'.repeat(300_000)}"}`],
  ])('%s is an invalid event', async (_, type, body) => {
    expect(await post(type, body)).toEqual([400, 'invalid_event'])
  })
})

test('the nightly snapshot shows whole days, and forgets who was there', async () => {
  await market.close()
  market = await openMarketplace()
  const early = await watching()
  expect([early.status, early.body.code]).toEqual([503, 'not_built_yet'])
  expect(Number(early.headers.get('Retry-After'))).toBeGreaterThan(0)

  for (const address of ['198.51.100.1', '198.51.100.2', '198.51.100.1']) {
    await send({ event: 'subject_view' }, from(address))
  }
  await send({ event: 'subject_view' }, from('198.51.100.3', { DNT: '1' }))
  await market.call('GET', `/v1/reputation/0x${'1'.repeat(40)}`, { headers: from('198.51.100.4') })
  await market.restart()
  await send({ event: 'expand_io' }, from('198.51.100.2'))
  await market.restart()

  const { store, clock: time } = market.daemon.ctx
  const today = new Date(time.now()).toISOString().slice(0, 10)
  const kept = await store.table(watchCallers).page('date', [today], { limit: 100 })
  expect(kept.rows.length).toBe(3)
  expect(JSON.stringify(kept.rows)).not.toContain('198.51')

  await clock({ advance_ms: 2 * DAY_MS })
  expect((await run()).status).toBe(200)
  const { body } = await watching()
  expect(body.days).toEqual([{ date: today, trust_queries: 1, explorer_interactions: 4, distinct_callers: 3 }])
  expect((await store.table(watchCallers).page('date', [today], { limit: 1 })).rows).toEqual([])
  expect((await store.table(watchDays).get(today))?.salt).toBeNull()
})
