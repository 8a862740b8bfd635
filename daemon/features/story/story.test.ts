import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Escrow, openEscrow } from '../../../fixtures/market/escrow.ts'
import { type Answer, signPayment } from '../../../fixtures/market/marketplace.ts'
import type { Person } from '../../../fixtures/market/people.ts'
import { storyKinds } from '../../../src/api/sections/admin-requests.ts'
import { shownPath } from './requests.ts'

/* What happened is told from the request down: while it is fresh, and what of it is durable after a restart. */

let market: Escrow
beforeAll(async () => {
  market = await openEscrow({}, { crons: false })
})
afterAll(() => market.close())

type Step = {
  depth: number
  kind: string
  id: string | null
  sign: string
  sentence: string
  amount: string | null
  ms: number | null
}

const admin = (path: string) => market.market.admin('GET', `/dashboard/api/admin/requests${path}`)
const list = async (query: string) => (await admin(`?${query}`)).body.requests
const idOf = (answer: Answer) => answer.headers.get('x-request-id') ?? ''

async function story(id: string): Promise<{ steps: Step[]; next: string[]; lost: string | null }> {
  const { status, body } = await admin(`/${id}/story`)
  expect({ id, status }).toEqual({ id, status: 200 })
  return body
}
const kinds = (steps: Step[]) => steps.map(({ kind }) => kind)
const ofKind = (steps: Step[], kind: string) => steps.filter((step) => step.kind === kind)

async function until(done: () => Promise<boolean>): Promise<void> {
  while (!(await done())) await new Promise((resolve) => setImmediate(resolve))
}

/** Buys as clients do: one key with the request that asks and with the one that pays. */
async function bought(who: Person) {
  const service = await market.list('automated')
  const path = `/v1/services/${service}/purchase`
  const headers = { 'Idempotency-Key': crypto.randomUUID() }
  const offer = await market.market.call('POST', path, { body: {}, headers })
  const answer = await market.market.call('POST', path, {
    body: {},
    headers: { ...headers, ...(await signPayment(who.account, offer)) },
  })
  expect(answer.status).toBe(200)
  return { service, answer, job: answer.body.job_id as string }
}

test('a request that was answered 404 is there at once, without its query', async () => {
  const lost = await market.market.call('GET', '/v1/nowhere/at-all?token=secret-of-mine')
  const [found, ...others] = await list(`request=${idOf(lost)}`)
  expect(others).toEqual([])
  expect(found).toMatchObject({
    method: 'GET',
    path: '/v1/nowhere/at-all',
    status: 404,
    code: 'not_found',
    endpoint: null,
    remembered: 'whole',
  })
  expect(JSON.stringify(found)).not.toContain('secret')
  expect((await story(idOf(lost))).steps).toMatchObject([{ kind: 'request', sign: 'failed' }])
})

test('what the operator only looks at leaves no line, what was refused to it does', async () => {
  const operator = (path: string) => market.market.admin('GET', path)
  const looks = ['/dashboard/api/admin/jobs', '/dashboard/api/admin/holds', '/metrics', '/health']
  const seen = await Promise.all(looks.map(operator))
  const lost = await operator('/dashboard/api/admin/jobs/job_0123456789abcdef/bundle')
  expect([...seen, lost].map(({ status }) => status)).toEqual([200, 200, 200, 200, 404])
  expect(await list(`request=${seen.map(idOf).join(',')}`)).toEqual([])
  expect(await list(`request=${idOf(lost)}`)).toMatchObject([{ status: 404 }])
})

test('what is answered from a finished page is remembered too', async () => {
  const page = await market.market.call('GET', '/v1/services/catalog')
  const again = await market.market.call('GET', '/v1/services/catalog')
  for (const answer of [page, again]) {
    expect(await list(`request=${idOf(answer)}`)).toMatchObject([{ status: 200, path: '/v1/services/catalog' }])
  }
})

test('filters choose by status, method, path, time, and by the job', async () => {
  const who = await market.agent()
  const { job } = await bought(who)
  await who.call('GET', `/v1/jobs/${job}`)
  await fetch(`${market.market.url()}/health`, { method: 'DELETE' })
  const about = await list(`job=${job}`)
  expect(about.map(({ method, job_id }: { method: string; job_id: string | null }) => [method, job_id])).toEqual([
    ['POST', job],
    ['GET', null],
  ])
  expect((await list('status=405')).every(({ status }: { status: number }) => status === 405)).toBe(true)
  expect((await list('status=4xx&method=DELETE')).length).toBeGreaterThan(0)
  expect((await list('path=/v1/jobs/*')).every(({ path }: { path: string }) => path.startsWith('/v1/jobs/'))).toBe(true)
  expect(await list('since=2999-01-01T00:00:00Z')).toEqual([])
  expect((await admin('?status=banana')).body).toMatchObject({ code: 'invalid_request', details: [{ path: 'status' }] })
})

test('whoever follows hears of what ends, and only of that', async () => {
  const { body } = await admin('?limit=1')
  const waiting = admin(`?cursor=${body.next_cursor}&wait=20`)
  const asked = await market.market.call('GET', '/v1/nothing-like-it')
  expect((await waiting).body.requests.map(({ id }: { id: string }) => id)).toEqual([idOf(asked)])
})

test('a purchase is told from the 402 to the payout, by whatever id of it', async () => {
  const who = await market.agent()
  const { answer, job } = await bought(who)
  await until(async () => market.hook.received.some(({ body }) => body.job_id === job))
  await market.provider.call('POST', `/v1/threads/${answer.body.thread_id}/update`, {
    status: 'completed',
    deliverables: { words: 2 },
  })
  await market.pass(40 * 86_400_000)
  await market.monitor()
  await market.market.admin('POST', '/dashboard/api/admin/crons/provider-settlement/run', { body: {} })
  const { steps, next } = await story(job)
  expect(new Set(kinds(steps))).toEqual(new Set(storyKinds.filter((kind) => kind !== 'thread' && kind !== 'act')))
  expect(kinds(steps).slice(0, 4)).toEqual(['offer', 'request', 'payment', 'settlement'])
  expect(ofKind(steps, 'payment')[0]).toMatchObject({ amount: '0.525', sign: 'done' })
  expect(ofKind(steps, 'payout')[0]).toMatchObject({ sign: 'done', amount: expect.any(String) })
  expect(next).toContain(`souk admin jobs bundle ${job}`)
  const ids = [
    idOf(answer),
    ofKind(steps, 'payment')[0]?.id,
    ofKind(steps, 'delivery')[0]?.id,
    ofKind(steps, 'payout')[0]?.id,
    answer.body.thread_id,
  ]
  for (const id of ids) expect((await story(String(id))).steps.map((step) => step.id)).toContain(job)
  const wallet = await story(who.account.address)
  expect(wallet.steps.map((step) => step.id)).toContain(job)
})

test('buyer and seller read of their own what they may know, and nobody else anything', async () => {
  const who = await market.agent()
  const { answer, job } = await bought(who)
  await until(async () => market.hook.received.some(({ body }) => body.job_id === job))
  await market.provider.call('POST', `/v1/jobs/${job}/update`, { status: 'in_progress' })
  const read = async (person: Person, id: string) => person.call('GET', `/v1/stories/${id}`)
  const receipt = answer.body.receipt_id
  for (const id of [job, receipt, idOf(answer), answer.body.thread_id]) {
    const { status, body } = await read(who, id)
    expect([id, status, body.steps.some((step: Step) => step.id === job)]).toEqual([id, 200, true])
    expect(kinds(body.steps)).not.toEqual(expect.arrayContaining(['delivery']))
    expect(kinds(body.steps)).not.toEqual(expect.arrayContaining(['books']))
    expect(JSON.stringify(body.next)).not.toMatch(/souk (admin|crons|logs)/)
  }
  const sold = (await read(market.provider, job)).body.steps as Step[]
  expect(ofKind(sold, 'delivery')).toHaveLength(1)
  expect(ofKind(sold, 'request').map(({ sentence }) => sentence)).toEqual([
    expect.stringContaining(`POST /v1/jobs/${job}/update`),
  ])
  expect(ofKind(sold, 'payment')).toEqual([])
  const other = await market.agent()
  for (const id of [job, receipt, idOf(answer), answer.body.thread_id, who.account.address]) {
    expect([id, (await read(other, id)).status]).toEqual([id, 404])
  }
})

test('a price that was asked of another buyer is not told with a purchase', async () => {
  const who = await market.agent()
  const service = await market.list('automated')
  const path = `/v1/services/${service}/purchase`
  const other = await market.agent()
  expect((await other.call('POST', path, {})).status).toBe(402)
  const mine = await who.call('POST', path, {})
  expect((await other.call('POST', path, {})).status).toBe(402)
  expect((await market.market.call('POST', path, { body: {} })).status).toBe(402)
  const answer = await market.market.call('POST', path, { body: {}, headers: await signPayment(who.account, mine) })
  expect(answer.status).toBe(200)
  expect(ofKind((await story(idOf(answer))).steps, 'offer').map(({ id }) => id)).toEqual([idOf(mine)])

  const anonymous = await market.market.buyer('5.00')
  const paid = await anonymous.fetch(2)(`${market.market.url()}${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: '{}',
  })
  expect(paid.status).toBe(200)
  expect(ofKind((await story(paid.headers.get('x-request-id') ?? '')).steps, 'offer')).toEqual([])
})

test('the list names the 402 that a purchase paid, and counts the steps of those that are named', async () => {
  const { answer, job } = await bought(await market.agent())
  await until(async () => market.hook.received.some(({ body }) => body.job_id === job))
  const about = (await list('limit=1000')).filter(({ path }: { path: string }) => path.includes('/purchase'))
  const paid = about.find(({ id }: { id: string }) => id === idOf(answer))
  const asked = about.find(({ id }: { id: string }) => id === paid.offer_id)
  expect(asked).toMatchObject({
    status: 402,
    code: 'payment_required',
    path: paid.path,
    price: '0.525',
    offer_id: null,
  })
  expect([paid.steps, asked.steps]).toEqual([null, null])
  // Both requests name the listing. The paid one has a job that names it, the unpaid one has it in its path.
  expect(paid.service).toMatch(/\w/)
  expect(asked.service).toBe(paid.service)
  const named = await list(`request=${paid.id},${asked.id},req_0123456789abcdef`)
  const told = await Promise.all([asked, paid].map(({ id }) => story(id)))
  expect(told[1]?.steps[0]).toMatchObject({ kind: 'offer', id: asked.id, ms: asked.ms })
  expect(ofKind(told[1]?.steps ?? [], 'request')[0]).toMatchObject({ id: paid.id, ms: paid.ms })
  expect(named.map(({ id, steps }: { id: string; steps: number }) => [id, steps])).toEqual([
    [asked.id, told[0]?.steps.length],
    [paid.id, told[1]?.steps.length],
  ])
})

test('a try that was refused is a row of its own, and the next one is told from the same 402', async () => {
  const who = await market.agent()
  const path = `/v1/services/${await market.list('automated')}/purchase`
  const headers = { 'Idempotency-Key': crypto.randomUUID() }
  const offer = await market.market.call('POST', path, { body: {}, headers })
  const refused = await market.market.call('POST', path, {
    body: {},
    headers: { ...headers, 'PAYMENT-SIGNATURE': 'bm9uZQ==' },
  })
  expect(refused.status).toBe(402)
  const paid = await market.market.call('POST', path, {
    body: {},
    headers: { ...headers, ...(await signPayment(who.account, offer)) },
  })
  expect(paid.status).toBe(200)
  const rows = await list(`request=${[offer, refused, paid].map(idOf).join(',')}`)
  expect(rows.map(({ id, offer_id }: { id: string; offer_id: string }) => [id, offer_id])).toEqual([
    [idOf(offer), null],
    [idOf(refused), idOf(offer)],
    [idOf(paid), idOf(offer)],
  ])
})

test('a payment that was refused says why, and what to do', async () => {
  const poor = await market.market.buyer('0.01')
  const service = await market.list('automated')
  const refused = await poor.fetch(2)(`${market.market.url()}/v1/services/${service}/purchase`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Idempotency-Key': 'refused-payment-of-the-poor' },
    body: JSON.stringify({ text: 'a b' }),
  })
  expect(refused.status).toBe(402)
  const { steps, next } = await story(refused.headers.get('x-request-id') ?? '')
  expect(kinds(steps)).toEqual(['offer', 'request'])
  expect(steps[1]).toMatchObject({ sign: 'failed', amount: '0.525', sentence: expect.stringContaining('answered 402') })
  expect(next).toEqual([expect.stringMatching(/^souk wallet fund 0x/)])
})

test('a message that nobody took is told with its tries', async () => {
  market.hook.answer = () => ({ status: 500 })
  const { job } = await bought(await market.agent())
  await until(async () => ofKind((await story(job)).steps, 'attempt').length > 0)
  market.hook.answer = () => ({})
  const { steps } = await story(job)
  expect(ofKind(steps, 'delivery')[0]).toMatchObject({ sign: 'waits' })
  expect(ofKind(steps, 'attempt')[0]).toMatchObject({ sign: 'failed', sentence: expect.stringContaining('500') })
})

test('after a restart what was durable is still told, and what was not is named', async () => {
  const { answer, job } = await bought(await market.agent())
  const paused = await market.market.admin('POST', '/dashboard/api/admin/escrow/unpause-contract', { body: {} })
  const nowhere = await market.market.call('GET', '/v1/nowhere')
  await market.market.restart()
  const { steps, lost } = await story(idOf(answer))
  expect(kinds(steps).slice(0, 4)).toEqual(['request', 'payment', 'settlement', 'job'])
  expect(steps.map(({ id }) => id)).toContain(job)
  expect(lost).toEqual(expect.any(String))
  expect(await list(`request=${idOf(answer)}`)).toMatchObject([{ remembered: 'part', status: 200, job_id: job }])
  expect(await list(`request=${idOf(paused)}`)).toMatchObject([{ remembered: 'part', caller: 'admin' }])
  expect(await list(`request=${idOf(nowhere)}`)).toEqual([])
  expect((await list('limit=1000')).map(({ id }: { id: string }) => id)).toContain(idOf(answer))
})

test('an id that is none is answered with those that there are stories of', async () => {
  const none = await admin('/banana/story')
  expect([none.status, none.body.message]).toEqual([404, expect.stringMatching(/req_….*job_….*0x…/)])
  const unknown = await admin('/job_0123456789abcdef/story')
  expect([unknown.status, unknown.body.message]).toEqual([404, expect.stringContaining('No trace of')])
})

test('what may be a secret in a path stays unsaid', () => {
  expect(shownPath(`/v1/x/sk_${'0'.repeat(40)}/${'a'.repeat(65)}/svc_1`)).toBe('/v1/x/…/…/svc_1')
})
