import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { jobDraft, threadDraft } from '../../../fixtures/kit/rows.ts'
import { type Answer, type Marketplace, openMarketplace } from '../../../fixtures/market/marketplace.ts'
import { type Person, registered, stranger, texts } from '../../../fixtures/market/people.ts'
import { toWallet } from '../../../src/core/hex.ts'
import { MAX_MESSAGE_CHARS } from '../../../src/core/limits.ts'
import { DAY_MS } from '../../../src/core/time.ts'
import { events } from '../../events/rows.ts'
import type { Clock } from '../../ports/clock.ts'
import { commit } from '../../store/draw.ts'
import { insertJob, jobs, putJob } from '../jobs/rows.ts'
import { MAX_MESSAGES } from './messages.ts'
import { insertThread, messages, putThread, threads } from './rows.ts'

let market: Marketplace
let ahead = 0
const clock: Clock = { now: () => Date.now() + ahead, wall: Date.now }

let buyer: Person
let provider: Person
let other: Person
beforeAll(async () => {
  market = await openMarketplace({}, { clock })
  buyer = await registered(market, { type: 'agent', name: 'Buyer' })
  provider = await registered(market, { type: 'provider', name: 'Provider' })
  other = await registered(market, { type: 'both', name: 'Other' })
})
afterAll(() => market.close())

let jobNumber = 0

type Opened = { status?: 'completed' | 'dispatched'; thread?: 'completed' | 'cancelled'; agent?: Person }

/** A job of a buyer with the provider as it stands in the store, with its conversation. */
async function openJob({ status = 'completed', thread = 'completed', agent = buyer }: Opened = {}) {
  jobNumber += 1
  const sides = { buyer: 0, provider: 0 }
  const own = { buyer_wallet: toWallet(agent.account.address), provider_id: provider.id }
  const job = { ...jobDraft(jobNumber, sides), ...own, buyer_id: agent.id, status }
  const talk = { ...threadDraft(jobNumber, sides), ...own, agent_id: agent.id, status: thread }
  await commit(market.daemon.ctx, async (t) => {
    await insertJob(t, job)
    await insertThread(t, talk)
  })
  return { job: job.id, thread: talk.id }
}

async function buyQr(person: Person): Promise<Answer['body']> {
  const path = `/v1/services/${await market.serviceId('qr_code')}/purchase`
  const bought = await person.pay(path, { body: { data: 'hello' } })
  expect(bought.status).toBe(200)
  return bought.body
}

const bodies = (answer: Answer) => answer.body.messages.map((message: { body: string }) => message.body)
const bearer = (token: string) => ({ headers: { Authorization: `Bearer ${token}` } })

describe('GET /v1/jobs', () => {
  test('lists a buyer’s own purchases, also those from before it registered', async () => {
    const ann = await stranger(market)
    const bought = await buyQr(ann)
    const joined = await ann.pay('/v1/register', { body: { name: 'Ann', type: 'agent' } })
    const list = await market.call('GET', '/v1/jobs', { headers: { 'X-API-Key': joined.body.api_key } })
    expect([list.status, list.body.total, list.body.limit, list.body.offset]).toEqual([200, 1, 20, 0])
    const [job] = list.body.jobs
    expect([job.id, job.job_id, job.status, job.amount]).toEqual([
      bought.job_id,
      bought.job_id,
      'completed',
      bought.amount,
    ])
    expect([job.input, job.deliverables, job.timeline]).toEqual([undefined, undefined, undefined])
  })

  test('filters by role and status, slices by limit and offset, newest first', async () => {
    const agent = await registered(market, { type: 'agent' })
    const [a, b] = [await openJob({ agent }), await openJob({ agent, status: 'dispatched' })]
    const ids = async (who: Person, query: string) => {
      const { body } = await who.call('GET', `/v1/jobs?${query}`)
      return [body.total, ...body.jobs.map((row: { id: string }) => row.id)]
    }
    expect(await ids(agent, '')).toEqual([2, b.job, a.job])
    expect(await ids(agent, 'role=buyer&status=dispatched')).toEqual([1, b.job])
    expect(await ids(agent, 'role=provider')).toEqual([0])
    expect(await ids(agent, 'limit=1&offset=1')).toEqual([2, a.job])
    expect(await ids(agent, 'offset=2')).toEqual([2])
    expect((await ids(provider, 'role=provider&limit=2')).slice(1)).toEqual([b.job, a.job])
    expect(await ids(other, '')).toEqual([0])
  })

  test('follows a job’s status', async () => {
    const { job } = await openJob({ status: 'dispatched' })
    const dispatched = async () => (await buyer.call('GET', '/v1/jobs?status=dispatched')).body.total as number
    const before = await dispatched()
    await commit(market.daemon.ctx, async (t) => {
      const locked = await t.table(jobs).getForUpdate(job)
      if (locked) await putJob(t, { ...locked, status: 'completed' })
    })
    expect(await dispatched()).toBe(before - 1)
  })

  test.each(['role=poster', 'status=done', 'limit=0', 'limit=101', 'offset=-1'])(
    '?%s is a 400 that names it',
    async (query) => {
      const refused = await buyer.call('GET', `/v1/jobs?${query}`)
      expect([refused.status, refused.body.details[0].path]).toEqual([400, query.split('=')[0]])
    },
  )
})

describe('the conversation of a job', () => {
  test('is read and written by both parties, in order', async () => {
    const { job, thread } = await openJob()
    const path = `/v1/jobs/${job}/messages`
    const said = await buyer.call('POST', path, { message: 'Where is it?' })
    expect([said.status, said.body]).toEqual([
      200,
      {
        id: said.body.id,
        message_id: said.body.id,
        thread_id: thread,
        author_role: 'buyer',
        type: 'message',
        body: 'Where is it?',
        created_at: said.body.created_at,
      },
    ])
    await provider.call('POST', path, { message: 'Here.' })
    for (const who of [buyer, provider]) {
      const read = await who.call('GET', path)
      expect([read.body.job_id, read.body.thread_id, read.body.total]).toEqual([job, thread, 2])
      expect(read.body.messages.map((m: { author_role: string }) => m.author_role)).toEqual(['buyer', 'provider'])
    }
  })

  test('is open to the bearer of its token, and closed 30 days after the job ended', async () => {
    const bought = await buyQr(await stranger(market))
    const path = `/v1/jobs/${bought.job_id}/messages`
    const said = await market.call('POST', path, { body: { message: 'Thanks' }, ...bearer(bought.access_token) })
    expect([said.status, said.body.author_role]).toEqual([200, 'buyer'])
    expect(bodies(await market.call('GET', path, bearer(bought.access_token)))).toEqual(['Thanks'])
    ahead = 31 * DAY_MS
    expect((await market.call('GET', path, bearer(bought.access_token))).status).toBe(401)
    ahead = 0
  })

  test('is closed to everyone else', async () => {
    const { job } = await openJob()
    const bought = await buyQr(await stranger(market))
    const path = `/v1/jobs/${job}/messages`
    const foreign = bearer(bought.access_token)
    const [unknown, message] = ['/v1/jobs/job_00000000000000ff/messages', { message: 'x' }]
    const answers = await Promise.all([
      other.call('GET', path),
      other.call('POST', path, message),
      market.call('GET', path, foreign),
      market.call('POST', path, { body: message, ...foreign }),
      market.call('GET', path, bearer(`jt_${'0'.repeat(64)}`)),
      market.call('GET', path),
      buyer.call('GET', unknown),
      buyer.call('POST', unknown, message),
    ])
    expect(answers.map(({ status }) => status)).toEqual([403, 403, 401, 401, 401, 401, 404, 404])
    expect((await buyer.call('GET', path)).body.total).toBe(0)
  })

  test.each([
    { body: {}, at: 'message' },
    { body: { message: '' }, at: 'message' },
    { body: { message: ' \n' }, at: 'message' },
    { body: { message: 'x'.repeat(MAX_MESSAGE_CHARS + 1) }, at: 'message' },
    { body: { message: 'x', type: 'system' }, at: 'type' },
  ])('a bad $at is a 400 that names it', async ({ body, at }) => {
    const { job, thread } = await openJob()
    for (const path of [`/v1/jobs/${job}/messages`, `/v1/threads/${thread}/messages`]) {
      const refused = await buyer.call('POST', path, body)
      expect([refused.status, refused.body.details[0].path]).toEqual([400, at])
    }
  })
})

describe('threads', () => {
  test('are listed by their last change, with what they are about', async () => {
    const [a, b] = [await openJob(), await openJob()]
    await provider.call('POST', `/v1/threads/${a.thread}/messages`, { message: 'Back to this' })
    const { body } = await buyer.call('GET', '/v1/threads?role=buyer&status=completed&limit=1')
    expect([body.limit, body.offset, body.total]).toEqual([1, 0, expect.any(Number)])
    expect(body.threads).toEqual([
      expect.objectContaining({
        thread_id: a.thread,
        job_id: a.job,
        agent_id: buyer.id,
        provider_id: provider.id,
        status: 'completed',
        proposal: null,
        message_count: 1,
      }),
    ])
    expect(body.threads[0].messages).toBeUndefined()
    const all = (await buyer.call('GET', '/v1/threads?limit=100')).body.threads.map((row: { id: string }) => row.id)
    expect(all).toContain(b.thread)
    expect((await other.call('GET', '/v1/threads')).body.total).toBe(0)
  })

  test('show the newest messages, oldest first, and older ones by offset', async () => {
    const { thread } = await openJob()
    for (let i = 1; i <= 5; i += 1) await buyer.call('POST', `/v1/threads/${thread}/messages`, { message: `m${i}` })
    const read = async (query: string) => bodies(await provider.call('GET', `/v1/threads/${thread}${query}`))
    expect(await read('')).toEqual(['m1', 'm2', 'm3', 'm4', 'm5'])
    expect(await read('?limit=2')).toEqual(['m4', 'm5'])
    expect(await read('?limit=2&offset=2')).toEqual(['m2', 'm3'])
    expect(await read('?offset=4')).toEqual(['m1'])
    expect(await read('?offset=5')).toEqual([])
  })

  test('keep text as it was sent', async () => {
    const { thread } = await openJob()
    const message = 'a\u0000b\u001b[31mred\u0085 \u202eabc 👋\r\n<b>'
    await buyer.call('POST', `/v1/threads/${thread}/messages`, { message })
    expect(bodies(await provider.call('GET', `/v1/threads/${thread}`))).toEqual([message])
  })

  test('are closed to strangers', async () => {
    const { thread } = await openJob()
    const unknown = '/v1/threads/thr_00000000000000ff'
    const answers = await Promise.all([
      other.call('GET', `/v1/threads/${thread}`),
      other.call('POST', `/v1/threads/${thread}/messages`, { message: 'x' }),
      market.call('GET', `/v1/threads/${thread}`),
      buyer.call('GET', unknown),
      buyer.call('POST', `${unknown}/messages`, { message: 'x' }),
    ])
    expect(answers.map(({ status, body }) => [status, body.code])).toEqual([
      [403, 'forbidden'],
      [403, 'forbidden'],
      [401, 'unauthorized'],
      [404, 'not_found'],
      [404, 'not_found'],
    ])
  })

  test.each(['role=poster', 'status=open', 'limit=101'])('?%s is a 400 that names it', async (query) => {
    const refused = await buyer.call('GET', `/v1/threads?${query}`)
    expect([refused.status, refused.body.details[0].path]).toEqual([400, query.split('=')[0]])
  })

  test('that were cancelled, or are full, take no more', async () => {
    const cancelled = await openJob({ thread: 'cancelled' })
    const full = await openJob()
    await commit(market.daemon.ctx, async (t) => {
      const locked = await t.table(threads).getForUpdate(full.thread)
      if (locked) await putThread(t, { ...locked, message_count: MAX_MESSAGES })
    })
    for (const { job, thread } of [cancelled, full]) {
      for (const path of [`/v1/jobs/${job}/messages`, `/v1/threads/${thread}/messages`]) {
        const refused = await buyer.call('POST', path, { message: 'x' })
        expect([refused.status, refused.body.code]).toEqual([409, 'conflict'])
      }
    }
    expect(await market.daemon.ctx.store.table(messages).count('thread', [cancelled.thread])).toBe(0)
  })
})

test('20 messages at once are all there, numbered without gaps', async () => {
  const { thread } = await openJob()
  const said = Array.from({ length: 20 }, (_, i) => `m${i}`)
  const path = `/v1/threads/${thread}`
  await Promise.all(said.map((message) => buyer.call('POST', `${path}/messages`, { message })))
  const { rows } = await market.daemon.ctx.store.table(messages).page('thread', [thread], { limit: 100, order: 'asc' })
  expect(rows.map((row) => row.number)).toEqual(said.map((_, i) => i + 1))
  expect(bodies(await buyer.call('GET', path)).sort()).toEqual(said.sort())
})

test('the other side hears that there is a message, and nobody what it says', async () => {
  const { job, thread } = await openJob()
  const heard = async (id: string) => {
    const page = await market.daemon.ctx.store.table(events).page('own', [id], { limit: 1, order: 'desc' })
    return page.rows[0]
  }
  const said = await buyer.call('POST', `/v1/jobs/${job}/messages`, { message: 'between us' })
  const told = await heard(provider.id)
  expect([told?.type, told?.subject_id]).toEqual(['message.created', thread])
  expect(told?.data).toEqual({ message_id: said.body.id, job_id: job, author_role: 'buyer', type: 'message' })
  const answer = await provider.call('POST', `/v1/threads/${thread}/messages`, { message: 'between us' })
  expect((await heard(buyer.id))?.data['message_id']).toBe(answer.body.id)
  const open = [`/v1/services/${await market.serviceId('qr_code')}`, '/v1/participants/directory', '/health']
  expect(texts(await Promise.all(open.map((path) => market.call('GET', path))))).not.toContain('between us')
  const stored = await market.daemon.ctx.store.table(events).page('seq', [], { limit: 1_000 })
  expect(JSON.stringify(stored.rows)).not.toContain('between us')
})
