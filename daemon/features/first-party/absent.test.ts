import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openFunctionWorld } from '../../../fixtures/market/function-world.ts'
import { type Marketplace, openMarketplace } from '../../../fixtures/market/marketplace.ts'
import { amountOf } from '../../../src/core/money.ts'
import { exampleInput } from '../../../src/schema/example.ts'
import { engineBoard } from '../../engines/engines.ts'
import type { Engine } from '../../ports/engine.ts'
import { firstPartyServices } from './index.ts'
import type { EngineName } from './service/engines.ts'

/* Whatever a function works with may be gone: then nobody can buy it, everybody is told, and nobody pays. */

const FUNDS = '1.00'
const functions = [...firstPartyServices.values()]
/** Everything that some function needs, or needs one of. */
const needed = [...new Set(functions.flatMap(({ needs }) => needs))].sort()

const absent = new Set<string>()
/** The same port; whether it is there is for the test to say. */
function switched(name: string, { port }: Engine<unknown>): Engine<unknown> {
  const gone = { status: 'missing', detail: `${name} is not installed.`, fix: `bring ${name}` } as const
  const there = { status: 'ok', detail: `${name} 1` } as const
  return { port, initial: there, probe: async () => (absent.has(name) ? gone : there) }
}

let world: Awaited<ReturnType<typeof openFunctionWorld>>
let market: Marketplace
beforeAll(async () => {
  world = await openFunctionWorld()
  const engines = Object.entries(world.ports.engines ?? {}).map(([name, engine]) => [name, switched(name, engine)])
  market = await openMarketplace({}, { ...world.ports, engines: Object.fromEntries(engines) })
  await engineBoard.of(market.daemon.ctx).ready
})
afterAll(async () => {
  await market.close()
  await world.close()
})

/** Takes engines away, or brings all back, and waits until the catalog has followed. */
async function lose(...names: readonly string[]): Promise<{ readonly lost: string[]; readonly offered: string[] }> {
  absent.clear()
  for (const name of names) absent.add(name)
  expect((await market.admin('POST', '/dashboard/api/admin/engines/check')).status).toBe(200)
  const { lacking } = engineBoard.of(market.daemon.ctx)
  const [lost, offered] = [true, false].map((isLost) =>
    functions.filter((one) => lacking(one.needs).length > 0 === isLost).map(({ slug }) => slug),
  )
  await expect
    .poll(async () => (await market.call('GET', '/v1/services/catalog?limit=100')).body.total)
    .toBe(offered?.length)
  return { lost: lost ?? [], offered: offered ?? [] }
}

async function orderOf(slug: string) {
  const id = await market.serviceId(slug)
  const { body } = await market.call('GET', `/v1/services/${id}`)
  return { id, status: body.status, path: `/v1/services/${id}/purchase`, input: exampleInput(body.input_schema) }
}

describe('functions of the house', () => {
  it('are all there with everything that they need, and an offer asks nobody outside', async () => {
    const { lost, offered } = await lose()
    expect([lost, offered.length]).toEqual([[], 32])
    for (const slug of offered) {
      const { path, input } = await orderOf(slug)
      expect([slug, (await market.call('POST', path, { body: input })).status]).toEqual([slug, 402])
    }
    for (const path of ['/health', '/v1/discover', '/dashboard/api/admin/engines', '/dashboard/api/admin/attention']) {
      await market.admin('GET', path)
    }
    expect(world.asked()).toEqual([])
  })

  it.each(needed.filter((name) => name !== 'llm'))(
    'without %s are not sold, and who looks is told what is missing and what brings it',
    async (name) => {
      const { lost } = await lose(name)
      const alone = functions.filter(({ needs }) => needs.some((need) => need === name)).map(({ slug }) => slug)
      expect(lost).toEqual(expect.arrayContaining(alone))
      const buyer = await market.buyer(FUNDS)
      for (const slug of lost) {
        const { path, input, status } = await orderOf(slug)
        expect([slug, status]).not.toEqual([slug, 'active'])
        const refused = await buyer.fetch(1)(`${market.url()}${path}`, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json' },
          body: JSON.stringify(input),
        })
        expect([slug, refused.status, JSON.parse(await refused.text()).code]).toEqual([slug, 503, 'unavailable'])
        expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
      }
      expect(await market.daemon.ctx.chain.balanceOf(buyer.wallet)).toBe(amountOf(FUNDS))
      await isTold(name, lost)
    },
  )

  it('are sold again when it is back, and nobody outside was asked for any of that', async () => {
    expect((await lose()).lost).toEqual([])
    expect(world.asked()).toEqual([])
  })
})

/** In health, by what the doctor reads, and among what needs a hand. */
async function isTold(name: string, lost: readonly string[]): Promise<void> {
  const { body: health } = await market.call('GET', '/health')
  expect(health.engines[name]).toBe('missing')
  const { body } = await market.admin('GET', '/dashboard/api/admin/engines')
  const row = body.engines.find((one: { name: EngineName }) => one.name === name)
  expect(row).toMatchObject({ status: 'missing', fix: `bring ${name}` })
  expect(row.functions).toEqual(expect.arrayContaining([...lost]))
  const { items } = (await market.admin('GET', '/dashboard/api/admin/attention')).body
  expect(items.filter(({ kind }: { kind: string }) => kind === 'engine')).toMatchObject([
    { sentence: expect.stringMatching(new RegExp(`missing: ${name}\\.$`)), fix: 'souk doctor --only engines' },
  ])
}
