import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { usdc } from '../../../src/core/money.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../src/core/time.ts'
import { linesOf } from '../../../src/model/ledger.ts'
import { everyRow } from '../../store/each-page.ts'
import { openMemoryStore } from '../../store/memory/open.testkit.ts'
import { account } from '../ledger/legs.ts'
import { ledger } from '../ledger/rows.ts'
import { openCallFigures } from './calls.ts'
import { noTrade, tradeOf, tradeSum } from './flows.ts'
import { openRollup } from './rollup.ts'
import { weekAgo } from './routes.ts'
import { rollups } from './rows.ts'

/* Sums of hours and days are those of the ledger, whatever was restarted and wherever the clock was moved. */

const START = 20_000 * DAY_MS + 5 * HOUR_MS

/** A store, two clocks, and the figures over them as one run of the daemon after another has them. */
function open() {
  const store = openMemoryStore([ledger, rollups])
  let [wall, ahead, seq] = [START, 0, 0]
  const clock = { now: () => wall + ahead, wall: () => wall }
  const start = () => {
    const calls = openCallFigures(clock.wall, new Set())
    return { calls, figures: openRollup({ store, clock: clock as never, calls }) }
  }
  let run = start()
  return {
    store,
    clock,
    run: () => run,
    pass: (ms: number) => {
      wall += ms
    },
    move: (ms: number) => {
      ahead += ms
    },
    async post(kind: 'instant_sale' | 'deposit', amount: bigint) {
      seq += 1
      const to = kind === 'deposit' ? account.balance('p_1') : account.provider('p_2')
      const lines = linesOf([{ from: account.ext, to, amount: usdc(amount) }])
      const row = { id: `t_${seq}`, seq, kind, ref_kind: 'test', ref_id: 'x', lines, at: clock.now() }
      await store.tx((t) => t.table(ledger).insert(row))
      await store.durable()
    },
    async restart() {
      await run.figures.close()
      run = start()
    },
  }
}

const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('sale'), by: fc.integer({ min: 1, max: 9_000_000 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('deposit'), by: fc.integer({ min: 1, max: 9_000_000 }) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('pass'), by: fc.integer({ min: 1, max: 3 * DAY_MS }) }) },
  // Across the boundary of a day, and of the time after which hours become days.
  { weight: 2, arbitrary: fc.record({ do: fc.constant('move'), by: fc.constantFrom(HOUR_MS, DAY_MS, 20 * DAY_MS) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('pass'), by: fc.constantFrom(36 * DAY_MS, 15 * MINUTE_MS) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('restart', 'save', 'look'), by: fc.constant(0) }) },
)

type Market = ReturnType<typeof open>
const acts: Readonly<Record<string, (market: Market, by: number) => unknown>> = {
  sale: ({ post }, by) => post('instant_sale', BigInt(by)),
  deposit: ({ post }, by) => post('deposit', BigInt(by)),
  pass: ({ pass }, by) => pass(by),
  move: ({ move }, by) => move(by),
  save: ({ run }) => run().figures.save(),
  look: ({ run }) => run().figures.past(),
  restart: ({ restart }) => restart(),
}

/** Sums of the ledger between two times. */
async function ledgerSums({ store }: Market) {
  const entries = await everyRow(store.table(ledger), { index: 'seq', prefix: [], limit: 500 })
  return (from: number, until: number) =>
    entries
      .filter(({ at }) => at >= from && at < until)
      .map(tradeOf)
      .reduce(tradeSum, noTrade())
}

test('sums by hour and day are those of the ledger, over restarts, day boundaries and moved clocks', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const market = open()
      for (const { do: what, by } of steps) await acts[what]?.(market, by)
      const sumIn = await ledgerSums(market)
      const { clock, run, store } = market
      await run().figures.past()
      for (const [interval, ms, count] of spans) {
        const until = (Math.floor(clock.now() / ms) + 1) * ms
        const sums = run().figures.within(interval, clock.wall(), count)
        expect(sums).toEqual(sumIn(until - count * ms, until))
      }
      await market.restart()
      const rows = await everyRow(store.table(rollups), { index: 'seq', prefix: [], limit: 500 })
      for (const row of rows) {
        const length = row.step === 'day' ? DAY_MS : HOUR_MS
        expect(row.at % length).toBe(0)
        expect(tradeSum(row, noTrade())).toEqual(sumIn(row.at, row.at + length))
      }
      const oldest = Math.min(...rows.map(({ at }) => at))
      expect(rows.reduce(tradeSum, noTrade())).toEqual(sumIn(oldest, Number.POSITIVE_INFINITY))
      expect(rows.length > 0).toBe(steps.some(({ do: what }) => what === 'sale' || what === 'deposit'))
    }),
    { numRuns: 60 },
  )
})

const spans = [
  ['minute', MINUTE_MS, DAY_MS / MINUTE_MS],
  ['hour', HOUR_MS, (7 * DAY_MS) / HOUR_MS],
] as const

test('a year of hours becomes days, and days leave after 13 months: the rows do not grow', async () => {
  const market = open()
  for (let day = 0; day < 430; day += 1) {
    await market.post('instant_sale', 1_000_000n)
    market.run().calls.add({ endpoint: 'x', status: 200, code: null, ms: 3, requestId: 'req_1' })
    market.pass(DAY_MS)
    await market.run().figures.save()
  }
  const count = (of: string) => market.store.table(rollups).count('step', [of])
  expect([await count('hour'), await count('day')]).toEqual([35, 361])
})

describe('calls', () => {
  const call = { endpoint: 'x', status: 200, code: null, ms: 3, requestId: 'req_1' }
  const totals = ({ run, clock }: ReturnType<typeof open>) => run().calls.within('hour', clock.wall(), 24).total

  test('are still counted after a restart, once', async () => {
    const market = open()
    market.run().calls.add(call)
    await market.restart()
    market.run().calls.add(call)
    market.pass(2 * MINUTE_MS)
    await market.run().figures.save()
    await market.run().figures.past()
    expect(totals(market)).toBe(2)
    await market.restart()
    await market.run().figures.past()
    expect(totals(market)).toBe(2)
  })

  test('that could not be stored are stored the next time', async () => {
    const market = open()
    const { calls } = market.run()
    calls.add(call)
    await expect(calls.save(() => Promise.reject(new Error('disk full')))).rejects.toThrow('disk full')
    calls.add(call)
    await market.restart()
    await market.run().figures.past()
    expect(totals(market)).toBe(2)
  })
})

describe('the same span a week earlier', () => {
  const now = START + HOUR_MS / 2
  const WEEK = 7 * DAY_MS
  /** Sales and calls by hours before now. */
  const hours = (sold: Readonly<Record<number, number>>) => (at: number) => {
    const sales = sold[Math.floor(now / HOUR_MS) - Math.floor(at / HOUR_MS)] ?? 0
    return { ...noTrade(), sales, paid_in: usdc(BigInt(sales) * 1_000_000n), total: sales, p95: null }
  }
  const span = { from: now - HOUR_MS, now, tradeSince: 0, exact: undefined }

  test.each([
    ['half of each hour belongs to the span', { 0: 6, 1: 12, 168: 10, 169: 10, 180: 1 }, 20],
    ['no sales now', { 168: 10, 169: 10, 180: 1 }, -100],
    ['nothing was sold then', { 0: 6, 180: 1 }, null],
  ])('%s', (_, sold, percent) => {
    const { change } = weekAgo({ ...span, hour: hours(sold) })
    expect(change).toEqual({ calls: percent, purchases: percent, paid_in: percent })
  })

  test('sales known by the minute are not estimated from their hours', () => {
    const exact = { now: { ...noTrade(), sales: 8 }, past: { ...noTrade(), sales: 5 } }
    const { change } = weekAgo({ ...span, exact, hour: hours({ 0: 8, 168: 5, 180: 1 }) })
    expect(change).toEqual({ calls: 220, purchases: 60, paid_in: null })
  })

  test('nothing is compared that began in the middle of the span', () => {
    const sold = hours({ 0: 6, 168: 10, 169: 10 })
    const late = { ...span, tradeSince: span.from - WEEK + 1 }
    expect(weekAgo({ ...late, hour: sold }).change).toEqual({ calls: null, purchases: null, paid_in: null })
    expect(weekAgo({ ...late, hour: sold }).buckets.map(({ at, purchases }) => [at, purchases])).toEqual([
      [START - HOUR_MS - WEEK, 10],
      [START - WEEK, 10],
    ])
    expect(weekAgo({ ...late, hour: hours({ 0: 6 }) }).buckets).toEqual([])
  })
})
