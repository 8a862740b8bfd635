import { afterAll, beforeAll, expect, test } from 'vitest'
import { openRemoteMarket, type RemoteMarket } from '../fixtures/kit/remote-market.ts'

/* What somebody earned, and what waits. */

let shop: RemoteMarket
beforeAll(async () => {
  shop = await openRemoteMarket()
  for (const name of ['ann', 'bob']) {
    await shop.json(['wallet', 'new', name])
    await shop.json(['wallet', 'fund', name])
    await shop.json(['account', 'register', '--role', 'both', '--as', name])
  }
  await sellPlan('0.50')
  await shop.json(['clock', 'advance', '20d'])
  await sellPlan('0.25')
})
afterAll(() => shop.market.close())

async function sellPlan(price: string): Promise<void> {
  const fields = ['name=Echo', 'description=Echoes', 'price=0.50', 'fulfillment_type=automated']
  const create = ['services', 'create', ...fields.flatMap((one) => ['--set', one]), '--as', 'ann']
  const { id } = await shop.json(create)
  const words = ['plans', 'create', '--name', 'Plan', '--price', price, '--service', id, '--as', 'ann']
  await shop.json(['plans', 'subscribe', (await shop.json(words)).plan_id, '--as', 'bob'])
}

const told = () => shop.json(['earnings', '--as', 'ann'])

test('the balance of a seller leads to its earnings', async () => {
  expect((await shop.souk(['balance', '--as', 'ann'], { columns: 120 })).err).toContain('souk earnings')
})

test('it is the summary of the interface', async () => {
  expect(await told()).toMatchObject({ lifetime_usd: 0.75, recent_settlements: [{}, {}], currency: 'USDC' })
})

test('says when the next settlement is, and why each sum waits', async () => {
  const { next_settlement_at, waiting, pending_usd } = await told()
  expect(waiting).toEqual([{ reason: 'scheduled', amount_usd: pending_usd, sales: 0, until: next_settlement_at }])
  const { out } = await shop.souk(['earnings', '--as', 'ann'], { columns: 120 })
  expect(out).toContain('$0.75 waits: earned; the next settlement pays it in full')
  await shop.json(['crons', 'pause', 'provider-settlement'])
  const paused = await shop.souk(['earnings', '--as', 'ann'], { columns: 120 })
  await shop.json(['crons', 'resume', 'provider-settlement'])
  expect(paused.out).toContain('next settlement none')
  expect(paused.out).toContain('the operator has paused settlements')
})
