import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Escrow, openEscrow } from '../../../fixtures/market/escrow.ts'

/* Published workers take only calls with a header that they chose: a provider has one sent to its own endpoints. */

const VALUE = 'worker-secret-7f3a'
let market: Escrow
beforeAll(async () => {
  market = await openEscrow({}, { crons: false })
})
afterAll(() => market.close())

const profile = () => `/v1/participants/${market.provider.id}`
const setHeader = (endpoint_header: unknown) => market.provider.call('PUT', profile(), { endpoint_header })

/** Headers of the newest test that an endpoint got. */
async function testedWith(service: string) {
  const { body } = await market.provider.call('POST', `/v1/services/${service}/test`)
  expect(body).toMatchObject({ delivered: true })
  expect(JSON.stringify(body)).not.toContain(VALUE)
  return market.hook.received.at(-1)?.headers ?? {}
}

test('a header of the provider’s choice goes to its endpoints, and its value stands nowhere else', async () => {
  const service = await market.list('automated')
  expect((await testedWith(service))['x-worker-key']).toBeUndefined()
  const set = await setHeader({ name: 'X-Worker-Key', value: VALUE })
  expect([set.status, set.body.endpoint_header, set.text.includes(VALUE)]).toEqual([200, 'X-Worker-Key', false])
  expect((await testedWith(service))['x-worker-key']).toBe(VALUE)

  // A change of something else keeps it, and so does a restart.
  await market.provider.call('PUT', profile(), { description: 'works' })
  await market.market.restart()
  const buyer = await market.agent()
  const bought = await buyer.pay(`/v1/services/${service}/purchase`, { body: {} })
  expect(bought.status).toBe(200)
  await expect
    .poll(() => market.hook.received.find(({ body }) => body.job_id === bought.body.job_id)?.headers['x-worker-key'])
    .toBe(VALUE)
  for (const name of readdirSync(market.market.dir, { recursive: true, encoding: 'utf8' })) {
    const text = /\.(journal|json|ndjson|log)$/.test(name) ? readFileSync(join(market.market.dir, name), 'utf8') : ''
    expect([name, text.includes(VALUE)]).toEqual([name, false])
  }

  expect((await setHeader(null)).body.endpoint_header).toBeNull()
  expect((await testedWith(service))['x-worker-key']).toBeUndefined()
})

test.each(['Host', 'content-type', 'Webhook-Signature', 'X-Webhook-Timestamp', 'Transfer-Encoding', 'a b', ''])(
  'a header of ours, or none, is refused by name: %j',
  async (name) => {
    const { status, body } = await setHeader({ name, value: VALUE })
    expect([status, body.details?.[0]?.path]).toEqual([400, 'endpoint_header.name'])
  },
)

test('a value that would begin another header is refused', async () => {
  const { status, body } = await setHeader({ name: 'x-worker-key', value: 'a\r\nx-other: b' })
  expect([status, body.details?.[0]?.path]).toEqual([400, 'endpoint_header.value'])
})

test('a receiver that takes jobs alone is told why its test failed', async () => {
  const service = await market.list('automated')
  const { answer } = market.hook
  market.hook.answer = () => ({ status: 400, body: '{"error":"job_id is missing"}' })
  const { body } = await market.provider.call('POST', `/v1/services/${service}/test`)
  market.hook.answer = answer
  expect(body).toMatchObject({
    delivered: false,
    status: 400,
    error: expect.stringContaining('answer 200 to this test message'),
  })
})
