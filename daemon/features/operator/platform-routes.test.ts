import { readFileSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type Answer, type Marketplace, openMarketplace, signPayment } from '../../../fixtures/market/marketplace.ts'
import { type Person, registered } from '../../../fixtures/market/people.ts'
import { type Endpoint, isPaid, templatePath } from '../../../src/api/endpoint/define.ts'
import { api, endpointNames } from '../../../src/api/index.ts'
import { HOUR_MS } from '../../../src/core/time.ts'
import { namedSlugs } from '../../../src/model/service.ts'
import { agentLabel } from '../../kernel/refusals.ts'

const admin = '/dashboard/api/admin'
let market: Marketplace
let ann: Person
let purchase: string

beforeAll(async () => {
  market = await openMarketplace()
  ann = await registered(market, { type: 'agent', name: 'Ann' })
  purchase = `/v1/services/${await market.serviceId('qr_code')}/purchase`
})
afterAll(() => market.close())

const post = (path: string, body?: unknown) =>
  market.admin('POST', `${admin}/${path}`, body === undefined ? {} : { body })
const get = (path: string) => market.admin('GET', `${admin}/${path}`)
const health = async () => (await market.call('GET', '/health')).body
/** Calls that were answered with a fault of ours, by endpoint. */
const broken = async () => JSON.stringify((await get('endpoints')).body).match(/"broken":[1-9]\d*/g)
const features = (body: unknown) => market.admin('PUT', `${admin}/features`, { body })

describe('the kill switch', () => {
  afterEach(() => post('platform/unpause'))

  test('is seen in health and at the gates at once; only payments are refused, with the time since', async () => {
    const offer = await market.call('POST', purchase, { body: { data: 'x' } })
    const signed = await signPayment(ann.account, offer)
    const before = await broken()
    const paused = await post('platform/pause', { reason: 'drill' })
    expect(paused.body).toMatchObject({ paused: true, reason: 'drill', changed: true })
    expect(await health()).toMatchObject({ status: 'paused', paused: true, paused_at: paused.body.paused_at })
    const refused = await market.call('POST', purchase, { body: { data: 'x' }, headers: signed })
    expect([refused.status, refused.body.code, refused.body.paused_at]).toEqual([503, 'paused', paused.body.paused_at])
    expect(refused.headers.get('Retry-After')).toBe('60')
    const [first] = (await market.admin('GET', '/dashboard/api/admin/attention')).body.items
    expect(first).toMatchObject({ kind: 'platform', grave: true, sentence: 'Paid activity is paused: drill.' })
    expect(await broken()).toEqual(before)

    expect((await market.call('GET', '/v1/services/catalog')).status).toBe(200)
    expect((await ann.call('GET', '/v1/jobs')).status).toBe(200)
    const job = await ann.call('GET', '/v1/jobs/job_0123456789abcdef')
    expect(job.body.code).toBe('not_found')

    expect((await post('platform/unpause')).body).toEqual({
      paused: false,
      paused_at: null,
      reason: null,
      changed: true,
    })
    expect(await health()).toMatchObject({ status: 'ok', paused: false, paused_at: null })
    const bought = await market.call('POST', purchase, { body: { data: 'x' }, headers: signed })
    expect(bought.status).toBe(200)
  })

  test('every row whose only door is a payment is 503 while it is on, and no other', async () => {
    await post('platform/pause')
    const codes = new Map<boolean, Set<string>>()
    for (const name of endpointNames) {
      const row: Endpoint = api[name]
      if (row.switch !== undefined || row.access.kind === 'admin' || row.reply.kind === 'events') continue
      const path = row.path.replace(/:[A-Za-z]+/g, 'x')
      const answer = await market.call(row.method, path)
      codes.set(isPaid(row), (codes.get(isPaid(row)) ?? new Set()).add(String(answer.body?.code)))
    }
    await post('platform/unpause')
    expect([...(codes.get(true) ?? [])]).toEqual(['paused'])
    expect([...(codes.get(false) ?? [])]).not.toContain('paused')
  })

  test('pausing what is paused changes nothing, since when and why included', async () => {
    const first = await post('platform/pause', { reason: 'first' })
    const again = await post('platform/pause', { reason: 'second' })
    expect(again.body).toEqual({ ...first.body, changed: false })
    expect((await get('platform/status')).body).toEqual({
      paused: true,
      paused_at: first.body.paused_at,
      reason: 'first',
    })
    await post('platform/unpause')
    expect((await post('platform/unpause')).body).toEqual({
      paused: false,
      paused_at: null,
      reason: null,
      changed: false,
    })
  })

  test('who comes at the moment of the switch is served or refused, never both', async () => {
    const payments = await Promise.all(
      Array.from({ length: 12 }, async () => {
        const buyer = await market.buyer('1.00')
        const offer = await market.call('POST', purchase, { body: { data: 'race' } })
        return { buyer, headers: await signPayment(buyer.account, offer) }
      }),
    )
    const answers: Answer[] = []
    const sent = payments.map(async ({ headers }, i) => {
      await new Promise((done) => setImmediate(done))
      if (i === 6) await post('platform/pause')
      answers[i] = await market.call('POST', purchase, { body: { data: 'race' }, headers })
    })
    await Promise.all(sent)
    for (const [i, { buyer }] of payments.entries()) {
      const left = await market.daemon.ctx.chain.balanceOf(buyer.wallet)
      expect([answers[i]?.status, left < 1_000_000n]).toEqual(left < 1_000_000n ? [200, true] : [503, false])
    }
    await post('platform/unpause')
  })

  test('survives a restart', async () => {
    const { body } = await post('platform/pause', { reason: 'overnight' })
    await market.restart()
    expect((await health()).paused_at).toBe(body.paused_at)
    expect((await get('platform/status')).body.reason).toBe('overnight')
    await post('platform/unpause')
  })

  test.each([{ reason: '' }, { reason: 'x'.repeat(501) }, { reason: 5 }, { why: 'x' }])('refuses %j', async (body) => {
    const answer = await post('platform/pause', body)
    expect([answer.status, answer.body.code]).toEqual([400, 'invalid_request'])
    expect((await health()).paused).toBe(false)
  })
})

test('the escrow contract is a switch of its own', async () => {
  expect((await get('escrow/paused')).body).toEqual({ paused: false, paused_at: null, reason: null })
  const { body } = await post('escrow/pause-contract', { reason: 'audit' })
  expect(body).toMatchObject({ paused: true, reason: 'audit', changed: true })
  const { ctx } = market.daemon
  expect([ctx.switches.now().escrowPaused, ctx.switches.now().paused]).toEqual([true, false])
  expect((await get('escrow/paused')).body.paused_at).toBe(body.paused_at)
  expect((await post('escrow/pause-contract')).body).toEqual({ ...body, changed: false })
  expect((await post('escrow/unpause-contract')).body).toMatchObject({ paused: false, changed: true })
  expect(ctx.switches.now().escrowPaused).toBe(false)
})

describe('features', () => {
  test('the cutover is on as soon as it is answered, and off again', async () => {
    expect((await features({ checkout_v2: true })).body).toMatchObject({ checkout_v2: true, changed: true })
    expect((await health()).checkout_v2).toBe(true)
    expect((await features({ checkout_v2: true })).body.changed).toBe(false)
    expect((await get('features')).body.checkout_v2).toBe(true)
    expect((await features({ checkout_v2: false, terms_required: true })).body).toMatchObject({
      checkout_v2: false,
      terms_required: true,
    })
    expect((await features({ terms_required: false })).body.changed).toBe(true)
    const set = { disputes_default: { outcome: 'release', days: 14 } }
    expect((await features(set)).body).toMatchObject(set)
    expect((await features({ terms_required: false })).body).toMatchObject({ changed: false, ...set })
    expect((await features({ disputes_default: null })).body).toMatchObject({
      changed: true,
      disputes_default: null,
      terms_required: false,
    })
    expect((await features({ disputes_default: 'coin' })).body.details[0].path).toBe('disputes_default')
  })

  test('lists every row that is built but switched off, and enables it', async () => {
    const { body } = await get('features')
    const switched = endpointNames.map((name): Endpoint => api[name]).filter((row) => row.switch !== undefined)
    expect(body.features.flatMap((feature: { rows: string[] }) => feature.rows).sort()).toEqual(
      switched.map((row) => `${row.method} ${row.path}`).sort(),
    )
    for (const { name, enabled } of body.features) {
      expect(enabled).toBe(false)
      // An advertised path needs something to sell first.
      if (namedSlugs.some((slug) => slug === name)) continue
      const on = await features({ features: { [name]: true } })
      expect(on.body.features).toContainEqual(expect.objectContaining({ name, enabled: true }))
      await features({ features: { [name]: false } })
    }
  })

  test('what cannot be switched is a 400 that names it', async () => {
    const answer = await features({ checkout_v2: true, features: { teleport: true } })
    expect([answer.status, answer.body.details[0].path]).toEqual([400, 'features.teleport'])
    expect((await health()).checkout_v2).toBe(false)
  })
})

describe('health over pause and cutover', () => {
  type SpecRow = { method: string; path: string; door: string; shelved_area: string | null; note?: string }
  const spec: SpecRow[] = JSON.parse(
    readFileSync(new URL('../../../fixtures/spec/endpoints.json', import.meta.url), 'utf8'),
  )
  const built = new Set(endpointNames.map((name) => `${api[name].method} ${templatePath(api[name].path)}`))

  test.each([
    { paused: false, cutover: false },
    { paused: true, cutover: false },
    { paused: false, cutover: true },
    { paused: true, cutover: true },
  ])('paused $paused, cutover $cutover: as the data says, row by row', async ({ paused, cutover }) => {
    await post(`platform/${paused ? 'pause' : 'unpause'}`)
    await features({ checkout_v2: cutover })
    const body = await health()
    const listed = new Map<string, string>(
      body.endpoints.map((row: { method: string; path: string; status: string }) => [
        `${row.method} ${templatePath(row.path)}`,
        row.status,
      ]),
    )
    const expected = spec
      .filter((row) => row.door !== 'admin' && built.has(`${row.method} ${row.path}`))
      .filter((row) => !row.note?.includes('switched off'))
      .map((row) => [`${row.method} ${row.path}`, statusFor(row)])
    expect([...listed].sort()).toEqual(expected.sort())
    expect([body.status, body.checkout_v2]).toEqual([paused ? 'paused' : 'ok', cutover])
    await post('platform/unpause')
    await features({ checkout_v2: false })

    function statusFor(row: SpecRow): string {
      if (cutover && row.shelved_area !== null) return 'deferred'
      return paused && row.door === 'paid' ? 'paused' : 'live'
    }
  })
})

test('health counts 410 answers by area and caller, for a day of business time', async () => {
  await features({ checkout_v2: true })
  const shelved = endpointNames
    .map((name): Endpoint => api[name])
    .find((row) => row.feature && row.switch === undefined)
  if (!shelved?.feature) throw new Error('no row is shelved')
  const path = shelved.path.replace(/:[A-Za-z]+/g, 'x')
  for (const agent of ['Probe/1.0 (x)', 'probe/2', '']) {
    const answer = await market.call(shelved.method, path, { headers: { 'User-Agent': agent } })
    expect([answer.status, answer.body.code]).toEqual([410, 'deferred'])
  }
  expect((await health()).launch.shelved_410_24h[shelved.feature]).toMatchObject({ probe: 2, unknown: 1 })
  await post('clock', { advance_ms: 25 * HOUR_MS })
  const { launch } = await health()
  expect(Object.values(launch.shelved_410_24h)).toEqual(Object.values(launch.shelved_410_24h).map(() => ({})))
  expect(launch.days).toHaveLength(2)
  await features({ checkout_v2: false })
})

test('health counts what the gates refused by reason', async () => {
  const listed = await openMarketplace({}, { isSanctioned: async () => true })
  try {
    const path = `/v1/services/${await listed.serviceId('qr_code')}/purchase`
    const buyer = await listed.buyer('1.00')
    const refused = await buyer.fetch(1)(`${listed.url()}${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ data: 'x' }),
    })
    expect(refused.status).toBe(403)
    const none = { 'X-API-Key': `sk_${'0'.repeat(40)}` }
    await listed.call('GET', '/v1/balance')
    await listed.call('GET', '/v1/balance', { headers: none })
    await listed.call('GET', '/dashboard/api/admin/holds')
    await listed.admin('POST', '/dashboard/api/admin/platform/pause')
    await listed.call('POST', path)
    await listed.admin('PUT', '/dashboard/api/admin/features', { body: { checkout_v2: true } })
    await listed.call('POST', '/v1/balance/deposit')
    await listed.call('GET', '/v1/services/svc_0000000000000000')
    expect((await listed.call('GET', '/health')).body.launch.gate_refusals_24h).toEqual({
      sanctioned: 1,
      unauthorized: 3,
      paused: 1,
      deferred: 1,
    })
  } finally {
    await listed.close()
  }
})

test('health says in one sentence what is closed now, and nothing that is open', async () => {
  const note = async () => (await health()).platform.status_note as string
  expect(await note()).toBe('All endpoints are available.')
  await features({ checkout_v2: true })
  expect(await note()).toMatch(/^The checkout cutover disables digital_products, [a-z_, ]+; reads, [^.]+\.$/)
  await post('platform/pause')
  expect(await note()).toMatch(/^Paid activity is paused; the checkout cutover disables [^.]+\.$/)
  await post('platform/unpause')
  await features({ checkout_v2: false })
  await post('escrow/pause-contract')
  expect(await note()).toMatch(/^The escrow contract is paused[^.]+\.$/)
  await post('escrow/unpause-contract')
  expect(await note()).toBe('All endpoints are available.')
})

test('an observed marketplace, whose crons only skip, raises no alarm that they are stale', async () => {
  const observed = await openMarketplace({ profile: 'observed', crons: true })
  try {
    await observed.admin('POST', '/dashboard/api/admin/clock', { body: { advance_ms: 5 * HOUR_MS } })
    const { crons } = (await observed.call('GET', '/health')).body
    expect(Object.entries<{ stale: boolean }>(crons).filter(([, { stale }]) => stale)).toEqual([])
    expect(crons['provider-settlement']).toMatchObject({ last_success: null, skip_reason: 'paused' })
  } finally {
    await observed.close()
  }
})

test('health points to the index of marketplaces that the operator names, else to its own', async () => {
  expect((await health()).bazaar).toMatch(/\/discovery\/resources$/)
  const bazaar = 'https://bazaar.example/discovery/resources'
  const named = await openMarketplace({ bazaar })
  expect((await named.call('GET', '/health')).body.bazaar).toBe(bazaar)
  await named.close()
})

test.each([
  ['Mozilla/5.0 (X11; Linux)', 'mozilla'],
  ['python-requests/2.31', 'python-requests'],
  ['  Curl', 'curl'],
  ['A'.repeat(60), 'a'.repeat(40)],
  ['(nothing)', 'unknown'],
  ['(a walker) Scout/2.1', 'scout'],
  ['/2.1', 'unknown'],
  ['', 'unknown'],
  [undefined, 'unknown'],
])('the label of %j is %s', (userAgent, label) => expect(agentLabel(userAgent)).toBe(label))

test('the log has every act, newest first: who, what, why, when, and whether it changed anything', async () => {
  const before = (await get('log')).body.total
  await post('platform/pause', { reason: 'why not' })
  await post('platform/pause')
  await post('platform/unpause')
  const { body } = await get('log?limit=3')
  expect(body.total).toBe(before + 3)
  expect(body.acts.map((act: Answer['body']) => [act.actor, act.act, act.reason, act.changed])).toEqual([
    ['admin', 'platform.unpause', null, true],
    ['admin', 'platform.pause', null, false],
    ['admin', 'platform.pause', 'why not', true],
  ])
  expect(body.acts[0].request_id).toMatch(/^req_[0-9a-f]{16}$/)
  expect(body.acts.map((act: Answer['body']) => act.seq)).toEqual([before + 3, before + 2, before + 1])
  expect(Math.abs(Date.parse(body.acts[0].wall_at) - Date.now())).toBeLessThan(HOUR_MS)
  const rest = await get('log?limit=2&offset=2')
  expect(rest.body.acts[0].seq).toBe(before + 1)
})
