import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { jobDraft } from '../../../fixtures/kit/rows.ts'
import { type Marketplace, openMarketplace } from '../../../fixtures/market/marketplace.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../src/core/time.ts'
import { engineBoard } from '../../engines/engines.ts'
import { openNameServer } from '../../ports/dns/dns.testkit.ts'
import { openDns } from '../../ports/dns/dns.ts'
import { builtIn, type Engine } from '../../ports/engine.ts'
import { openSite, type Site } from '../../ports/web/site.testkit.ts'
import { commit } from '../../store/draw.ts'
import { jobs } from '../jobs/rows.ts'

// @story engines that come and go

/* The operator is told how everything stands that functions of the house work with, and who outside was asked. */

const KEY = 'k-0123456789'
let market: Marketplace
let site: Site
let names: Awaited<ReturnType<typeof openNameServer>>
let wall = Date.parse('2026-05-01T00:00:00Z')
let standing: Awaited<ReturnType<NonNullable<Engine<never>['probe']>>> = { status: 'missing', detail: 'No ffmpeg.' }

beforeAll(async () => {
  site = await openSite()
  names = await openNameServer({})
  const at = (path: string) => ({ url: site.at(path, '127.0.0.1') })
  const weather = { ...at('/weather'), geocoding_url: site.at('/geo', '127.0.0.1') }
  const engines = {
    advisories: at('/osv'),
    coins: { ...at('/coins'), key: KEY, plan: 'demo' as const },
    grants: at('/grants'),
    llm: { ...at('/llm'), model: 'small', use: [], tokens_per_day: 1 },
    market: { ...at('/market'), key: KEY },
    rdap: { url: site.at('/rdap.json') },
    weather,
  }
  const audio = { port: {} as never, initial: standing, probe: async () => standing }
  market = await openMarketplace(
    { engines },
    {
      clock: { now: () => wall, wall: () => wall },
      web: { resolve: async () => [{ address: '127.0.0.1', family: 4 }], exempt: ({ port }) => port === site.port },
      engines: { audio, dns: builtIn(openDns({ servers: [names.server] }), 'of the test') },
    },
  )
  await engineBoard.of(market.daemon.ctx).ready
})
afterAll(async () => {
  await market.close()
  await names.close()
  await site.close()
})
beforeEach(() => {
  wall += 2 * HOUR_MS
  site.clear()
})

type Row = {
  name: string
  status: string
  detail: string
  fix: string | null
  functions: string[]
  looked_at: string | null
  reached: { ok: boolean; detail: string } | null
}
async function rows(method: 'GET' | 'POST', path: string): Promise<Record<string, Row>> {
  const { status, body } = await market.admin(method, path)
  expect(status).toBe(200)
  return Object.fromEntries(body.engines.map((row: Row) => [row.name, row]))
}
const told = () => rows('GET', '/dashboard/api/admin/engines')
const check = () => rows('POST', '/dashboard/api/admin/engines/check')
const trouble = async () => {
  const { body } = await market.admin('GET', '/dashboard/api/admin/attention')
  return body.items.filter(({ kind }: { kind: string }) => kind === 'engine')
}

test('each engine is told with the functions that wait for it, and nobody outside is asked for that', async () => {
  const found = await told()
  expect(found['audio']).toMatchObject({
    status: 'missing',
    functions: ['audio_loudness_normalization'],
    looked_at: expect.any(String),
    reached: null,
  })
  expect(found['grants']?.functions).toHaveLength(3)
  const { body } = await market.call('GET', '/health')
  expect(Object.keys(body.engines).sort()).toEqual(Object.keys(found).sort())
  expect(body.engines).toMatchObject({ audio: 'missing', coins: 'ok', tls: 'ok' })
  await trouble()
  await market.call('GET', '/v1/services/catalog?limit=100')
  expect([site.asked, names.asked]).toEqual([[], []])
})

test('a check asks each of those outside once, by what costs nothing, and says no word of theirs', async () => {
  site.pages['/coins/ping'] = { body: 'to the moon' }
  site.pages['/grants'] = { status: 503, body: 'come back later' }
  site.pages['/market'] = { status: 401, body: `${KEY} is wrong` }
  const found = await check()
  expect(found['coins']).toMatchObject({ reached: { ok: true, detail: 'CoinGecko answers.' } })
  expect(found['grants']).toMatchObject({ reached: { ok: false, detail: expect.stringMatching(/failing: HTTP 503/) } })
  expect(found['market']).toMatchObject({
    reached: { ok: false, detail: expect.stringMatching(/refuses to answer: HTTP 401/) },
  })
  expect(found['tls']?.reached).toBeNull()
  const asked = ['/osv', '/coins/ping', '/grants', '/llm/models', '/market', '/rdap.json', '/weather', '/geo']
  expect(site.asked.toSorted()).toEqual(asked.map((path) => `GET ${path}`).sort())
  expect(JSON.stringify(found)).not.toMatch(new RegExp(`${KEY}|moon|later`))
})

test('who answered is not asked again for an hour, who did not for a minute, however many ask', async () => {
  site.pages['/coins/ping'] = { body: '{}' }
  site.pages['/grants'] = { status: 500 }
  await Promise.all([check(), check(), check()])
  const first = site.asked.length
  expect(new Set(site.asked).size).toBe(first)
  wall += 2 * MINUTE_MS
  await check()
  expect(site.asked.slice(first)).toContain('GET /grants')
  expect(site.asked.slice(first)).not.toContain('GET /coins/ping')
})

// What was there once is missed from then on.
describe('engines that come and go', () => {
  test('a program that this machine never had is no trouble, however often somebody looks; the doctor names it', async () => {
    await check()
    expect((await told())['audio']).toMatchObject({ status: 'missing', detail: 'No ffmpeg.' })
    expect(await trouble()).toEqual([])
  })

  test('a program that a job waits for which somebody bought needs a hand as long as the job is open', async () => {
    const { ctx } = market.daemon
    const service_id = await market.serviceId('audio_loudness_normalization')
    const bought = { ...jobDraft(1, { buyer: 1, provider: 0 }), service_id, status: 'in_progress' as const }
    await commit(ctx, (t) => t.table(jobs).insert({ ...bought, ended_at: null }))
    expect(await trouble()).toMatchObject([
      {
        id: 'engine missing',
        grave: false,
        sentence: expect.stringMatching(/missing: audio\.$/),
        fix: 'souk doctor --only engines',
      },
    ])
    await commit(ctx, async (t) => {
      const open = await t.table(jobs).getForUpdate(bought.id)
      if (open) await t.table(jobs).put({ ...open, ended_at: 2, status: 'failed' })
    })
    expect(await trouble()).toEqual([])
  })

  test('a program that fails needs a hand, and so does one that was there and went away', async () => {
    standing = { status: 'failing', detail: 'ffmpeg does not start.' }
    await check()
    expect(await trouble()).toMatchObject([
      { id: 'engine audio', sentence: expect.stringMatching(/wait for audio: ffmpeg does not start/) },
    ])
    standing = { status: 'ok', detail: 'ffmpeg 7' }
    await check()
    expect((await told())['audio']).toMatchObject({ status: 'ok', detail: 'ffmpeg 7' })
    expect(await trouble()).toEqual([])
    standing = { status: 'missing', detail: 'No ffmpeg.' }
    await check()
    expect(await trouble()).toMatchObject([
      { id: 'engine missing', sentence: expect.stringMatching(/missing: audio\.$/) },
    ])
  })

  test('what went away is missed after a restart too, and not for ever', async () => {
    await market.restart()
    await engineBoard.of(market.daemon.ctx).ready
    expect(await trouble()).toMatchObject([
      { id: 'engine missing', sentence: expect.stringMatching(/missing: audio\.$/) },
    ])
    wall += 31 * DAY_MS
    await market.restart()
    await engineBoard.of(market.daemon.ctx).ready
    expect(await trouble()).toEqual([])
  })
})
