import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createDaemon, type Daemon } from '../../daemon/index.ts'
import { configDefaults } from '../../fixtures/kit/config.ts'
import { readAnswer, wordsOf } from '../client/call.ts'
import { createTransport } from '../client/transport.ts'
import { DAY_MS, HOUR_MS } from '../core/time.ts'
import { type Opened as Cast, joinCast } from '../market/cast.ts'
import type { Stage } from '../market/hand.ts'
import { trigger, triggers } from '../market/situations/run.ts'
import type { EventType } from '../model/event-types.ts'
import { type FakeLink, fakeLink, type Opened, openOn } from './cockpit.testkit.tsx'

// @story one inbox, emptied by its own keys

let folder: string
let daemon: Daemon
let stage: Stage
let cast: Cast
let open: Opened

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'souk-needs-'))
  daemon = await createDaemon({ ...configDefaults, dataDir: folder, crons: true })
  const adminKey = (await readFile(join(folder, 'admin.key'), 'utf8')).trim()
  stage = { url: daemon.url, adminKey, wall: () => Date.now() }
  cast = await joinCast(stage, () => undefined)
})
afterAll(async () => {
  open?.close()
  await daemon.stop()
  await rm(folder, { recursive: true, force: true })
})

const send = (path: string, body?: string) =>
  createTransport({ baseUrl: stage.url })({
    method: body === undefined ? 'GET' : 'POST',
    path,
    headers: { authorization: `Bearer ${stage.adminKey}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body }),
    timeoutMs: 0,
  })

const events = (signal: AbortSignal) =>
  createTransport({ baseUrl: stage.url })({
    method: 'GET',
    path: '/dashboard/api/admin/events',
    headers: { authorization: `Bearer ${stage.adminKey}` },
    timeoutMs: 0,
    signal,
  })

async function happens(type: EventType): Promise<void> {
  const situation = triggers[type]
  if ('why' in situation) throw new Error(situation.why)
  await trigger({ ...cast, stage, type, folder, events }, situation)
}

/** The daemon itself behind the cockpit's link. */
function linkTo(): FakeLink {
  const link = fakeLink()
  return Object.assign(link, {
    async call(name, asked) {
      const { method, path, query = {}, body } = wordsOf(name, asked)
      const text = new URLSearchParams(
        Object.entries(query).map(([key, value]): [string, string] => [key, String(value)]),
      ).toString()
      const answer = await send(
        text === '' ? path : `${path}?${text}`,
        method === 'GET' ? undefined : JSON.stringify(body ?? {}),
      )
      const told = JSON.parse(await answer.text())
      if (answer.status < 400) return { ok: true, value: await readAnswer(name, told) }
      return { ok: false, problem: { kind: 'failed', sentence: told.message, facts: [], next: [] } }
    },
  } satisfies Pick<FakeLink, 'call'>)
}

const told = () => cast.operator.call('getAttention', {})
const kindsNow = async () => new Set((await told()).items.map(({ kind }) => kind))

/** The row of the inbox that has the cursor. */
const chosenRow = () => open.rows().find((row) => row.startsWith('▌')) ?? ''
const VERBS = /(?<key>[A-Z]) (?:unpause|resume|try now|decide|refund|run now|settle|send it|resend|fetch now) *(?:│|$)/

/** Confirms what is open, with its first choice and a reason where it asks for them. */
async function confirm(): Promise<void> {
  const { dialog } = open.host.ui.get()
  if (dialog === undefined) throw new Error(`no dialog is open:\n${open.text()}`)
  for (const { name, choices } of dialog.spec.fields) {
    await open.type(choices?.[0]?.[0] ?? (name === 'reason' ? 'so it is' : ''))
    await open.type('\t')
  }
  await open.type('y')
  await open.until(() => open.host.ui.get().dialog === undefined)
}

test('what waits is mended by the keys that its rows name', async () => {
  await happens('subscription.past_due')
  expect(await kindsNow()).toContain('past_due')
  await happens('thread.inquiry')
  for (let i = 0; i < 2; i += 1) await happens('job.dispatched')
  await cast.operator.call('moveClock', { body: { advance_ms: DAY_MS + HOUR_MS } })
  for (const type of ['job.disputed', 'subscription.unserved', 'webhook.failed'] as const) await happens(type)
  await cast.operator.call('moveClock', { body: { advance_ms: 8 * HOUR_MS } })
  await cast.operator.call('pausePlatform', { body: { reason: 'the bank is closed' } })
  await cast.operator.call('pauseEscrow', { body: {} })
  const before = await told()
  const mended = ['platform', 'escrow', 'dispute', 'overdue', 'unserved_period'] as const
  for (const kind of [...mended, 'inquiry', 'delivery'] as const) expect(await kindsNow()).toContain(kind)
  open = await openOn({ link: linkTo(), columns: 160, rows: 50, now: Date.now() })
  await open.until(() => open.text().includes(`${before.total} problems`))
  // Its seller has no endpoint any more: it can only be looked at.
  expect(open.text()).toMatch(/! delivery .*enter look/)
  // Two overdue jobs are one row with their sum and the age of the older.
  expect(open.text()).toMatch(/✗ overdue +2 jobs +\$5\.25 .*\d+h W refund/)
  for (let left = await kindsNow(), tries = 0; mended.some((kind) => left.has(kind)); left = await kindsNow()) {
    expect(++tries).toBeLessThan(12)
    await open.type('g')
    for (let i = 0; VERBS.exec(chosenRow()) === null; i += 1) {
      if (i > 20) throw new Error(`no row names its key:\n${open.text()}`)
      await open.type('j')
    }
    const key = VERBS.exec(chosenRow())?.groups?.key ?? ''
    const row = chosenRow()
    await open.type(key)
    await open.until(() => open.host.ui.get().dialog !== undefined)
    await confirm()
    await open.until(() => !open.text().includes(row))
  }
})
