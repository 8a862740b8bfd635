import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type MailSink, openMailSink } from '../../../fixtures/kit/mail-sink.ts'
import { openProvider, type Provider } from '../../../fixtures/kit/provider.ts'
import { type Escrow, openEscrow } from '../../../fixtures/market/escrow.ts'
import { at } from '../../../src/core/record.ts'
import { HOUR_MS, MINUTE_MS } from '../../../src/core/time.ts'
import { signedHeaders } from '../../../src/core/webhook-signature.ts'
import { alarms, allRows } from './alarms.ts'

// @story one marketplace whose targets come and go

/* Alarms reach a real mail server, a real endpoint and a real program. */

let [market, mail, hook]: [Escrow?, MailSink?, Provider?] = []
let folder: string
const opened = () => {
  if (!market || !mail || !hook) throw new Error('nothing is open')
  return { market, mail, hook, admin: market.market.admin, ctx: market.ctx() }
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'souk-alarms-'))
  ;[mail, hook] = [await openMailSink(), await openProvider()]
  const notify = [
    `exec:cat >> ${folder}/out`,
    `webhook:${hook.url}`,
    `smtp://127.0.0.1:${mail.port}?to=ops@example.org`,
  ]
  market = await openEscrow({}, { crons: false, notify })
})
afterAll(async () => {
  await market?.close()
  await Promise.all([mail?.close(), hook?.close()])
  await rm(folder, { recursive: true, force: true })
})

const turn = () => alarms.of(opened().market.ctx()).turn()
const pause = (paused: boolean) => opened().market.setPaused({ platform: paused })
const programs = async () =>
  (await readFile(join(folder, 'out'), 'utf8').catch(() => ''))
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
const heard = async () => [(await programs()).length, opened().hook.received.length, opened().mail.received.length]

test('a problem is told once by every way, and once when it is over', async () => {
  await turn()
  const before = await heard()
  await pause(true)
  for (let turns = 0; turns < 3; turns += 1) await turn()
  expect(await heard()).toEqual(before.map((count) => count + 1))
  const { mail: sink, hook: endpoint } = opened()
  const said = {
    raised: [{ kind: 'platform', count: 1, items: [{ id: 'paused', fix: 'souk admin platform unpause' }] }],
  }
  expect((await programs()).at(-1)).toMatchObject({ type: 'attention.changed', ...said, over: [] })
  expect(endpoint.received.at(-1)?.body).toMatchObject(said)
  expect(sink.received.at(-1)).toMatch(/^Subject: souk: 1 new \(platform\)$[\s\S]*✗ Paid activity is paused/m)
  await opened().market.market.restart()
  await turn()
  expect(await heard()).toEqual(before.map((count) => count + 1))
  await pause(false)
  for (let turns = 0; turns < 2; turns += 1) await turn()
  expect(await heard()).toEqual(before.map((count) => count + 2))
  expect(endpoint.received.at(-1)?.body).toMatchObject({ raised: [], over: [{ kind: 'platform' }] })
  expect(sink.received.at(-1)).toMatch(/OVER\s+platform/)
})

test('an alarm to a webhook is signed like every webhook message', async () => {
  const { hook: endpoint, admin } = opened()
  const { webhook_secret: secret } = (await admin('GET', '/dashboard/api/admin/alarms')).body
  const { headers, raw: body } = at(endpoint.received, endpoint.received.length - 1)
  const wall = Number(headers['webhook-timestamp']) * 1000
  expect(headers).toMatchObject(signedHeaders({ id: String(headers['webhook-id']), body, secrets: [secret], wall }))
})

test('a target that fails is told to the others, and gets one message when it answers again', async () => {
  const { mail: sink, hook: endpoint, market: own, admin } = opened()
  const told = sink.received.length
  sink.refusal = '550 the box is full'
  await pause(true)
  await turn()
  own.pass(2 * MINUTE_MS, { wall: true })
  await turn()
  own.pass(2 * MINUTE_MS, { wall: true })
  await turn()
  const failing = {
    kind: 'alarm',
    items: [expect.objectContaining({ sentence: expect.stringMatching(/ops@example\.org: .*550 the box is full/) })],
  }
  expect(endpoint.received.at(-1)?.body.raised).toContainEqual(expect.objectContaining(failing))
  const { targets } = (await admin('GET', '/dashboard/api/admin/alarms')).body
  expect(targets[2]).toMatchObject({ target: 'smtp:ops@example.org', error: expect.stringContaining('box is full') })
  sink.refusal = undefined
  own.pass(HOUR_MS, { wall: true })
  await turn()
  await turn()
  expect(sink.received.slice(told).filter((text) => text.includes('Paid activity is paused'))).toHaveLength(1)
  expect(endpoint.received.at(-1)?.body.over).toContainEqual(expect.objectContaining({ kind: 'alarm' }))
})

test('a message that fails again and again is kept, and tried once an hour', async () => {
  const { mail: sink, market: own, ctx } = opened()
  const told = sink.received.length
  sink.refusal = '451 later'
  await pause(false)
  for (let turns = 0; turns < 5; turns += 1) {
    await turn()
    own.pass(31 * MINUTE_MS, { wall: true })
  }
  const failed = (await allRows(ctx)).find(({ error }) => error?.includes('451'))
  expect(failed).toMatchObject({ failures: 5, pending: { raised: [], over: expect.anything() } })
  sink.refusal = undefined
  own.pass(HOUR_MS, { wall: true })
  await turn()
  expect(sink.received.length).toBe(told + 1)
})

test('a test message says of each target what happened', async () => {
  const { mail: sink, admin } = opened()
  sink.refusal = '550 no'
  const { results } = (await admin('POST', '/dashboard/api/admin/alarms/test')).body
  expect(results).toMatchObject([
    { ok: true, target: 'exec:cat' },
    { ok: true, target: expect.stringMatching(/^webhook:127/) },
    { ok: false, target: 'smtp:ops@example.org', detail: expect.stringContaining('550 no') },
  ])
  sink.refusal = undefined
  expect(await programs()).toContainEqual(expect.objectContaining({ type: 'attention.test' }))
})

test('a daemon stops while a target hangs, and tells it later', async () => {
  const silent = createServer(() => undefined).listen(0, '127.0.0.1')
  await new Promise((resolve) => silent.once('listening', resolve))
  const address = silent.address()
  const port = typeof address === 'object' ? address?.port : 0
  const called = new Promise((resolve) => silent.once('connection', resolve))
  const own = await openEscrow({}, { crons: false, notify: [`webhook:http://127.0.0.1:${port}/`] })
  await own.setPaused({ platform: true })
  const running = alarms.of(own.ctx()).turn()
  await called
  expect((await own.market.admin('GET', '/dashboard/api/admin/attention')).status).toBe(200)
  await own.market.restart()
  await running
  const [row] = await allRows(own.ctx())
  expect(row).toMatchObject({ failures: 0, pending: { raised: [{ id: 'paused' }] } })
  await own.close()
  silent.close()
})
