import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Escrow, openEscrow } from '../../../fixtures/market/escrow.ts'
import type { Person } from '../../../fixtures/market/people.ts'

/* What public clients send without having read every field of ours. */

let market: Escrow
let who: Person
beforeAll(async () => {
  market = await openEscrow()
  who = await market.agent({ balance: '20.00' })
})
afterAll(async () => {
  expect(await market.faults()).toEqual([])
  await market.close()
})

const plain = { name: 'Counter', description: 'Counts.', price: '0.50' }
const create = (body: object) => market.provider.call('POST', '/v1/services', { ...plain, ...body })

test.each([
  ['data_api', 'instant'],
  ['automated_service', 'automated'],
  ['human_service', 'human'],
])('a listing that says %s alone is not refused: it is %s, and the other way round', async (service_type, kind) => {
  expect((await create({ service_type })).body).toMatchObject({ service_type, fulfillment_type: kind })
  const { body } = await create({ fulfillment_type: kind })
  expect(body).toMatchObject({ service_type, fulfillment_type: kind })
  const same = await market.provider.call('PUT', `/v1/services/${body.id}`, { service_type })
  expect(same.body).toMatchObject({ service_type, fulfillment_type: kind })
})

test('one that says neither, as published clients do, is automated, and the answer says so', async () => {
  const { status, body } = await create({})
  expect([status, body]).toMatchObject([200, { service_type: 'automated_service', fulfillment_type: 'automated' }])
})

const bought = async (input_schema: object | undefined, body: object) => {
  const { body: service } = await create({ fulfillment_type: 'human', ...(input_schema ? { input_schema } : {}) })
  const answer = await market.buy(service.id, who, { from: 'balance', body })
  const job = answer.status === 200 ? await market.job(answer.body.job_id) : undefined
  return { answer, input: job?.input }
}
const oneText = { type: 'object', properties: { text: { type: 'string' }, n: { type: 'integer' } }, required: ['text'] }

test('a text brief is not lost: JSON in it is read, else it fills the one text that is required, else it stands', async () => {
  expect((await bought(undefined, { brief: 'do it' })).input).toEqual({ brief: 'do it' })
  expect((await bought(oneText, { brief: 'do it' })).input).toEqual({ text: 'do it' })
  expect((await bought(oneText, { brief: '{"text": "a", "n": 2}' })).input).toEqual({ text: 'a', n: 2 })
  const two = { ...oneText, properties: { text: { type: 'string' }, to: { type: 'string' } }, required: ['text', 'to'] }
  const { answer } = await bought(two, { brief: 'do it' })
  expect([answer.status, answer.body.code]).toEqual([400, 'input_invalid'])
  for (const field of ['text', 'to']) expect(answer.text).toContain(field)
})

test.each(['words', ['a', 'b'], 7, null, { a: 1 }])('without a schema %j is a delivery', async (deliverables) => {
  const { body: service } = await create({ fulfillment_type: 'human' })
  const { body } = await market.buy(service.id, who, { from: 'balance', body: {} })
  const path = `/v1/jobs/${body.job_id}/update`
  const done = await market.provider.call('POST', path, { status: 'completed', deliverables })
  expect([done.status, (await market.job(body.job_id)).deliverables]).toEqual([200, [deliverables].flat()])
})

test('an owner finds its own listings that are not offered, and nobody else does', async () => {
  const { body } = await create({ fulfillment_type: 'human' })
  await market.provider.call('PUT', `/v1/services/${body.id}`, { status: 'inactive' })
  const own = await market.provider.call('GET', '/v1/services/catalog?mine=true&limit=100')
  const mine = own.body.services.find(({ id }: { id: string }) => id === body.id)
  expect([own.status, mine?.status]).toEqual([200, 'inactive'])
  expect((await market.market.call('GET', '/v1/services/catalog?mine=true&limit=100')).status).toBe(401)
  expect((await who.call('GET', '/v1/services/catalog?mine=true&limit=100')).body.total).toBe(0)
  expect((await market.provider.call('GET', '/v1/services/catalog?mine=true&q=x')).body.details[0].path).toBe('q')
})
