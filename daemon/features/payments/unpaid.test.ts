import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { runOf } from '../../../fixtures/kit/crash.ts'
import { chainWith, gate } from '../../../fixtures/kit/faults.ts'
import { type Escrow, openEscrow } from '../../../fixtures/market/escrow.ts'
import { DAY_MS } from '../../../src/core/time.ts'
import { commit } from '../../store/draw.ts'
import { STORE_FOLDER } from '../backup/import-state.ts'
import { readInput } from '../jobs/rows.ts'
import { placeOf } from '../jobs/view.ts'
import { housekeeping } from '../operator/housekeeping.ts'
import { MAX_OPEN_PAYMENTS } from './reserve.ts'
import { MAX_UNPAID_ATTEMPTS } from './reversed.ts'
import { answers, payments } from './rows.ts'

// @slow every paid endpoint is asked without a payment, many times

/* What was asked for and not paid leaves nothing behind, and what was paid does not fill the memory. */

const BIG = 'x'.repeat(200_000)
const RESULT = { text: 'y'.repeat(300_000) }

let market: Escrow
let service: string
let isBroke = false
beforeAll(async () => {
  market = await openEscrow({
    chain: chainWith((real) => ({
      settle: async (...signed) =>
        isBroke ? { ok: false, failure: 'insufficient_funds', sent: false } : real.settle(...signed),
    })),
  })
  service = await market.list('instant', { price: '0.001' })
})
beforeEach(() => {
  isBroke = false
  market.hook.answer = () => ({ headers: { 'content-type': 'application/json' }, body: JSON.stringify(RESULT) })
})
afterAll(() => market.close())

const folder = () => join(market.market.dir, STORE_FOLDER)
const blobs = async () => (await readdir(join(folder(), 'blobs'))).length
async function journalBytes(): Promise<number> {
  const names = (await readdir(folder())).filter((name) => name.startsWith('journal-'))
  const sizes = await Promise.all(names.map(async (name) => (await stat(join(folder(), name))).size))
  return sizes.reduce((sum, size) => sum + size, 0)
}

test.each<[string, () => void]>([
  [
    'whose provider fails',
    () => {
      market.hook.answer = () => ({ status: 500 })
    },
  ],
  [
    'whose payment fails after a large answer',
    () => {
      isBroke = true
    },
  ],
])('a large purchase %s grows neither journal nor memory nor blobs', async (_, arrange) => {
  const who = await market.agent()
  arrange()
  const before = [await journalBytes(), await blobs()] as const
  for (let n = 0; n < 5; n += 1) expect((await market.buy(service, who, { body: { text: BIG } })).status).not.toBe(200)
  await expect.poll(blobs).toBe(before[1])
  expect((await journalBytes()) - before[0]).toBeLessThan(100_000)
})

test('a large purchase that was paid is replayed from its file, and what it carried is gone', async () => {
  const who = await market.agent({ balance: '1.00' })
  const headers = { 'X-BALANCE-AUTH': who.key, 'Idempotency-Key': 'large' }
  const request = { body: { text: BIG }, headers }
  const path = `/v1/services/${service}/purchase`
  const bought = await market.market.call('POST', path, request)
  expect([bought.status, bought.body.result]).toEqual([200, RESULT])
  const { store } = market.ctx()
  const job = await market.job(bought.body.job_id)
  expect(await readInput(placeOf(market.ctx()), job)).toEqual({ text: BIG })
  const payment = await store.table(payments).get(job.payment_id)
  expect([payment?.state, payment?.input, payment?.file_sha256]).toEqual(['fulfilled', null, undefined])
  expect((await store.table(answers).get(job.payment_id))?.body).toBe('')
  await market.market.restart()
  const again = await market.market.call('POST', path, request)
  expect([again.headers.get('Idempotency-Replayed'), again.text]).toEqual(['true', bought.text])
})

test('a released payment is swept after a day, and the hold that it gave back goes from the books', async () => {
  const who = await market.agent({ balance: '1.00' })
  market.hook.answer = () => ({ status: 500 })
  const headers = { 'X-BALANCE-AUTH': who.key }
  const path = `/v1/services/${service}/purchase`
  const buy = () => market.market.call('POST', path, { body: {}, headers })
  const released = await Promise.all([buy(), buy(), buy()])
  expect(released.map(({ status }) => status)).toEqual([502, 502, 502])
  const histories = async () => (await market.market.call('GET', '/v1/balance/history', { headers })).body.entries
  expect(await histories()).toHaveLength(7)
  const count = () => market.ctx().store.table(payments).count('released', [])
  expect(await count()).toBeGreaterThan(0)
  market.pass(DAY_MS + 1)
  await runOf(housekeeping, market.ctx())
  expect(await count()).toBe(0)
  expect((await histories()).map(({ type }: { type: string }) => type)).toEqual(['deposit'])
  expect((await market.market.call('GET', '/v1/balance', { headers })).body.balance).toBe('1.00')
  expect(await market.faults()).toEqual([])
})

test('a wallet whose purchases are not paid again and again is refused with the time to wait', async () => {
  const who = await market.agent({ balance: '1.00' })
  market.hook.answer = () => ({ status: 500 })
  const headers = { 'X-BALANCE-AUTH': who.key }
  const statuses: number[] = []
  const buy = () => market.market.call('POST', `/v1/services/${service}/purchase`, { body: {}, headers })
  for (let n = 0; n < MAX_UNPAID_ATTEMPTS; n += 1) statuses.push((await buy()).status)
  expect(new Set(statuses)).toEqual(new Set([502]))
  const refused = await buy()
  expect([refused.status, refused.body.code]).toEqual([429, 'rate_limited'])
  expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(3_000)
  const other = await market.agent({ balance: '1.00' })
  expect((await market.buy(service, other, { from: 'balance' })).status).toBe(502)
})

test('a wallet with as many open payments as are allowed is refused, uncharged, until one ends', async () => {
  const who = await market.agent({ balance: '1.00' })
  const work = gate()
  const { answer } = market.hook
  market.hook.answer = (call) => work.wait().then(() => answer(call))
  const running = market.buy(service, who, { from: 'balance' })
  await work.reached
  const { store } = market.ctx()
  const [open] = (await store.table(payments).page('open', [], { limit: 1 })).rows
  if (!open) throw new Error('the purchase that runs has no open payment')
  const { version: _, ...row } = open
  const others = Array.from({ length: MAX_OPEN_PAYMENTS - 1 }, (_, n) => `${row.id}-${n}`)
  await commit(market.ctx(), (t) => Promise.all(others.map((id) => t.table(payments).insert({ ...row, id }))))
  const refused = await market.buy(service, who, { from: 'balance' })
  expect([refused.status, refused.body.code]).toEqual([429, 'rate_limited'])
  await commit(market.ctx(), (t) => Promise.all(others.map((id) => t.table(payments).delete(id))))
  work.open()
  expect((await running).status).toBe(200)
})
