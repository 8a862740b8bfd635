import fc from 'fast-check'
import { expect, it } from 'vitest'
import { formatAmount } from '../../core/money.ts'
import { clockTime, dateTime } from '../../text/time.ts'
import { callsLines, pulseLines } from '../overview/panels.ts'
import { bindings } from '../shell/bindings.ts'
import type { Series } from '../shell/figures.ts'
import { unasked } from '../shell/query.ts'
import { bar, chart, folded, highest, mean, spark, tank } from './charts.ts'
import { lineWidth, textOf } from './line.ts'
import { onThePoint, riverLines, shownMoney } from './river.ts'

const values = fc.array(fc.double({ min: 0, max: 1e15, noNaN: true }), { maxLength: 200 })

it('pictures are exactly as wide as asked for, whatever the numbers', () => {
  fc.assert(
    fc.property(values, fc.integer({ min: 0, max: 120 }), (numbers, width) => {
      expect(lineWidth([spark(numbers, width)])).toBe(width)
      expect(lineWidth([bar(numbers[0] ?? 0, width)])).toBe(width)
      const [good = 0, late = 0, disputed = 0] = numbers
      expect(lineWidth(tank({ good, late, disputed }, width))).toBe(width)
      for (const line of chart(numbers, { width: width + 10, height: 5 })) {
        expect(lineWidth(line)).toBeLessThanOrEqual(width + 10)
      }
    }),
  )
})

it('a spark shows nothing for nothing, and a foot for anything more', () => {
  expect(spark([0, 1, 100], 4)).toBe('  ▁▇')
})

const widths = fc.integer({ min: 1, max: 400 })

it('no bucket is left out of a chart, whatever its width: all of them fold into its columns', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 10_000 }), widths, fc.integer({ min: 2, max: 50 }), (many, width, rare) => {
      const buckets = Array.from({ length: many }, (_, i) => (i % rare === 0 ? i + 1 : 0))
      const columns = folded(buckets, width)
      expect(columns.flat()).toEqual(buckets)
      expect(columns).toHaveLength(Math.min(many, width))
      const sizes = columns.map(({ length }) => length)
      if (many > 0) expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1)
      for (const of of [mean, highest]) {
        const drawn = [...spark(buckets, width, { of })]
        expect(drawn).toHaveLength(width)
        const seen = drawn.slice(width - columns.length).map((sign) => sign !== ' ')
        expect(seen).toEqual(columns.map((column) => column.some((value) => value > 0)))
      }
      for (const line of chart(buckets, { width, height: 6 })) expect(lineWidth(line)).toBeLessThanOrEqual(width + 7)
    }),
    { numRuns: 60 },
  )
})

const spans = { hour: [60, 60], day: [96, 900], week: [168, 3_600] } as const

function seriesOf(span: keyof typeof spans, calls: (at: number) => number): Series {
  const [many, seconds] = spans[span]
  const from = Date.parse('2026-11-19T22:00:00.000Z')
  const buckets = Array.from({ length: many }, (_, i) => ({
    at: new Date(from + i * seconds * 1_000).toISOString(),
    calls: { answered: calls(i), asked_to_pay: 0, refused: 0, switched_off: 0, broken: 0 },
    ...{ p50_ms: null, p95_ms: null, purchases: 0, paid_in: '0.00', providers: '0.00', fees: '0.00', refunds: '0.00' },
  }))
  return { span, bucket_seconds: seconds, since: new Date(from).toISOString(), buckets }
}

const queryOf = (value: Series) => ({ ...unasked, value, at: 0 })

it('the times under a chart are those of the buckets above them, and a week is drawn as a week', () => {
  fc.assert(
    fc.property(fc.constantFrom('hour', 'day', 'week'), fc.integer({ min: 40, max: 400 }), (span, width) => {
      const series = seriesOf(span, (i) => i + 1)
      const rows = callsLines(queryOf(series), { width, rows: 8 }).map(textOf)
      const axis = rows.findIndex((row) => /^ +0 ┴/.test(row))
      const columns = /┴(─+)/.exec(rows[axis] ?? '')?.[1]?.length ?? 0
      expect(columns).toBe(Math.min(series.buckets.length, width - 22 - 6))
      const word = (at: number) => (span === 'week' ? dateTime(at).slice(5, 10) : clockTime(at).slice(0, 5))
      const times = [...(rows[axis + 1] ?? '').matchAll(/\d\d[:-]\d\d/g)]
      if (columns >= 24) expect(times.length).toBeGreaterThan(0)
      for (const { 0: time, index } of times) {
        const bucket = series.buckets[Math.floor(((index - 6) * series.buckets.length) / columns)]
        expect(time).toBe(word(Date.parse(bucket?.at ?? '')))
      }
      if (width >= 60) expect(rows[0]).toContain(`last ${span} `)
    }),
    { numRuns: 60 },
  )
})

it('a series without anything in it says so in words, and draws no empty picture', () => {
  for (const span of ['hour', 'day', 'week'] as const) {
    const empty = queryOf(seriesOf(span, () => 0))
    expect(callsLines(empty, { width: 90, rows: 8 }).map(textOf).join('\n')).toContain(` none in the last ${span}`)
    const pulse = pulseLines(empty, { width: 59, rows: 4, keys: bindings }).map(textOf)
    expect(pulse.slice(1).filter((row) => row.includes(`none in the last ${span}`))).toHaveLength(4)
  }
})

const amount = fc.bigInt({ min: 0n, max: 10n ** 17n }).map(formatAmount)
const river = fc.record({
  paid_in: amount,
  by_x402: amount,
  by_balance: amount,
  at_once: amount,
  held: amount,
  overdue: amount,
  disputed: amount,
  providers: amount,
  fees: amount,
  refunds: amount,
  sales: fc.nat(),
  held_jobs: fc.nat(),
  agrees: fc.boolean(),
})

it('the river never runs over, and no amount that it must show is cut, at any width', () => {
  fc.assert(
    fc.property(river, fc.integer({ min: 40, max: 220 }), (shown, width) => {
      const lines = riverLines(shown, width)
      for (const line of lines) expect(lineWidth(line)).toBe(width)
      const text = lines.map(textOf).join('\n')
      for (const one of [shown.paid_in, shown.held, shown.providers, shown.fees, shown.refunds]) {
        expect(text).toContain(shownMoney(one))
      }
    }),
    { numRuns: 300 },
  )
})

it('amounts stand on the point', () => {
  expect(onThePoint(['$1,109.00', '$55.45', '$0.000001'])).toEqual(['$1,109.00    ', '   $55.45    ', '    $0.000001'])
})
