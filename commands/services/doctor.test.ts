import { afterAll, beforeAll, expect, test } from 'vitest'
import { openMarketOf, type RemoteMarket } from '../../fixtures/kit/remote-market.ts'

/* A listing looked over: what is wrong is named with the command that mends it, and the exit code tells. */

let shop: RemoteMarket
beforeAll(async () => {
  shop = await openMarketOf('ann', 'bob')
})
afterAll(() => shop.market.close())

type Finding = { check: string; state: string; found: string; mend: string | null }
async function doctor(id: string, who = 'bob') {
  const { code, out } = await shop.souk(['services', 'doctor', id, '--as', who, '--json'])
  const { healthy, findings } = JSON.parse(out)
  const by = Object.fromEntries(findings.map((one: Finding) => [one.check, one])) as Record<string, Finding>
  return { code, healthy, by }
}
async function listed(...fields: string[]): Promise<string> {
  const said = ['name=Echo', 'description=Says what was said to it.', 'price=0.50', 'fulfillment_type=automated']
  const set = [...said, ...fields].flatMap((one) => ['--set', one])
  return (await shop.json(['services', 'create', ...set, '--as', 'bob'])).id
}

test('one that is as it should be: exit 0, and both generations of clients read the price that is shown', async () => {
  const { code, healthy, by } = await doctor('qr_code', 'ann')
  expect([code, healthy]).toEqual([0, true])
  const { agent_price } = await shop.json(['services', 'view', 'qr_code'])
  for (const check of ['x402 v1', 'x402 v2']) expect(by[check]?.found).toContain(agent_price.fixed)
  expect(by['example']).toMatchObject({ state: 'ok', found: expect.stringContaining('"data"') })
})

test('nobody takes its jobs: exit 11, with the command that does, and it is well once that runs', async () => {
  const id = await listed()
  const { code, healthy, by } = await doctor(id)
  expect([code, healthy, by['endpoint']]).toMatchObject([
    11,
    false,
    { state: 'fail', mend: `souk provide ${id} --exec COMMAND` },
  ])
  await shop.lines(['provide', id, '--exec', 'cat', '--once', '--as', 'bob'])
  await shop.json(['api', '/v1/events', '--as', 'bob'])
  expect(await doctor(id)).toMatchObject({ code: 0, by: { endpoint: { state: 'ok' } } })
})

test('it is not offered: exit 11 until the command that it names was typed', async () => {
  const id = await listed()
  await shop.json(['services', 'edit', id, '--set', 'status=inactive', '--as', 'bob'])
  const { code, by } = await doctor(id)
  expect([code, by['status']?.mend]).toEqual([11, `souk services edit ${id} --set status=active`])
  const [, ...words] = by['status']?.mend?.split(' ') ?? []
  await shop.json([...words, '--as', 'bob'])
  expect((await doctor(id)).by['status']?.state).toBe('ok')
})

test('what published clients refuse to pay is told before a buyer finds out, and is no failure', async () => {
  const { by } = await doctor(await listed('price=2.00'), 'ann')
  expect(by['price']).toMatchObject({ state: 'warn', found: expect.stringContaining('x402-fetch and @x402/fetch') })
})

test('a listing that is not there, or that is quoted, has no 402 to read', async () => {
  expect((await shop.souk(['services', 'doctor', 'svc_0000000000000000'])).code).toBe(3)
  const { by } = await doctor(await listed('pricing_model=quote_required'), 'ann')
  expect(Object.keys(by)).not.toContain('x402 v1')
})
