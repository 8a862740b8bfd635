import { readFileSync } from 'node:fs'
import { Validator } from '@seriousme/openapi-schema-validator'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { describedBy } from '../../fixtures/kit/described.ts'
import { type Answer, type Marketplace, openMarketplace } from '../../fixtures/market/marketplace.ts'
import { openStage, type Stage } from '../../fixtures/scenarios/stage.ts'
import { take } from '../../fixtures/scenarios/steps.ts'
import { areas, type Endpoint, isPaid, paramNames, templatePath } from '../../src/api/endpoint/define.ts'
import { api, type EndpointName, endpointNames } from '../../src/api/index.ts'

/* The specification’s own table says which rows pause and which are shelved; the daemon has to say and do so. */

type SpecRow = {
  readonly method: string
  readonly path: string
  readonly door: string
  readonly shelved_area: string | null
  readonly status_when_paused_and_cutover: 'live' | 'paused' | 'deferred' | null
}
type Mode = { readonly paused: boolean; readonly cutover: boolean }

const read = (name: string): SpecRow[] =>
  JSON.parse(readFileSync(new URL(`../../fixtures/spec/${name}.json`, import.meta.url), 'utf8'))
const keyOf = ({ method, path }: { method: string; path: string }) => `${method} ${templatePath(path)}`

const all = [...read('endpoints'), ...read('extensions')]
const table = new Map(all.map((row) => [keyOf(row), row]))
const specRows = new Map(read('endpoints').map((row) => [keyOf(row), row]))
const replacements = new Map(endpointNames.map((name) => [keyOf(api[name]), (api[name] as Endpoint).replacement]))
const keyOfRow = (name: EndpointName) => keyOf(api[name])

/** Read from the table alone: a shelved row is deferred under the cutover, a paid door pauses. */
function expectedStatus({ shelved_area, door }: SpecRow, { paused, cutover }: Mode): 'live' | 'paused' | 'deferred' {
  if (cutover && shelved_area !== null) return 'deferred'
  return paused && door === 'paid' ? 'paused' : 'live'
}

test('the rule agrees with the table where it says what holds while both are on', () => {
  for (const row of specRows.values()) {
    if (row.status_when_paused_and_cutover === null) continue
    expect([row.path, expectedStatus(row, { paused: true, cutover: true })]).toEqual([
      row.path,
      row.status_when_paused_and_cutover,
    ])
  }
})

test('what stands in for a shelved row is a row that the cutover leaves alone', () => {
  const named = endpointNames.flatMap((name) => (api[name] as Endpoint).replacement ?? [])
  expect(named.length).toBeGreaterThan(3)
  for (const key of named) {
    const row = endpointNames.map((name) => api[name] as Endpoint).find((one) => keyOf(one) === key)
    expect([key, row?.feature === undefined || row.spares !== undefined]).toEqual([key, true])
  }
  expect(replacements.get('POST /v1/jobs/{id}/verify')).toBe('POST /v1/threads/{id}/verify')
  expect(replacements.get('POST /v1/products')).toBeUndefined()
})

let market: Marketplace
let stage: Stage
beforeAll(async () => {
  market = await openMarketplace()
  stage = openStage(market)
  await take(stage, ['a job', 'a subscription', 'a bid', 'a product', 'a balance'])
})
afterAll(() => market.close())

const endless = new Set<EndpointName>(['streamEvents'])
const shown = endpointNames.filter((name) => !(api[name] as Endpoint).switch)

async function send(name: EndpointName, headers: Record<string, string> = {}): Promise<Answer> {
  const { method, path } = api[name]
  const noun = path.split('/')[2] ?? ''
  const ids: Record<string, string> = {
    services: 'listing',
    threads: 'thread',
    jobs: 'job',
    plans: 'plan',
    subscriptions: 'subscription',
    postings: 'posting',
    products: 'product',
  }
  const thing = ids[noun]
  const [first] = paramNames(path)
  const filled = first && thing ? path.replace(`:${first}`, stage.get(thing)) : path
  return market.call(method, filled.replace(/:[A-Za-z]+/g, 'x'), { headers })
}

const modes: readonly Mode[] = [
  { paused: false, cutover: false },
  { paused: true, cutover: false },
  { paused: false, cutover: true },
  { paused: true, cutover: true },
]

describe.each(modes)('paused: $paused, cut over: $cutover', (mode) => {
  let since: string | null
  beforeAll(async () => {
    const path = `/dashboard/api/admin/platform/${mode.paused ? 'pause' : 'unpause'}`
    since = (await market.admin('POST', path)).body.paused_at
    await market.admin('PUT', '/dashboard/api/admin/features', { body: { checkout_v2: mode.cutover } })
  })
  const statusOf = (name: EndpointName) => expectedStatus(table.get(keyOfRow(name)) as SpecRow, mode) // the contract is in the table

  test('health lists each row of the specification with its status', async () => {
    const { body } = await market.call('GET', '/health')
    expect([body.paused, body.checkout_v2, body.paused_at]).toEqual([mode.paused, mode.cutover, since])
    const said = body.endpoints.map((row: { method: string; path: string; status: string }) => [keyOf(row), row.status])
    const built = new Set(endpointNames.map(keyOfRow))
    const wanted = [...specRows.values()]
      .filter((row) => row.status_when_paused_and_cutover !== null && row.door !== 'admin' && built.has(keyOf(row)))
      .map((row) => [keyOf(row), expectedStatus(row, mode)])
    expect(said.toSorted()).toEqual(wanted.toSorted())
    for (const row of body.endpoints) {
      const named = row.status === 'deferred' ? (replacements.get(keyOf(row)) ?? null) : undefined
      expect([row.path, row.replacement]).toEqual([row.path, named])
    }
  })

  test.each(shown.filter((name) => !endless.has(name)))('%s answers so', async (name) => {
    const { status, body, headers } = await send(name)
    const is = statusOf(name)
    if (is === 'deferred') {
      const { feature } = api[name] as Endpoint
      expect([status, body.code, body.feature]).toEqual([410, 'deferred', feature])
      expect(body.replacement).toBe((api[name] as Endpoint).replacement ?? null)
    } else if (is === 'paused' || (mode.paused && isPaid(api[name]))) {
      expect([status, body.code, body.paused_at]).toEqual([503, 'paused', since])
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    } else {
      expect(['deferred', 'paused']).not.toContain(body?.code)
    }
  })

  test('a key goes on where a payment would be refused', async () => {
    const { key } = await stage.person('buyer')
    const record = await market.call('GET', `/v1/jobs/${stage.get('job')}`, { headers: { 'X-API-Key': key } })
    expect([record.status, record.body.id]).toEqual([200, stage.get('job')])
    const paying = await stage.ask('getJob', { as: 'stranger', params: { id: '$job' } })
    expect(paying.status).toBe(mode.paused ? 503 : 200)
  })

  test('the description leaves out what is shelved, marks what will be, and is sound', async () => {
    const { body } = await market.call('GET', '/openapi.json')
    expect((await new Validator().validate(structuredClone(body))).errors ?? []).toEqual([])
    const paths = body.paths as Record<string, Record<string, Record<string, unknown>>>
    const operations = Object.entries(paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const),
    )
    // What is shelved in part goes on in part, and stays described.
    const spared = shown.filter((name) => (api[name] as Endpoint).spares !== undefined)
    const there = shown.filter((name) => statusOf(name) !== 'deferred' || spared.includes(name))
    expect(operations.map(([key]) => key).toSorted()).toEqual(there.map(keyOfRow).toSorted())
    for (const [key, operation] of operations) {
      const row = table.get(key) as SpecRow // as above
      const marker =
        row.shelved_area === null
          ? undefined
          : { feature: row.shelved_area, replacement: replacements.get(key) ?? null }
      const status = spared.map(keyOfRow).includes(key) ? 'live' : expectedStatus(row, mode)
      expect([key, operation['x-status'], operation['x-deferred']]).toEqual([key, status, marker])
    }
  })

  test('what it answers is as that description says, reads and refusals alike', async () => {
    const describes = describedBy((await market.call('GET', '/openapi.json')).body)
    const { key } = await stage.person('provider')
    for (const name of shown.filter((one) => statusOf(one) !== 'deferred' && !endless.has(one))) {
      const answer = await send(name, { 'X-API-Key': key })
      const { method, path } = api[name]
      expect(describes({ method, path: path.replaceAll(':', ''), answer })).toBe('')
    }
  })
})

test('health counts the 410 answers by area and by who asked, and forgets nobody', async () => {
  await market.admin('PUT', '/dashboard/api/admin/features', { body: { checkout_v2: true } })
  const counts = async () => (await market.call('GET', '/health')).body.launch.shelved_410_24h
  const before = await counts()
  expect(Object.keys(before).toSorted()).toEqual([...areas].toSorted())
  const shelved = shown.filter((name) => (api[name] as Endpoint).feature)
  for (const name of shelved) await send(name, { 'User-Agent': 'Scout/2.1 (walker)' })
  const after = await counts()
  for (const area of areas) {
    const asked = shelved.filter((name) => (api[name] as Endpoint).feature === area).length
    expect([area, after[area].scout ?? 0]).toEqual([area, (before[area].scout ?? 0) + asked])
  }
})
