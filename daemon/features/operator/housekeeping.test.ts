import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { noTicks } from '../../../fixtures/kit/time.ts'
import { type Marketplace, openMarketplace, signPayment } from '../../../fixtures/market/marketplace.ts'
import { DAY_MS, HOUR_MS } from '../../../src/core/time.ts'
import { events } from '../../events/rows.ts'
import { STORE_FOLDER } from '../backup/import-state.ts'
import { answers, idempotency, payments } from '../payments/rows.ts'

let market: Marketplace
afterEach(() => market.close())

const advance = (ms: number) => market.admin('POST', '/dashboard/api/admin/clock', { body: { advance_ms: ms } })
const keep = () => market.admin('POST', '/dashboard/api/admin/crons/housekeeping/run')

test('a stored answer is served for a day, its payment is known for ever', async () => {
  market = await openMarketplace({ crons: true }, { ticker: noTicks })
  const path = `/v1/services/${await market.serviceId('qr_code')}/purchase`
  const body = { data: 'kept' }
  const buyer = await market.buyer('1.00')
  const headers = {
    ...(await signPayment(buyer.account, await market.call('POST', path, { body }))),
    'Idempotency-Key': 'kept',
  }
  const first = await market.call('POST', path, { body, headers })
  expect(first.status).toBe(200)

  await advance(23 * HOUR_MS)
  const replayed = await market.call('POST', path, { body, headers })
  expect([replayed.status, replayed.text]).toEqual([200, first.text])

  await advance(2 * HOUR_MS)
  const { store, chain } = market.daemon.ctx
  expect((await store.table(answers).page('at', [], { limit: 10 })).rows).toEqual([])
  expect((await store.table(idempotency).page('at', [], { limit: 10 })).rows).toEqual([])
  const spent = await chain.balanceOf(buyer.wallet)
  const late = await market.call('POST', path, { body, headers })
  expect([late.status, late.body.code]).toEqual([409, 'conflict'])
  expect(await chain.balanceOf(buyer.wallet)).toBe(spent)
  expect(await store.table(payments).count('open', [])).toBe(0)
})

test('events are kept for seven days, and go from the old end', async () => {
  market = await openMarketplace({}, { ticker: noTicks })
  const { store, clock } = market.daemon.ctx
  const all = async () => (await store.table(events).page('seq', [], { limit: 1_000 })).rows
  for (let day = 0; day < 10; day += 1) await advance(DAY_MS)
  const before = await all()
  expect((await keep()).body.run.result).toBe('success')
  const after = await all()
  const weekAgo = clock.now() - 7 * DAY_MS
  expect(before.some((event) => event.at < weekAgo)).toBe(true)
  const kept = before.filter((event) => event.at >= weekAgo).map((event) => event.seq)
  expect(after.map((event) => event.seq)).toEqual([...kept, (before.at(-1)?.seq ?? 0) + 1])
})

test('a sweep of many rows gives their room on the disk back', async () => {
  market = await openMarketplace({}, { ticker: noTicks })
  const { store, clock } = market.daemon.ctx
  const folder = join(market.dir, STORE_FOLDER)
  const size = async () => {
    const names = (await readdir(folder)).filter((name) => name.endsWith('.ndjson'))
    return (await Promise.all(names.map(async (name) => (await stat(join(folder, name))).size))).reduce((a, b) => a + b)
  }
  const before = await size()
  for (let round = 0; round < 4; round += 1) {
    await store.tx(async (t) => {
      for (let n = 0; n < 300; n += 1) {
        const id = `${round}:${n}`
        await t.table(answers).insert({ id, status: 200, body: 'x'.repeat(2_000), sealed: null, at: clock.now() })
      }
    })
  }
  expect((await size()) - before).toBeGreaterThan(2_000_000)
  await advance(DAY_MS + 1)
  await keep()
  expect((await size()) - before).toBeLessThan(200_000)
})
