import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { filePart, formBytes, sendForm } from '../../../fixtures/kit/forms.ts'
import { type Escrow, openEscrow } from '../../../fixtures/market/escrow.ts'
import { jobIn } from '../../../fixtures/market/job-states.ts'
import { BRIEF, OFFER, openTalk } from '../../../fixtures/market/negotiation.ts'
import type { Person } from '../../../fixtures/market/people.ts'

// @story one job in the hands of the operator

const path = '/dashboard/api/admin/jobs'
const byHand = { pricing_model: 'quote_required', price: null }
const WORDS = { type: 'object', properties: { words: { type: 'integer' } }, required: ['words'] }
const fine = { ok: true, details: [] }
const reason = { reason: 'the provider is gone' }

let market: Escrow
let ann: Person
let ben: Person
const ids: Record<'first' | 'second' | 'third', string> = { first: '', second: '', third: '' }
beforeAll(async () => {
  market = await openEscrow()
  ann = await market.agent()
  ben = await market.agent()
  ids.first = (await jobIn(market, { status: 'dispatched', buyer: ann })).id
  ids.second = (await jobIn(market, { status: 'disputed', buyer: ann })).id
  ids.third = (await jobIn(market, { status: 'dispatched', buyer: ben })).id
})
afterAll(() => market.close())

// The list is read before acts change it.
describe('jobs for the operator', () => {
  test('lists all jobs, newest first, by status, party and role, a slice at a time', async () => {
    const found = async (query: string) => {
      const { body } = await market.market.admin('GET', `${path}?${query}`)
      return [body.total, new Set(body.jobs.map((job: { id: string }) => job.id))]
    }
    const { first, second, third } = ids
    expect(await found('')).toEqual([3, new Set([first, second, third])])
    expect(await found('status=dispatched')).toEqual([2, new Set([first, third])])
    expect(await found(`participant=${ann.id}`)).toEqual([2, new Set([first, second])])
    expect(await found(`participant=${ann.account.address}&status=disputed`)).toEqual([1, new Set([second])])
    expect(await found(`participant=${market.provider.id}&role=provider&limit=2`)).toEqual([
      3,
      new Set([third, second]),
    ])
    expect(await found(`participant=${market.provider.id}&role=buyer`)).toEqual([0, new Set()])
    expect((await found('limit=1&offset=2'))[0]).toBe(3)
    const { body } = await market.market.admin('GET', `${path}?status=disputed`)
    expect(body.jobs[0]).toMatchObject({ id: second, dispute: { status: 'open' }, escrow: { next_event: 'remind' } })
  })

  test.each(['status=lost', 'role=buyer', 'participant=nobody', 'limit=0'])(
    '?%s is a 400 that names it',
    async (query) => {
      const refused = await market.market.admin('GET', `${path}?${query}`)
      expect([refused.status, refused.body.details[0].path]).toEqual([400, query.split('=')[0]])
    },
  )

  test('acts are for administrators, who say why, and are written down', async () => {
    const act = `${path}/${ids.third}/emergency-withdraw`
    expect((await ann.call('POST', act, reason)).status).toBe(401)
    expect((await market.market.admin('POST', act, { body: {} })).status).toBe(400)
    expect((await market.market.admin('POST', act, { body: { reason: ' ' } })).status).toBe(400)
    const withdrawn = await market.market.admin('POST', act, { body: reason })
    expect([withdrawn.status, withdrawn.body.status, withdrawn.body.escrow.status]).toEqual([
      200,
      'refunded',
      'refunded',
    ])
    const ruled = await market.market.admin('POST', `${path}/${ids.second}/resolve`, {
      body: { ...reason, outcome: 'split', buyer_amount: '0.25' },
    })
    expect(ruled.body.dispute).toMatchObject({ resolution: 'split', buyer_amount: '0.25' })
    const log = await market.market.admin('GET', '/dashboard/api/admin/log')
    expect(log.body.acts.slice(0, 2)).toMatchObject([
      {
        act: 'job.resolve',
        subject: { kind: 'job', id: ids.second },
        detail: { outcome: 'split', buyer_amount: '0.25' },
      },
      { act: 'job.withdraw', subject: { kind: 'job', id: ids.third }, ...reason },
    ])
    expect(await market.faults()).toEqual([])
  })

  test('a withdrawal of a disputed hold decides the dispute for the buyer', async () => {
    const { id } = await jobIn(market, { status: 'disputed', buyer: ben })
    const { body } = await market.market.admin('POST', `${path}/${id}/emergency-withdraw`, { body: reason })
    expect([body.status, body.dispute.status, body.dispute.resolution]).toEqual(['refunded', 'resolved', 'refund'])
  })

  describe('a bundle', () => {
    test('holds what a ruling rests on: what was wanted and said, what was made and its hash, where the money is', async () => {
      const talk = await openTalk(market, { listing: { ...byHand, deliverable_schema: WORDS } })
      await talk.propose(OFFER.price)
      const { job_id: id } = (await talk.accept({ by: 'balance' })).body
      await talk.provider.call('POST', talk.at('update'), {
        status: 'completed',
        deliverables: { words: 4, by: 'hand' },
      })
      const form = formBytes([filePart('one two three four five')])
      const file = (await sendForm(market.market, { path: talk.at('upload'), key: talk.agent.key, body: form })).body
      await talk.agent.call('POST', talk.at('dispute'), {
        reason: 'There are five',
        category: 'quality',
        evidence: [file.id],
      })
      const { status, body } = await market.market.admin('GET', `${path}/${id}/bundle`)
      expect(status).toBe(200)
      expect(body.job).toMatchObject({ id, status: 'disputed', input: BRIEF, dispute: { reason: 'There are five' } })
      expect(body.job.timeline.map((entry: { event: string }) => entry.event)).toEqual([
        'paid',
        'dispatched',
        'completed',
        'disputed',
      ])
      expect(body.schema_report).toEqual({ input: fine, deliverables: fine })
      // The RFC 8785 form sorts the members.
      const canonical = '{"by":"hand","words":4}'
      const sha256 = createHash('sha256').update(canonical).digest('hex')
      expect(body.deliverable_hashes).toEqual([{ index: 0, bytes: canonical.length, sha256 }])
      expect(body.thread.messages.map((message: { type: string }) => message.type)).toEqual([
        'message',
        'proposal',
        'status',
        'delivery',
        'file',
        'status',
      ])
      expect([body.files, body.job.dispute.evidence]).toEqual([[file], [file.id]])
      expect(file.sha256).toBe(createHash('sha256').update('one two three four five').digest('hex'))
      const there = new URL(body.files[0].download_url).pathname
      expect((await market.market.admin('GET', there)).text).toBe('one two three four five')
      expect(body.payment).toMatchObject({
        endpoint: 'acceptPrice',
        method: 'balance',
        state: 'fulfilled',
        amount: '2.10',
      })
      expect(body.postings).toMatchObject([
        { kind: 'escrow_hold', lines: [{}, { account: `esc:${id}`, amount: '2.10' }] },
      ])
      await market.market.admin('POST', `${path}/${id}/resolve`, { body: { ...reason, outcome: 'release' } })
      const after = await market.market.admin('GET', `${path}/${id}/bundle`)
      expect(after.body.postings.map((posting: { kind: string }) => posting.kind)).toEqual([
        'escrow_hold',
        'escrow_release',
      ])
      expect(after.body.job.dispute).toMatchObject({ resolution: 'release', resolved_by: 'admin' })
    })

    test('says where what was wanted is not as the listing asks', async () => {
      const talk = await openTalk(market, { listing: { ...byHand, input_schema: WORDS }, brief: { pages: 2 } })
      await talk.propose('1.00')
      const { job_id } = (await talk.accept({ by: 'balance' })).body
      const { body } = await market.market.admin('GET', `${path}/${job_id}/bundle`)
      expect([body.schema_report.input.ok, body.schema_report.input.details[0].path]).toEqual([false, 'words'])
      expect([body.schema_report.deliverables, body.deliverable_hashes]).toEqual([null, []])
    })

    test('is not read without a line in the log data of the administrator', async () => {
      const log = async () => (await market.market.admin('GET', '/dashboard/api/admin/log')).body
      const before = (await log()).total
      const read = await market.market.admin('GET', `${path}/${ids.first}/bundle`)
      const { acts, total } = await log()
      expect(total).toBe(before + 1)
      expect(acts[0]).toMatchObject({
        act: 'job.read',
        subject: { kind: 'job', id: ids.first },
        changed: false,
        detail: { messages: read.body.thread.messages.length },
      })
    })

    test('is logged once a sitting, however often a cockpit looks again', async () => {
      const total = async () => (await market.market.admin('GET', '/dashboard/api/admin/log')).body.total
      const look = (sitting: string) =>
        market.market.admin('GET', `${path}/${ids.first}/bundle`, { headers: { 'souk-sitting': sitting } })
      const before = await total()
      for (let i = 0; i < 3; i += 1) expect((await look('one')).status).toBe(200)
      expect(await total()).toBe(before + 1)
      await look('two')
      await look('not a name')
      expect(await total()).toBe(before + 3)
    })

    test('leaves one line for all glances of a sitting, and one for each that is opened', async () => {
      const log = async () => (await market.market.admin('GET', '/dashboard/api/admin/log')).body
      const look = (id: string, more: Readonly<Record<string, string>>) =>
        market.market.admin('GET', `${path}/${id}/bundle`, { headers: { 'souk-sitting': 'three', ...more } })
      const glance = { 'souk-glance': '1' }
      const { total: before } = await log()
      for (const id of [ids.first, ids.second, ids.first]) expect((await look(id, glance)).status).toBe(200)
      const { total, acts } = await log()
      expect(total).toBe(before + 1)
      expect(acts[0]).toMatchObject({ act: 'job.read', subject: { kind: 'sitting', id: 'three' }, changed: false })
      await look(ids.first, {})
      await look(ids.first, {})
      expect((await log()).total).toBe(before + 2)
      // Without a session there is nothing that stands for all glances.
      await market.market.admin('GET', `${path}/${ids.first}/bundle`, { headers: glance })
      expect((await log()).total).toBe(before + 3)
    })

    test('is the administrator’s alone', async () => {
      expect((await market.provider.call('GET', `${path}/${ids.first}/bundle`)).status).toBe(401)
      expect((await market.market.admin('GET', `${path}/job_00000000000000ff/bundle`)).status).toBe(404)
      expect((await market.market.admin('GET', `${path}/${ids.first}/bundle`)).body.payment).toBe(null)
    })
  })
})
