import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Child, startDaemon } from '../../fixtures/kit/child.ts'
import { configDefaults } from '../../fixtures/kit/config.ts'
import { type Escrow, openEscrow, priced } from '../../fixtures/market/escrow.ts'
import { callsTo, signPayment } from '../../fixtures/market/marketplace.ts'
import { type Person, registered } from '../../fixtures/market/people.ts'
import { DAY_MS, HOUR_MS } from '../../src/core/time.ts'
import { STORE_FOLDER } from '../features/backup/import-state.ts'
import { deliveryWorker } from '../features/webhooks/worker.ts'

// @deep the largest bodies that are taken, by every way there is

/* What is large lies in files: neither memory nor journal holds it, nobody who reads it notices, and it goes with its record. */

const MARK = 'large-text-'
/** Close to what a body may hold. */
const large = (name: string) => ({ text: `${'x'.repeat(200_000)}${MARK}${name}` })

let market: Escrow
let buyer: Person
beforeAll(async () => {
  market = await openEscrow()
  buyer = await market.agent({ balance: '50.00' })
})
beforeEach(() => {
  market.hook.received.length = 0
  market.hook.answer = () => ({ status: 202 })
})
afterAll(() => market.close())

const folder = () => join(market.market.dir, STORE_FOLDER)
const files = () => readdir(join(folder(), 'blobs'))
const idle = () => deliveryWorker.of(market.ctx()).idle()
const keep = () => market.market.admin('POST', '/dashboard/api/admin/crons/housekeeping/run')

async function bought(name: string, fulfilment: 'human' | 'automated' = 'human') {
  const service = await market.list(fulfilment)
  const answer = await market.buy(service, buyer, { from: 'balance', body: large(name) })
  expect(answer.status, answer.text).toBe(200)
  return answer.body as { job_id: string; thread_id: string }
}

/** Lines of the journal that hold a large text: they are the rows as memory has them. */
async function heldInline(): Promise<string[]> {
  const found: string[] = []
  for (const name of (await readdir(folder())).filter((one) => one.endsWith('.ndjson'))) {
    const lines = (await readFile(join(folder(), name), 'utf8')).split('\n')
    found.push(...lines.filter((line) => line.includes(MARK)))
  }
  return found.map((line) => line.slice(0, 300))
}

/** What was asked for, in the events of the provider and in the record as the parties, the marketplace and an export show it. */
async function seenEverywhere(job: string) {
  const events = (await market.provider.call('GET', '/v1/events?types=job.dispatched&limit=100')).body.events
  const told = events.find((one: { subject: { id: string } }) => one.subject.id === job)
  const record = async (who: Pick<Person, 'call'>) => (await who.call('GET', `/v1/jobs/${job}`)).body
  const bundle = (await market.market.admin('GET', `/dashboard/api/admin/jobs/${job}/bundle`)).body
  const exported = (await buyer.call('GET', '/v1/export?kinds=job')).text
    .split('\n')
    .filter((line) => line.includes(job))
  return {
    event: told?.data.brief,
    buyer: (await record(buyer)).input,
    provider: (await record(market.provider)).input,
    bundle: bundle.job.input,
    exported: JSON.parse(exported[0] ?? '{}').record?.input,
  }
}

const everywhere = (input: unknown) => ({ event: input, buyer: input, provider: input, bundle: input, exported: input })

describe('what was asked for', () => {
  test('is read whole by all, and held by no row and no line of the journal', async () => {
    const { job_id } = await bought('asked')
    expect(await seenEverywhere(job_id)).toEqual(everywhere(large('asked')))
    await idle()
    expect(await heldInline()).toEqual([])
    await market.market.restart()
    expect(await seenEverywhere(job_id)).toEqual(everywhere(large('asked')))
  })

  test('is sent with the same bytes at every try, over a restart too', async () => {
    market.hook.answer = () => ({ status: 503 })
    const { job_id } = await bought('sent')
    await idle()
    await market.market.restart()
    market.hook.answer = () => ({ status: 202 })
    market.pass(HOUR_MS)
    deliveryWorker.of(market.ctx()).wake()
    await idle()
    const calls = market.hook.received.filter(({ raw }) => raw.includes(job_id))
    expect(calls.length).toBeGreaterThan(1)
    expect(new Set(calls.map(({ raw }) => raw)).size).toBe(1)
    expect(calls[0]?.body).toMatchObject({ type: 'job_dispatch', job_id, brief: large('sent') })
  })

  test('of a conversation goes to its provider whole', async () => {
    const service = await market.list('human', { pricing_model: 'quote_required' })
    const brief = { text: 'y'.repeat(20_000) }
    const asked = await buyer.pay(`/v1/services/${service}/inquire`, { body: { brief } })
    expect(asked.status, asked.text).toBe(200)
    await idle()
    expect(market.hook.received.map(({ body }) => body.brief)).toEqual([brief])
  })
})

describe('what was delivered', () => {
  const json = { 'content-type': 'application/json' }
  const shown = async (job: string) => (await buyer.call('GET', `/v1/jobs/${job}`)).body

  test.each<[string, (name: string) => Promise<string>]>([
    [
      'by an update',
      async (name) => {
        const { job_id } = await bought(`for ${name}`)
        const update = { status: 'completed', deliverables: large(name) }
        expect((await market.provider.call('POST', `/v1/jobs/${job_id}/update`, update)).status).toBe(200)
        return job_id
      },
    ],
    [
      'in answer to a dispatch',
      async (name) => {
        const body = JSON.stringify({ status: 'completed', deliverables: large(name) })
        market.hook.answer = () => ({ headers: json, body })
        const { job_id } = await bought(`for ${name}`, 'automated')
        await idle()
        return job_id
      },
    ],
    [
      'at once',
      async (name) => {
        const service = await market.list('instant')
        market.hook.answer = () => ({ headers: json, body: JSON.stringify(large(name)) })
        const body = large(`for ${name}`)
        return (await market.buy(service, buyer, { from: 'balance', body })).body.job_id
      },
    ],
  ])('%s is read whole, before and after a restart, and held by no row', async (how, deliver) => {
    const job = await deliver(how)
    expect((await shown(job)).deliverables).toEqual([large(how)])
    expect(await heldInline()).toEqual([])
    await market.market.restart()
    expect([(await shown(job)).input, (await shown(job)).deliverables]).toEqual([large(`for ${how}`), [large(how)]])
    expect(await market.faults()).toEqual([])
  })

  test('is in the record that a wallet pays to read, and in its replay', async () => {
    const service = await market.list('human')
    const guest = await market.agent()
    const { job_id } = (await market.buy(service, guest, { body: large('paid for') })).body
    const update = { status: 'completed', deliverables: large('read for money') }
    expect((await market.provider.call('POST', `/v1/jobs/${job_id}/update`, update)).status).toBe(200)
    const path = `/v1/jobs/${job_id}`
    const headers = await signPayment(guest.account, await market.market.call('GET', path))
    const read = await market.market.call('GET', path, { headers })
    expect([read.body.input, read.body.deliverables]).toEqual([large('paid for'), [large('read for money')]])
    expect((await market.market.call('GET', path, { headers })).text).toBe(read.text)
  })
})

test('what a record names stays as long as the record, and goes with it', async () => {
  const { job_id } = await bought('kept for ever')
  await market.provider.call('POST', `/v1/jobs/${job_id}/update`, {
    status: 'completed',
    deliverables: large('delivered for ever'),
  })
  await idle()
  expect((await keep()).body.run.result).toBe('success')
  const before = (await files()).length
  market.pass(2 * DAY_MS, { wall: true })
  expect((await keep()).body.run.result).toBe('success')
  expect(await seenEverywhere(job_id)).toEqual(everywhere(large('kept for ever')))
  market.pass(40 * DAY_MS, { wall: true })
  expect((await keep()).body.run.result).toBe('success')
  const job = (await buyer.call('GET', `/v1/jobs/${job_id}`)).body
  expect([job.input, job.deliverables]).toEqual([large('kept for ever'), [large('delivered for ever')]])
  expect((await files()).length).toBeLessThan(before)
})

describe('a daemon that is killed', () => {
  let dir: string
  let child: Child | undefined
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'souk-large-'))
  })

  async function start(): Promise<string> {
    await child?.kill()
    const started = await startDaemon({ ...configDefaults, dataDir: dir, durability: 'full' })
    child = started
    return started.url
  }

  afterAll(async () => {
    await child?.kill()
    await rm(dir, { recursive: true, force: true })
  })

  test('has every large text that it acknowledged, when it starts again', async () => {
    let url = await start()
    const calls = callsTo(() => url, dir)
    const provider = await registered(calls, { type: 'provider' })
    const listed = await provider.call('POST', '/v1/services', { ...priced, fulfillment_type: 'human' })
    const guest = await registered(calls, { type: 'agent' })
    const answer = await guest.pay(`/v1/services/${listed.body.id}/purchase`, { body: large('asked') })
    const path = `/v1/jobs/${answer.body.job_id}`
    url = await start()
    const { events } = (await provider.call('GET', '/v1/events?types=job.dispatched')).body
    expect(events.map((one: { data: { brief: unknown } }) => one.data.brief)).toEqual([large('asked')])
    const update = { status: 'completed', deliverables: large('delivered') }
    expect((await provider.call('POST', `${path}/update`, update)).status).toBe(200)
    url = await start()
    const job = (await guest.call('GET', path)).body
    expect([job.status, job.input, job.deliverables]).toEqual(['completed', large('asked'), [large('delivered')]])
    expect((await calls.admin('GET', '/dashboard/api/admin/audit')).body.ok).toBe(true)
  })
})
