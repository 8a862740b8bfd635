import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Marketplace, openMarketplace } from '../../../fixtures/market/marketplace.ts'
import { type Marked, markEverything } from '../../../fixtures/scenarios/private-things.ts'
import type { PersonName } from '../../../fixtures/scenarios/scenario.ts'
import { openStage, type Stage } from '../../../fixtures/scenarios/stage.ts'
import { take } from '../../../fixtures/scenarios/steps.ts'
import { api } from '../../../src/api/index.ts'
import { exportKinds } from '../../../src/api/sections/export.ts'
import { collections } from '../../app.ts'
import { emit } from '../../events/event-log.ts'
import { commit } from '../../store/draw.ts'
import { exportSources } from './sources.ts'

/** Collections that no export reads, with the reason. */
const notExported: Readonly<Record<string, string>> = {
  coverage: 'services that a subscription covers; each subscription lists its own',
  answers: 'copies of responses kept for a day for safe retries',
  idempotency: 'hashes of idempotency keys, kept for a day',
  ledger: 'both sides of every ledger entry; yours are in balance entries, earnings and payments',
  accounts: 'ledger totals; yours are in the balance',
  sanctions: 'list of third parties; public under /health',
  admin_answers: 'copies of responses per Idempotency-Key, kept for a day',
  posting_fanouts: 'progress of notifications about a request; removed when done',
  posting_notices: 'notifications in progress; each attempt is exported as a delivery',
  escrow_deals: 'state of jobs in the escrow contract; the job shows how it ended',
  uncounted_jobs: 'jobs waiting to be counted',
  counted_jobs: 'effect of each job on reputation; everyone can read it in the evidence',
  standings: 'reputation totals of counted jobs; everyone can read them in the listings',
  evidence: 'progress of reputation evidence; the documents themselves are public',
  documents: 'public evidence and feedback',
  publications: 'evidence to be written to the public chain',
  counters: 'settings of the installation',
  settings: 'settings of the installation',
  unserved_periods: 'open decisions of the operator; subscribers are notified by subscription.unserved',
  crons: 'settings of the installation',
  tallies: 'settings of the installation',
  rollups: 'sums of the installation by hour and day',
  grant_days: 'daily counts, kept for two days',
  gas_days: 'daily counts, kept for two days',
  alarm_targets: 'what targets of alarms were told, of no one',
  facilitator_settlements: 'settlements by API key, each a transfer on the chain; removed a month after they expire',
  facilitator_days: 'daily counts, kept for two days',
  facilitated_resources: 'public list of resources declared by other servers',
  polls: "last time the participant's events were read; its listings show the effect",
  admin_acts: 'data of the administrator',
  watch_days: 'daily counts of the installation',
  watch_callers: 'anonymous hashes with a daily salt that is deleted at the end of the day',
}

/** More than three pages. */
const MANY_EVENTS = 350

let market: Marketplace
let stage: Stage
let marked: Marked
beforeAll(async () => {
  market = await openMarketplace()
  stage = openStage(market)
  marked = await markEverything(stage)
  await take(stage, ['a file', 'an identity of the provider', 'a referred buyer', 'a referral reward'])
  await market.admin('POST', '/dashboard/api/admin/platform/pause', { body: { reason: 'to export' } })
})
afterAll(async () => {
  await market.close()
  await marked.hook.close()
})

// biome-ignore lint/suspicious/noExplicitAny: records of many kinds, each read by the test that asked
type Line = { kind: string; record: any }

async function exported(name: PersonName, query = ''): Promise<{ lines: Line[]; text: string }> {
  const { key } = await stage.person(name)
  const answer = await market.call('GET', `/v1/export${query}`, { headers: { 'X-API-Key': key } })
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/x-ndjson'])
  expect(answer.text.endsWith('\n')).toBe(true)
  const lines = answer.text.trimEnd().split('\n')
  return { lines: lines.map((line) => JSON.parse(line)), text: answer.text }
}

const CONTENT = ['text of a file', 'text of a file of a guest', 'bytes of a product']

const ofKind = (lines: readonly Line[], kind: string) =>
  lines.filter((one) => one.kind === kind).map((one) => one.record)

test('begins with whose it is and ends with how many there were', async () => {
  const { lines } = await exported('buyer')
  expect(lines[0]).toEqual({
    kind: 'export',
    record: { as_of: expect.any(String), participant_id: stage.get('buyer') },
  })
  const { records, counts } = lines.at(-1)?.record ?? {}
  expect(lines.at(-1)?.kind).toBe('end')
  expect(records).toBe(lines.length - 2)
  expect(Object.keys(counts)).toEqual(exportKinds)
  for (const kind of exportKinds) expect([kind, counts[kind]]).toEqual([kind, ofKind(lines, kind).length])
})

describe.each(['buyer', 'provider'] as const)('while paused, the export of the %s', (name) => {
  test('has everything that is its own, and nothing that is only another’s', async () => {
    const { text } = await exported(name)
    // Files are described in it; their content has rows of its own.
    const isOwn = ({ what, owners }: (typeof marked.marks)[number]) => owners.includes(name) && !CONTENT.includes(what)
    const seen = marked.marks.filter((one) => text.includes(one.text)).map(({ what }) => what)
    expect(seen).toEqual(marked.marks.filter(isOwn).map(({ what }) => what))
  })

  test.each([
    ['job', 'jobs'],
    ['thread', 'threads'],
    ['subscription', 'subscriptions'],
    ['purchase', 'purchases'],
    ['balance_entry', 'balance/history', 'entries'],
    ['referral', 'referrals'],
  ])('has every %s that its own list has', async (kind, path, member = path) => {
    const { key } = await stage.person(name)
    const list = await market.call('GET', `/v1/${path}?limit=100`, { headers: { 'X-API-Key': key } })
    const { lines } = await exported(name, `?only=${kind}`)
    const idsOf = (rows: Record<string, string>[]) => rows.map((row) => row.id ?? row.participant_id).toSorted()
    expect(idsOf(ofKind(lines, kind))).toEqual(idsOf(list.body[member]))
  })
})

test('every kind has a record in what the two of them did, so that none is empty by mistake', async () => {
  const all = [...(await exported('buyer')).lines, ...(await exported('provider')).lines]
  const missing = exportKinds.filter((kind) => ofKind(all, kind).length === 0)
  expect(missing).toEqual(['posting_notifications', 'payout', 'referral'])
})

test('somebody who did nothing has itself and its balance', async () => {
  const { lines } = await exported('other')
  const kinds = new Set(lines.map(({ kind }) => kind))
  expect(kinds).toEqual(new Set(['export', 'participant', 'balance', 'event', 'end']))
})

test('goes on behind the first page', async () => {
  const { id } = await stage.person('rival')
  const { ctx } = market.daemon
  await commit(ctx, async (t, draw) => {
    for (let at = 0; at < MANY_EVENTS; at += 1) {
      await emit(t, draw, {
        type: 'participant.updated',
        participantId: id,
        subject: { kind: 'test', id: '1' },
        data: { at },
        at,
      })
    }
  })
  const { lines } = await exported('rival', '?only=event')
  const made = ofKind(lines, 'event').filter(({ type }) => type === 'participant.updated')
  expect(made.map(({ data }) => data.at)).toEqual(Array.from({ length: MANY_EVENTS }, (_, at) => at))
})

test('an unknown kind is refused, and so is who has no key', async () => {
  const { key } = await stage.person('buyer')
  const unknown = await market.call('GET', '/v1/export?only=secret', { headers: { 'X-API-Key': key } })
  expect(unknown).toMatchObject({ status: 400, body: { details: [{ path: 'only' }] } })
  expect((await market.call('GET', '/v1/export')).status).toBe(401)
})

describe('the table of kinds', () => {
  const read = new Set(exportKinds.flatMap((kind) => exportSources[kind].from))

  test.each(collections.map(({ name }) => [name]))('%s is exported, or says why not', (name) => {
    expect([read.has(name), Object.hasOwn(notExported, name)]).toContain(true)
    expect(read.has(name) && Object.hasOwn(notExported, name)).toBe(false)
  })

  test('names no collection that is not there', () => {
    const names = new Set(collections.map(({ name }) => name))
    expect([...read, ...Object.keys(notExported)].filter((name) => !names.has(name))).toEqual([])
  })

  test('is what the row offers', () => {
    expect(Object.keys(exportSources)).toEqual(exportKinds)
    expect(api.getExport.query.safeParse({ only: exportKinds.join(',') }).success).toBe(true)
  })
})
