import fc from 'fast-check'
import { expect, it } from 'vitest'
import { formatAmount } from '../../core/money.ts'
import { bar, chart, spark, tank } from './charts.ts'
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
