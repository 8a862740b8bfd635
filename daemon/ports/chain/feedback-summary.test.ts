import fc from 'fast-check'
import { expect, test } from 'vitest'
import { summaryOf } from './registries.ts'

test('a summary lies between the least and the greatest value, in decimals that were used', () => {
  const rated = fc.record({ value: fc.bigInt({ min: 0n, max: 10n ** 20n }), value_decimals: fc.nat(18) })
  fc.assert(
    fc.property(fc.array(rated, { minLength: 1, maxLength: 12 }), (given) => {
      const { count, value, valueDecimals } = summaryOf(given)
      expect(count).toBe(BigInt(given.length))
      expect(given.map(({ value_decimals }) => value_decimals)).toContain(valueDecimals)
      const scaled = given.map((one) => one.value * 10n ** BigInt(18 - one.value_decimals))
      const [least, most] = [scaled.reduce((a, b) => (a < b ? a : b)), scaled.reduce((a, b) => (a > b ? a : b))]
      const unit = 10n ** BigInt(18 - valueDecimals)
      expect(value * unit).toBeLessThanOrEqual(most)
      expect((value + 1n) * unit).toBeGreaterThan(least)
    }),
  )
})
