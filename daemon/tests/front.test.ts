import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Child, startDaemon } from '../../fixtures/kit/child.ts'
import { configDefaults } from '../../fixtures/kit/config.ts'
import { hasPostgres, testServer } from '../../fixtures/kit/postgres.ts'
import { type Answer, type CallOptions, callsTo, signPayment } from '../../fixtures/market/marketplace.ts'

// @slow two daemons as processes

/* A leader and a front of it: whatever is asked of the front is answered as the leader would. */

const PAIRS = Number(process.env.SOUK_TEST_PAIRS ?? 10)
const PAUSE_MS = 20
const SIGNED = { change: { validBefore: 4_102_444_800n } }

const dirs: string[] = []
const daemons: (Child & { readonly url: string })[] = []
const urlOf = (n: number): string => daemons[n]?.url ?? ''
const [leader, front] = [0, 1].map((n) => {
  const ask = (how: 'call' | 'admin') => (method: string, path: string, options?: CallOptions) =>
    callsTo(() => urlOf(n), dirs[0] ?? '')[how](method, path, options)
  return { call: ask('call'), admin: ask('admin') }
}) as [Side, Side]
type Ask = (method: string, path: string, options?: CallOptions) => Promise<Answer>
type Side = { readonly call: Ask; readonly admin: Ask }

async function until<T>(look: () => Promise<T | undefined | false>): Promise<T> {
  for (;;) {
    const found = await look().catch(() => undefined)
    if (found) return found
    await sleep(PAUSE_MS)
  }
}

beforeAll(async () => {
  if (!hasPostgres()) return
  const { folder } = await testServer()
  const store = `postgres://souk@/postgres?host=${folder}&schema=front${process.pid}`
  for (const n of [0, 1]) {
    const dir = await mkdtemp(join(tmpdir(), 'souk-front-'))
    if (n > 0) await copyFile(join(dirs[0] ?? '', 'admin.key'), join(dir, 'admin.key'))
    dirs.push(dir)
    daemons.push(await startDaemon({ ...configDefaults, dataDir: dir, durability: 'full', store, spare: true }))
    await until(async () => (await fetch(`${urlOf(n)}/ready`)).ok)
  }
})
afterAll(async () => {
  for (const daemon of daemons) await daemon.kill()
  for (const dir of dirs) await rm(dir, { recursive: true, force: true })
})

const fund = (wallet: string) =>
  leader.admin('POST', '/dashboard/api/admin/faucet', { body: { wallet, amount: '100.00' } })

async function qrTarget(): Promise<string> {
  const { body } = await front.call('GET', '/v1/services/catalog?q=qr')
  return `/v1/services/${body.services[0].id}/purchase`
}

/** Sends raw bytes of a request to the front. */
function raw(path: string, headers: Record<string, string> = {}): ClientRequest {
  return request(`${urlOf(1)}${path}`, { method: 'POST', headers, agent: false })
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
    const first = await fetch(`${urlOf(1)}/openapi.json`)
    const etag = first.headers.get('etag') ?? ''
    expect((await fetch(`${urlOf(1)}/openapi.json`, { headers: { 'If-None-Match': etag } })).status).toBe(304)
    const head = await fetch(`${urlOf(1)}/openapi.json`, { method: 'HEAD' })
    expect([head.status, await head.text()]).toEqual([200, ''])
  })

  test('hands a body on as it is: none, empty, of a length, in chunks, larger than allowed', async () => {
    const target = await qrTarget()
    expect((await front.call('POST', target)).status).toBe(402)
    expect((await front.call('POST', target, { body: { data: 'hello' } })).status).toBe(402)
    const chunked = raw(target, { 'Content-Type': 'application/json', Expect: '100-continue' })
    const answered = new Promise<IncomingMessage>((done) => chunked.once('response', done))
    chunked.once('continue', () => chunked.write('{"data":'))
    await new Promise((done) => chunked.once('continue', done))
    chunked.end('"hello"}')
    expect((await answered).statusCode).toBe(402)
    const large = await front.admin('POST', '/dashboard/api/admin/faucet', { body: { wallet: 'x'.repeat(3_000_000) } })
    expect(large.status).toBe(413)
  })

  test('has no say in where a client is: a header of its own is refused, and a front does not hand on to a front', async () => {
    for (const n of [0, 1]) {
      const forged = { 'Souk-Front': `${'0'.repeat(64)} tls local 127.0.0.1` }
      expect((await fetch(`${urlOf(n)}/health`, { headers: forged })).status).toBe(400)
      expect((await fetch(`${urlOf(n)}/ready`, { headers: forged })).status).toBe(n === 0 ? 200 : 400)
    }
    const elsewhere = await new Promise<IncomingMessage>((done) =>
      raw('/v1/services/catalog', { Host: 'evil.example' }).once('response', done).end(),
    )
    expect(elsewhere.statusCode).toBe(421)
  })

  test('sells what two daemons are asked for at once with the same payment: one job, equal answers', async () => {
    const target = await qrTarget()
    const payer = privateKeyToAccount(generatePrivateKey())
    await fund(payer.address)
    const jobs = new Set<string>()
    for (let n = 0; n < PAIRS; n += 1) {
      const body = { data: `pair ${n}` }
      const headers = await signPayment(payer, await front.call('POST', target, { body }), SIGNED)
      const [one, two] = await Promise.all([leader, front].map((side) => side.call('POST', target, { body, headers })))
      expect([one?.status, two?.status]).toEqual([200, 200])
      expect(one?.body).toEqual(two?.body)
      jobs.add(one?.body.job_id)
    }
    expect(jobs.size).toBe(PAIRS)
    const all = await front.admin('GET', '/dashboard/api/admin/jobs?limit=1')
    expect(all.body.total).toBe(PAIRS)
  })
})
