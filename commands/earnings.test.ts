import { afterAll, beforeAll, expect, test } from 'vitest'
import { openRemoteMarket, type RemoteMarket } from '../fixtures/kit/remote-market.ts'

/* What somebody earned: in all, in a time, and as a table for others' programs. */

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

const earnings = (...words: string[]) => shop.souk(['earnings', '--as', 'ann', ...words])
const told = (...words: string[]) => shop.json(['earnings', '--as', 'ann', ...words])

test('the balance of a seller leads to its earnings', async () => {
  expect((await shop.souk(['balance', '--as', 'ann'], { columns: 120 })).err).toContain('souk earnings')
})

test('without a time it is the summary of the interface', async () => {
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

test('a time ends now, in business time, and names every sale of it', async () => {
  const short = await told('--period', '10d')
  expect(short).toMatchObject({ earned: '0.25', sales: [{ amount: '0.25', role: 'sale' }] })
  expect(Date.parse(short.until) - Date.parse(short.since)).toBe(10 * 86_400_000)
  expect(await told('--period', '30d')).toMatchObject({
    earned: '0.75',
    sales: [{ amount: '0.25' }, { amount: '0.50' }],
  })
  const { out } = await shop.souk(['earnings', '--period', '30d', '--as', 'ann'], { columns: 120 })
  expect(out).toContain(' by 2 sales')
})

test('CSV has a header and every sale, newest first', async () => {
  const { code, out } = await earnings('--csv')
  const [header, ...rows] = out.trimEnd().split('\n')
  expect([code, header]).toEqual([0, 'created_at,amount_usd,reference_kind,reference_id,transaction_id'])
  expect(rows.map((row) => row.split(',')[1])).toEqual(['0.25', '0.50'])
  const { out: none } = await shop.souk(['earnings', '--csv', '--as', 'bob'])
  expect(none).toBe(`${header}\n`)
})

test.each([
  ['--period', 'soon'],
  ['--period', '-1d'],
])('%s %s is no time', async (...words) => {
  expect((await earnings(...words)).code).toBe(2)
})
