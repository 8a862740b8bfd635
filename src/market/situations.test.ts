import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { auditBooks } from '../../daemon/features/audit/audit.ts'
import { createDaemon, type Daemon } from '../../daemon/index.ts'
import { configDefaults } from '../../fixtures/kit/config.ts'
import { createTransport } from '../client/transport.ts'
import { type EventType, eventTypes } from '../model/event-types.ts'
import { joinCast, type Opened } from './cast.ts'
import type { Stage } from './hand.ts'
import { trigger, triggers } from './situations/run.ts'

// @slow every situation of the demo market is played

// @story each event is made after those that it needs

let folder: string
let daemon: Daemon
let stage: Stage
let opened: Opened
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'souk-situations-'))
  daemon = await createDaemon({ ...configDefaults, dataDir: folder, crons: true })
  const adminKey = (await readFile(join(folder, 'admin.key'), 'utf8')).trim()
  stage = { url: daemon.url, adminKey, wall: () => Date.now() }
  opened = await joinCast(stage, () => undefined)
})
afterAll(async () => {
  await daemon.stop()
  await rm(folder, { recursive: true, force: true })
})

const events = (signal: AbortSignal) =>
  createTransport({ baseUrl: stage.url })({
    method: 'GET',
    path: '/dashboard/api/admin/events',
    headers: { authorization: `Bearer ${stage.adminKey}` },
    timeoutMs: 0,
    signal,
  })

/** Those that move the clock come last, the furthest at the end. */
const made = (Object.keys(eventTypes) as EventType[])
  .flatMap((type) => {
    const situation = triggers[type]
    return 'why' in situation ? [] : [{ type, situation }]
  })
  .sort((one, other) => (one.situation.moves ?? 0) - (other.situation.moves ?? 0))

describe('each event that can be made', () => {
  test.each(made)('$type happens by acts of people', async ({ type, situation }) => {
    const event = await trigger({ ...opened, stage, type, folder, events }, situation)
    expect(event).toMatchObject({ type, id: expect.stringMatching(/^evt_/), subject: { id: expect.any(String) } })
  })

  test('leaves books that add up', async () => {
    expect((await auditBooks(daemon.ctx)).checks.filter(({ ok }) => !ok)).toEqual([])
  })
})

test('few events cannot be made, and say why', () => {
  const left = Object.values(triggers).flatMap((one) => ('why' in one ? [one.why] : []))
  expect(left.length).toBeLessThanOrEqual(11)
  for (const why of left) expect(why.length).toBeGreaterThanOrEqual(20)
})
