import { randomBytes } from 'node:crypto'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openEventStream } from '../../fixtures/kit/event-stream.ts'
import { type Fleet, openFleet, until } from '../../fixtures/kit/fleet.ts'
import { hasPostgres, testServer } from '../../fixtures/kit/postgres.ts'
import { type Answer, type Calls, signPayment } from '../../fixtures/market/marketplace.ts'
import { payFor, registered, stranger } from '../../fixtures/market/people.ts'

// @slow two daemons as processes

/* A leader and a front of it: whatever is asked of the front is answered as the leader would. */

/** The acceptance is 200; more of them find no other case. */
const PAIRS = Number(process.env.SOUK_TEST_PAIRS ?? 10)
const FILE_BYTES = 20 * 1_024 * 1_024
const SIGNED = { change: { validBefore: 4_102_444_800n } }
const LEADER = 0
const FRONT = 1

let fleet: Fleet
let leader: Calls
let front: Calls

beforeAll(async () => {
  if (!hasPostgres()) return
  const { folder } = await testServer()
  fleet = await openFleet(`postgres://souk@/postgres?host=${folder}&schema=front${process.pid}`, 2, {
    metricsOpen: true,
  })
  leader = patient(fleet.calls(LEADER))
  front = patient(fleet.calls(FRONT))
})
afterAll(() => fleet?.close())

/** On a slow machine the lease can run out: a read that nobody leads just then is asked again. */
function patient(calls: Calls): Calls {
  const call: Calls['call'] = (method, path, options) =>
    until(async () => {
      const answer = await calls.call(method, path, options).catch((error: unknown) => {
        if (/ 503 unavailable is not described$/.test(String(error))) return undefined
        throw error
      })
      return answer?.status === 503 ? undefined : answer
    })
  return { ...calls, call: (method, ...rest) => (method === 'GET' ? call : calls.call)(method, ...rest) }
}

async function qrTarget(): Promise<string> {
  const { body } = await front.call('GET', '/v1/services/catalog?q=qr')
  return `/v1/services/${body.services[0].id}/purchase`
}

/** A request to the front, whose body is still to be sent. */
function toFront(path: string, headers: Record<string, string> = {}): ClientRequest {
  return request(`${fleet.urlOf(FRONT)}${path}`, { method: 'POST', headers, agent: false })
}

const figure = async (result: string): Promise<number> => {
  const { text } = await front.call('GET', '/metrics')
  return Number(new RegExp(`^souk_front_requests_total{result="${result}"} (\\d+)$`, 'm').exec(text)?.[1])
}

describe.skipIf(!hasPostgres())('a front', () => {
  test('answers as the leader: pages, errors, conditional and HEAD requests', async () => {
    for (const path of ['/v1/terms', '/v1/services/svc_0000000000000000', '/nowhere', '/openapi.json', '/llms.txt']) {
      const [there, here] = await Promise.all([leader.call('GET', path), front.call('GET', path)])
      const said = ({ status, body }: Answer) => [status, { ...body, request_id: undefined }]
      expect(said(here)).toEqual(said(there))
      expect(here.headers.get('x-request-id')).toMatch(/^req_/)
      expect(here.headers.get('souk-front')).toBeNull()
    }
    const page = `${fleet.urlOf(FRONT)}/openapi.json`
    const etag = (await fetch(page)).headers.get('etag') ?? ''
    expect((await fetch(page, { headers: { 'If-None-Match': etag } })).status).toBe(304)
    const head = await fetch(page, { method: 'HEAD' })
    expect([head.status, await head.text()]).toEqual([200, ''])
  })

  test('hands a body on as it is: none, of a length, in chunks, larger than allowed', async () => {
    const target = await qrTarget()
    expect((await front.call('POST', target)).status).toBe(402)
    expect((await front.call('POST', target, { body: { data: 'hello' } })).status).toBe(402)
    const chunked = toFront(target, { 'Content-Type': 'application/json', Expect: '100-continue' })
    const answered = new Promise<IncomingMessage>((done) => chunked.once('response', done))
    await new Promise<void>((done) => {
      chunked.once('continue', done)
      chunked.flushHeaders()
    })
    chunked.write('{"data":')
    chunked.end('"hello"}')
    expect((await answered).statusCode).toBe(402)
    const large = await front.admin('POST', '/dashboard/api/admin/faucet', { body: { wallet: 'x'.repeat(3_000_000) } })
    expect(large.status).toBe(413)
  })

  test('says itself which it is, and what it handed on; the leader says that it leads', async () => {
    const before = await figure('answered')
    await front.call('GET', '/v1/terms')
    // It is counted once its end is sent.
    await until(async () => (await figure('answered')) > before)
    const role = async (side: Calls) =>
      /^souk_instance{role="(\w+)",instance="pid (\d+) on /m.exec((await side.call('GET', '/metrics')).text)
    expect((await role(front))?.slice(1)).toEqual(['front', String(fleet.pidOf(FRONT))])
    expect((await role(leader))?.slice(1)).toEqual(['leader', String(fleet.pidOf(LEADER))])
    expect((await front.call('GET', '/metrics')).text).toMatch(/^process_cpu_seconds_total \d/m)
    expect((await front.call('GET', '/metrics', { headers: { 'X-Forwarded-For': '192.0.2.1' } })).status).toBe(401)
  })

  test('believes no header of a client, and hands nothing to another front', async () => {
    const forged = { 'Souk-Front': `${'0'.repeat(64)} tls local 127.0.0.1` }
    for (const n of [LEADER, FRONT])
      expect((await fetch(`${fleet.urlOf(n)}/v1/terms`, { headers: forged })).status).toBe(400)
    const elsewhere = await new Promise<IncomingMessage>((done) =>
      toFront('/v1/services/catalog', { Host: 'evil.example' }).once('response', done).end(),
    )
    expect(elsewhere.statusCode).toBe(421)
  })

  test('takes a large file in, and gives it out again as it was', async () => {
    const seller = await registered(front, {
      type: 'provider',
      accept_terms: (await front.call('GET', '/v1/terms')).body.version,
    })
    const file = randomBytes(FILE_BYTES)
    const form = new FormData()
    form.set('name', 'A large book')
    form.set('price', '1.00')
    form.set('file', new Blob([file]), 'book.bin')
    const made = await front.call('POST', '/v1/products', { form, headers: { 'X-API-Key': seller.key } })
    expect([made.status, made.body.code]).toEqual([200, undefined])
    const reader = await registered(front, { type: 'agent' })
    const bought = await reader.pay(`/v1/products/${made.body.id}/purchase`)
    expect([bought.status, bought.body.code]).toEqual([200, undefined])
    const got = await fetch(`${fleet.urlOf(FRONT)}/v1/products/${made.body.id}/download`, {
      headers: { 'X-API-Key': reader.key },
    })
    expect(Buffer.from(await got.arrayBuffer()).equals(file)).toBe(true)
  })

  test('passes events on as they come, and the end of a client who leaves', async () => {
    const key = { Authorization: `Bearer ${await fleet.adminKey()}` }
    const stream = await openEventStream(`${fleet.urlOf(FRONT)}/dashboard/api/admin/events`, key)
    await registered(leader, { type: 'agent' })
    expect((await stream.next()).event).toMatch(/^participant\./)
    const before = await figure('broken')
    stream.close()
    await until(async () => (await figure('broken')) > before)
    const halved = { 'Content-Type': 'application/json', 'Content-Length': '1000', Expect: '100-continue' }
    // Nothing answers it before all of its body is there.
    const upload = toFront('/dashboard/api/admin/platform/pause', { ...key, ...halved })
    upload.on('error', () => undefined) // it is cut below
    await new Promise<void>((done) => {
      upload.once('continue', done)
      upload.write('{"data": "')
    })
    upload.destroy()
    await until(async () => (await figure('broken')) > before + 1)
  })

  test('refuses the next payment once any daemon paused the platform, suspended the payer or sanctioned its wallet', async () => {
    const target = await qrTarget()
    const buyer = await stranger(front)
    const suspended = await registered(front, { type: 'agent' })
    const sanctioned = await stranger(front)
    const buy = (side: Calls, { account }: typeof buyer) =>
      payFor(side, account, { path: target, body: { data: account.address } })
    for (const [here, there] of [
      [leader, front],
      [front, leader],
    ] as const) {
      expect((await buy(there, buyer)).status).toBe(200)
      await here.admin('POST', '/dashboard/api/admin/platform/pause', { body: { reason: 'a test' } })
      expect((await buy(there, buyer)).body.code).toBe('paused')
      await there.admin('POST', '/dashboard/api/admin/platform/unpause', { body: { reason: 'a test' } })
    }
    const change = { body: { suspended: true, reason: 'a test' } }
    await front.admin('PUT', `/dashboard/api/admin/participants/${suspended.id}`, change)
    await front.admin('POST', '/dashboard/api/admin/sdn', {
      body: { wallet: sanctioned.account.address, reason: 'a test' },
    })
    for (const side of [leader, front]) {
      expect((await buy(side, suspended)).status).toBe(403)
      expect((await buy(side, sanctioned)).body.code).toBe('sanctioned')
    }
  })

  test('sells what two daemons are asked for at once with the same payment: one job, equal answers', async () => {
    const target = await qrTarget()
    const payer = privateKeyToAccount(generatePrivateKey())
    await leader.admin('POST', '/dashboard/api/admin/faucet', { body: { wallet: payer.address, amount: '100.00' } })
    const total = async () => (await front.admin('GET', '/dashboard/api/admin/jobs?limit=1')).body.total
    const before = await total()
    const jobs = new Set<string>()
    for (let n = 0; n < PAIRS; n += 1) {
      const body = { data: `pair ${n}` }
      const headers = await signPayment(payer, await front.call('POST', target, { body }), SIGNED)
      const [one, two] = await Promise.all([leader, front].map((side) => side.call('POST', target, { body, headers })))
      expect([one?.status, two?.status]).toEqual([200, 200])
      expect(one?.body).toEqual(two?.body)
      jobs.add(one?.body.job_id)
    }
    expect([jobs.size, (await total()) - before]).toEqual([PAIRS, PAIRS])
  })
})
