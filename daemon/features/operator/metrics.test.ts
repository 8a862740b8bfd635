import { spawnSync } from 'node:child_process'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { toolPath } from '../../../fixtures/kit/tools.ts'
import { type Marketplace, openMarketplace } from '../../../fixtures/market/marketplace.ts'
import { registered } from '../../../fixtures/market/people.ts'

let market: Marketplace
beforeAll(async () => {
  market = await openMarketplace({ metricsOpen: true, durability: 'full', rows: 'disk' })
})
afterAll(() => market.close())

test('what came through a proxy needs the key, also where figures are open', async () => {
  const { status } = await market.call('GET', '/metrics', { headers: { 'X-Forwarded-For': '203.0.113.9' } })
  expect(status).toBe(401)
})

test('with rows on the disk, it says how far the disk is behind', async () => {
  const [last, reflected] = [
    await countOf('souk_store_transactions', {}),
    await countOf('souk_store_disk_transactions', {}),
  ]
  expect(last).toBeGreaterThan(reflected)
  expect(await countOf('souk_store_front_changes', {})).toBeGreaterThan(0)
})

const TIMES = 'souk_http_request_duration_seconds'

/** Requests that each series of a histogram counted. */
async function histogramsOf(name: string): Promise<{ row?: string; count: number }[]> {
  const { text } = await market.call('GET', '/metrics')
  return [...text.matchAll(new RegExp(`^${name}_count\\{row="(\\w+)",status_class="\\dxx"\\} (\\d+)$`, 'gm'))].map(
    ([, row = '', count]) => ({ row, count: Number(count) }),
  )
}

async function countOf(name: string, labels: Record<string, string>): Promise<number> {
  const { text } = await market.call('GET', '/metrics')
  const parts = Object.entries(labels).map(([label, value]) => `${label}="${value}"`)
  const isMeant = (line: string) =>
    /^[{ ]/.test(line.slice(name.length)) && line.startsWith(name) && parts.every((part) => line.includes(part))
  return Number(text.split('\n').find(isMeant)?.split(' ').at(-1) ?? 0)
}

const counted: readonly [string, Record<string, string>][] = [
  ['souk_http_requests_total', { row: 'listJobs', status: '200' }],
  ['souk_http_requests_total', { row: 'none', status: '404' }],
  ['souk_http_requests_total', { row: 'register', status: '402' }],
  ['souk_http_requests_total', { row: 'finished_page', status: '200' }],
  ['souk_payments_total', { state: 'fulfilled', method: 'x402' }],
  ['souk_cron_runs_total', { cron: 'auto-refund', result: 'success' }],
]

test('it counts what happened', async () => {
  const counts = () => Promise.all(counted.map(([name, labels]) => countOf(name, labels)))
  const before = await counts()
  const ann = await registered(market, { type: 'agent', name: 'Ann' })
  await ann.call('GET', '/v1/jobs')
  await market.call('GET', '/v1/nowhere')
  await market.call('GET', '/v1/services/catalog')
  await market.call('GET', '/v1/services/catalog')
  await market.admin('POST', '/dashboard/api/admin/crons/auto-refund/run')

  const after = await counts()
  expect(after.map((count, at) => count - (before[at] ?? 0))).toEqual(counted.map(() => 1))
  expect(await countOf('souk_journal_syncs_total', {})).toBeGreaterThan(0)
  expect((await market.call('GET', '/metrics')).text).toMatch(/^nodejs_eventloop_lag_p99_seconds \d/m)
})

test('times requests by row and class of status, and no path that a stranger makes up becomes a label', async () => {
  const series = async () => (await histogramsOf(TIMES)).map(({ row }) => row)
  await market.call('GET', '/v1/jobs')
  await market.call('GET', '/v1/made-up')
  await series()
  const before = await series()
  for (let i = 0; i < 20; i++) {
    await market.call('GET', `/v1/made-up-${i}`)
    await market.call('GET', `/v1/services/svc_${i}`)
  }
  expect((await series()).filter((row) => !before.includes(row))).toEqual(['getService'])
  const [timed] = (await histogramsOf(TIMES)).filter(({ row }) => row === 'none')
  expect(timed?.count).toBeGreaterThanOrEqual(21)
})

const promtool = toolPath('promtool')

test.skipIf(promtool === undefined)('the linter of Prometheus has nothing to say about it', async () => {
  const { text } = await market.call('GET', '/metrics')
  const checked = spawnSync(promtool as string, ['check', 'metrics'], { input: text, encoding: 'utf8' })
  expect([checked.status, checked.stdout, checked.stderr]).toEqual([0, '', ''])
})

test('needs the admin key unless the operator opened it', async () => {
  const closed = await openMarketplace()
  try {
    expect((await closed.call('GET', '/metrics')).status).toBe(401)
    const { status, headers } = await closed.admin('GET', '/metrics')
    expect([status, headers.get('content-type')]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8'])
  } finally {
    await closed.close()
  }
})
