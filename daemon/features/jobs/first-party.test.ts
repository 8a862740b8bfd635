import { afterAll, beforeAll, expect, test } from 'vitest'
import { gate } from '../../../fixtures/kit/faults.ts'
import { type Escrow, openEscrow } from '../../../fixtures/market/escrow.ts'
import type { Person } from '../../../fixtures/market/people.ts'
import { AppError } from '../../../src/core/error.ts'
import type { JsonObject } from '../../../src/model/service.ts'
import { background } from '../../kernel/context.ts'
import { commit } from '../../store/draw.ts'
import { services } from '../listings/rows.ts'

/* Services of the marketplace itself that are not answered at once: it works for its buyers like any provider. */

const SLUG = 'openapi_draft'

let market: Escrow
let buyer: Person
let service: string
let runs: JsonObject[] = []
let run: (input: JsonObject, signal: AbortSignal) => Promise<JsonObject> = async () => ({})
beforeAll(async () => {
  market = await openEscrow({
    firstParty: (slug) =>
      slug === SLUG
        ? {
            run: (input, signal) => {
              runs.push(input)
              return run(input, signal)
            },
          }
        : undefined,
  })
  buyer = await market.agent({ balance: '100.00' })
  service = await market.market.serviceId(SLUG)
  const deliverable_schema = { type: 'object', properties: { draft: { type: 'string' } }, required: ['draft'] }
  await commit(market.ctx(), async (t) => {
    const row = await t.table(services).getForUpdate(service)
    if (row) await t.table(services).put({ ...row, input_schema: { type: 'object' }, deliverable_schema })
  })
})
afterAll(async () => {
  expect(await market.faults()).toEqual([])
  await market.close()
})

async function bought(body: JsonObject = { docs_url: 'https://docs.example/' }): Promise<string> {
  runs = []
  const { body: answer } = await market.buy(service, buyer, { from: 'balance', body })
  expect(answer.status).toBe('dispatched')
  return answer.job_id
}

/** Waits for what the house does in the background. */
async function ended(id: string) {
  while (['dispatched', 'in_progress'].includes((await market.job(id)).status)) {
    await Promise.all([...background.of(market.ctx()), new Promise((done) => setTimeout(done, 1))])
  }
  return market.job(id)
}

test('runs it, delivers, and is paid by the monitor', async () => {
  run = async () => ({ draft: 'openapi: 3.1.0' })
  const id = await bought()
  const job = await ended(id)
  expect([job.status, job.deliverables]).toEqual(['verified', [{ draft: 'openapi: 3.1.0' }]])
  expect(job.timeline.map(({ event }) => event)).toEqual(['paid', 'dispatched', 'in_progress', 'completed', 'verified'])
  expect(runs).toEqual([{ docs_url: 'https://docs.example/' }])
  await market.monitor()
  expect((await market.job(id)).status).toBe('released')
})

test.each<[string, typeof run, string]>([
  ['fails', async () => Promise.reject(new AppError('provider_failed', 'The page is empty.')), 'The page is empty.'],
  ['breaks', async () => Promise.reject(new Error('a path of ours')), 'Internal error; it was logged.'],
  ['makes what was not promised', async () => ({}), 'deliverables.draft: is required'],
])('gives the money back when it %s', async (_, how, notes) => {
  run = how
  const job = await ended(await bought())
  expect([job.status, job.escrow_status, job.notes]).toEqual(['failed', 'refunded', notes])
})

test('ten at once are all done, four at a time', async () => {
  let running = 0
  let most = 0
  run = async () => {
    running += 1
    most = Math.max(most, running)
    await new Promise((done) => setTimeout(done, 2))
    running -= 1
    return { draft: 'x' }
  }
  const ids = await Promise.all(Array.from({ length: 10 }, () => bought()))
  const jobs = await Promise.all(ids.map(ended))
  expect(jobs.map((job) => job.status)).toEqual(ids.map(() => 'verified'))
  expect(most).toBeLessThanOrEqual(4)
})

test('begins again after a stop what the stop cut short', async () => {
  const door = gate()
  run = (_, signal) =>
    Promise.race([
      door.wait().then(() => ({ draft: 'never' })),
      new Promise<JsonObject>((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    ])
  const id = await bought()
  await door.reached
  const restart = market.market.restart()
  run = async () => ({ draft: 'again' })
  await restart
  const job = await ended(id)
  expect([job.status, job.deliverables, runs.length]).toEqual(['verified', [{ draft: 'again' }], 2])
})

test('refuses the purchase of what nothing fulfils, before any 402', async () => {
  const other = await market.market.serviceId('grant_matches')
  await commit(market.ctx(), async (t) => {
    const row = await t.table(services).getForUpdate(other)
    if (row) await t.table(services).put({ ...row, status: 'active', input_schema: { type: 'object' } })
  })
  const refused = await market.buy(other, buyer)
  expect([refused.status, refused.body.code]).toEqual([503, 'unavailable'])
})
