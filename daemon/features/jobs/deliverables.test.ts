import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Escrow, openEscrow } from '../../../fixtures/market/escrow.ts'
import type { Person } from '../../../fixtures/market/people.ts'
import { changesOf } from '../../../fixtures/scenarios/watch.ts'
import { MAX_DELIVERABLE_BYTES, MAX_DELIVERY_BODY_BYTES, MAX_JSON_VALUES } from '../../../src/core/limits.ts'
import { deliveryWorker } from '../webhooks/worker.ts'

// @slow deliverables as large as they may be

let market: Escrow
let buyer: Person
const report = { type: 'object', properties: { words: { type: 'integer' } }, required: ['words'] }
beforeAll(async () => {
  market = await openEscrow()
  buyer = await market.agent({ balance: '50.00' })
})
afterAll(() => market.close())

async function bought(deliverable_schema: object = report, fulfilment: 'human' | 'automated' = 'human') {
  const service = await market.list(fulfilment, { deliverable_schema })
  const { body } = await market.buy(service, buyer, { from: 'balance' })
  return { id: body.job_id as string, service }
}

/** Asks for what is refused: nothing is written but what goes on by itself. */
async function unchanging<T>(ask: () => Promise<T>): Promise<T> {
  const answers: T[] = []
  const changes = await changesOf({ ctx: market.ctx(), paid: false }, async () => void answers.push(await ask()))
  expect(changes).toEqual([])
  const [answer] = answers
  if (answer === undefined) throw new Error('nobody answered')
  return answer
}

const deliver = (id: string, body: object) =>
  market.provider.call('POST', `/v1/jobs/${id}/update`, { status: 'completed', ...body })
const shown = async (id: string) => (await buyer.call('GET', `/v1/jobs/${id}`)).body.deliverables

describe('what was promised is what is taken', () => {
  test.each<[string, { schema: object; body: object; kept: unknown }]>([
    ['an object', { schema: report, body: { deliverables: { words: 3 } }, kept: [{ words: 3 }] }],
    ['an array of one', { schema: report, body: { deliverables: [{ words: 3 }] }, kept: [{ words: 3 }] }],
    [
      'under its name',
      { schema: { report }, body: { deliverable: { report: { words: 3 } } }, kept: [{ report: { words: 3 } }] },
    ],
    [
      'an array',
      {
        schema: { type: 'array', items: report },
        body: { result: [{ words: 1 }, { words: 2 }] },
        kept: [{ words: 1 }, { words: 2 }],
      },
    ],
    ['a text', { schema: { type: 'string' }, body: { deliverables: 'three words' }, kept: ['three words'] }],
  ])('%s', async (_, { schema, body, kept }) => {
    const { id } = await bought(schema)
    expect((await deliver(id, body)).status).toBe(200)
    expect(await shown(id)).toEqual(kept)
  })

  test.each<[object, string[]]>([
    [{}, ['deliverables']],
    [{ deliverables: { words: 'three' } }, ['deliverables.words']],
    [{ deliverables: {} }, ['deliverables.words']],
    [{ deliverables: [{ words: 1 }, { words: 2 }] }, ['deliverables']],
    [{ deliverables: null }, ['deliverables']],
  ])('%j is a 400 with the paths, and nothing changes', async (body, paths) => {
    const { id } = await bought()
    await deliveryWorker.of(market.ctx()).idle()
    const refused = await unchanging(() => deliver(id, body))
    expect([refused.status, refused.body.code, refused.body.details.map((one: { path: string }) => one.path)]).toEqual([
      400,
      'input_invalid',
      paths,
    ])
    expect((await deliver(id, { deliverables: { words: 1 } })).status).toBe(200)
  })

  test('as it was when it was bought, whatever the listing says by then', async () => {
    const { id, service } = await bought()
    const changed = await market.provider.call('PUT', `/v1/services/${service}`, {
      deliverable_schema: { type: 'string' },
    })
    expect(changed.status).toBe(200)
    expect((await deliver(id, { deliverables: 'x' })).status).toBe(400)
    expect((await deliver(id, { deliverables: { words: 1 } })).status).toBe(200)
  })
})

describe('large ones', () => {
  test('are kept apart from the job, and come back whole', async () => {
    const { id } = await bought({ type: 'object' }, 'automated')
    const text = 'ä'.repeat(100_000)
    expect((await deliver(id, { deliverables: { text } })).status).toBe(200)
    await market.monitor()
    const row = await market.job(id)
    expect([row.status, row.deliverables_file, row.deliverables]).toEqual(['released', expect.any(String), []])
    expect(await shown(id)).toEqual([{ text }])
    await market.market.restart()
    expect(await shown(id)).toEqual([{ text }])
  })

  test('may have 8 MiB, and not a byte more', async () => {
    const { id } = await bought({ type: 'object' })
    const room = MAX_DELIVERABLE_BYTES - JSON.stringify({ text: '' }).length
    const over = await deliver(id, { deliverables: { text: 'x'.repeat(room + 1) } })
    expect([over.status, over.body.code]).toEqual([413, 'too_large'])
    expect((await deliver(id, { deliverables: { text: 'x'.repeat(room) } })).status).toBe(200)
    const { id: other } = await bought({ type: 'object' })
    const huge = await deliver(other, { deliverables: { text: 'x'.repeat(MAX_DELIVERY_BODY_BYTES) } })
    expect(huge.status).toBe(413)
  })

  test.each<[string, string | Buffer, Record<string, string>, number]>([
    ['with a mark of its byte order', '\uFEFF{"status":"in_progress"}', {}, 200],
    [
      'as UTF-16',
      Buffer.from('{"status":"in_progress"}', 'utf16le'),
      { 'Content-Type': 'application/json; charset=utf-16le' },
      200,
    ],
    ['compressed', gzipSync('{"status":"in_progress"}'), { 'Content-Encoding': 'gzip' }, 200],
    ['beyond ASCII', '{"status":"in_progress","notes":"fünf Wörter — 五"}', {}, 200],
    ['of nothing', '', {}, 400],
    ['that breaks off', '{"status":"in_progress"', {}, 400],
    [
      'in a charset that nobody reads',
      '{"status":"in_progress"}',
      { 'Content-Type': 'application/json; charset=koi9' },
      415,
    ],
    ['that is no Unicode', '{"status":"in_progress","notes":"\\ud800"}', {}, 400],
  ])('come in a body %s as elsewhere', async (...[, body, headers, status]) => {
    const { id } = await bought()
    const answer = await fetch(`${market.market.url()}/v1/jobs/${id}/update`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-API-Key': market.provider.key, ...headers },
      body: Buffer.from(body),
    })
    expect([answer.status, ((await answer.json()) as { code?: string }).code]).toEqual([
      status,
      { 200: undefined, 400: 'invalid_request', 415: 'unsupported_media_type' }[status],
    ])
    if (String(body).includes('五')) expect((await market.job(id)).notes).toBe('fünf Wörter — 五')
  })

  test('have that room on this row only', async () => {
    const { id } = await bought()
    const message = 'x'.repeat(300 * 1024)
    const refused = await buyer.call('POST', `/v1/jobs/${id}/messages`, { message })
    expect(refused.status).toBe(413)
  })
})

describe('values without end', () => {
  /** `[0,0,…]`: one value more than may be, the list and its members' names among them. */
  const zeros = (count: number): unknown[] => Array.from({ length: count }, () => 0)
  const tooMany = { items: zeros(MAX_JSON_VALUES + 1) }
  const anything = { type: 'object' }

  test.each(['jobs', 'threads'])('are refused by name at /v1/%s, and nothing changes', async (at) => {
    const { id } = await bought(anything)
    await deliveryWorker.of(market.ctx()).idle()
    const subject = at === 'jobs' ? id : (await market.job(id)).thread_id
    const update = { status: 'completed', deliverables: tooMany }
    const refused = await unchanging(() => market.provider.call('POST', `/v1/${at}/${subject}/update`, update))
    expect([refused.status, refused.body.code, refused.body.details]).toEqual([
      400,
      'invalid_request',
      [{ path: 'body', message: `contains more than ${MAX_JSON_VALUES} values` }],
    ])
  })

  test('are taken as many as may be', async () => {
    const { id } = await bought(anything)
    // The body, its two members and the list have names and values of their own.
    expect((await deliver(id, { deliverables: { items: zeros(MAX_JSON_VALUES - 10) } })).status).toBe(200)
  })

  test('in the answer of an instant service cost its buyer nothing, and say why', async () => {
    const service = await market.list('instant')
    market.hook.answer = () => ({ headers: { 'content-type': 'application/json' }, body: JSON.stringify(tooMany) })
    const before = (await buyer.call('GET', '/v1/balance')).body
    const refused = await market.buy(service, buyer, { from: 'balance' })
    expect([refused.status, refused.body.code, refused.body.message]).toEqual([
      502,
      'provider_failed',
      expect.stringContaining(`contains more than ${MAX_JSON_VALUES} values`),
    ])
    expect((await buyer.call('GET', '/v1/balance')).body).toEqual(before)
    market.hook.answer = () => ({})
  })

  test('in the answer to a dispatch leave the job to its provider', async () => {
    market.hook.answer = () => ({ headers: { 'content-type': 'application/json' }, body: JSON.stringify(tooMany) })
    const { id } = await bought(anything, 'automated')
    await deliveryWorker.of(market.ctx()).idle()
    market.hook.answer = () => ({})
    expect((await market.job(id)).status).toBe('dispatched')
    expect((await deliver(id, { deliverables: { words: 1 } })).status).toBe(200)
  })
})

test('reports of progress end before the history of a job grows without bound', async () => {
  const { id } = await bought()
  const progress = () => market.provider.call('POST', `/v1/jobs/${id}/update`, { status: 'in_progress' })
  let answer = await progress()
  let count = 0
  while (answer.status === 200 && count < 300) {
    answer = await progress()
    count += 1
  }
  expect([answer.status, answer.body.code]).toEqual([409, 'conflict'])
  expect((await deliver(id, { deliverables: { words: 1 } })).status).toBe(200)
  expect((await market.job(id)).timeline.length).toBeLessThan(200)
})
