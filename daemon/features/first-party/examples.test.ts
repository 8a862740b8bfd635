import { afterAll, beforeAll, expect, test } from 'vitest'
import { toolPath } from '../../../fixtures/kit/tools.ts'
import { openFunctionWorld } from '../../../fixtures/market/function-world.ts'
import { type Marketplace, openMarketplace } from '../../../fixtures/market/marketplace.ts'
import { isObject } from '../../../src/core/json.ts'
import { amountOf } from '../../../src/core/money.ts'
import { exampleInput } from '../../../src/schema/example.ts'
import { checkDeliverable } from '../../../src/schema/schema.ts'
import { engineBoard } from '../../engines/engines.ts'
import { firstPartyServices } from './index.ts'
import type { FirstPartyService } from './service/service.ts'

// @slow every service is bought with its own example

/* Each function is bought with the very example that its listing shows, in a world where that example leads somewhere. */

const FUNDS = '1.00'
/** Programs of the system, without which some functions are not offered. */
const absent = ['ffmpeg', 'espeak-ng', 'apertium', 'chromium-headless-shell'].filter((tool) => !toolPath(tool))

let world: Awaited<ReturnType<typeof openFunctionWorld>>
let market: Marketplace
beforeAll(async () => {
  world = await openFunctionWorld()
  market = await openMarketplace({}, world.ports)
  await engineBoard.of(market.daemon.ctx).ready
})
afterAll(async () => {
  await market.close()
  await world.close()
})

/** As the shop window has it. */
async function shown(slug: string) {
  const { body } = await market.call('GET', `/v1/services/${await market.serviceId(slug)}`)
  const schema = body.deliverable_schema
  const own = isObject(schema[slug]) && schema.type === undefined ? schema[slug] : schema
  return {
    id: body.id,
    price: amountOf(body.agent_price.fixed ?? body.agent_price),
    input: exampleInput(body.input_schema),
    schema,
    sample: own.examples[0],
  }
}

/** Buys with a fresh wallet; of a job, its end is waited for. */
async function bought(id: string, input: unknown) {
  const buyer = await market.buyer(FUNDS)
  const answer = await buyer.fetch(1)(`${market.url()}/v1/services/${id}/purchase`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(input),
  })
  // biome-ignore lint/suspicious/noExplicitAny: answers of 32 functions
  const body: any = await answer.json()
  const job = async () =>
    (
      await market.call('GET', `/v1/jobs/${body.job_id}`, {
        headers: { Authorization: `Bearer ${body.access_token}` },
      })
    ).body
  if (answer.status === 200 && body.result === undefined) {
    await expect.poll(async () => (await job()).status).toMatch(/^(verified|released|failed)$/)
  }
  const done = answer.status === 200 ? await job() : undefined
  const paid = amountOf(FUNDS) - (await market.daemon.ctx.chain.balanceOf(buyer.wallet))
  return {
    status: answer.status,
    said: done?.notes || body.message,
    result: body.result ?? done?.deliverables[0],
    paid,
  }
}

/** What a function waits for on this machine. */
const lackingTo = ({ needs }: FirstPartyService) => engineBoard.of(market.daemon.ctx).lacking(needs)

test.skipIf(absent.length > 0)('with every program there is, all functions are offered', () => {
  expect([...firstPartyServices.values()].filter((one) => lackingTo(one).length > 0)).toEqual([])
})

test.for([...firstPartyServices.values()])(
  '$slug sells what its own example asks for, as its listing promises and shows it',
  async (service, { skip }) => {
    const lacks = lackingTo(service)
    skip(absent.length > 0 && lacks.length > 0, `needs ${lacks.join(', ')}; not installed: ${absent.join(', ')}`)
    const { id, input, schema, sample, price } = await shown(service.slug)
    const { status, said, result, paid } = await bought(id, input)
    expect([status, said, paid]).toEqual([200, said, price])
    expect(checkDeliverable(schema, result)).toMatchObject({ ok: true })
    const made = isObject(result[service.slug]) && schema.type === undefined ? result[service.slug] : result
    expect(Object.keys(made)).toEqual(expect.arrayContaining(Object.keys(sample)))
  },
)
