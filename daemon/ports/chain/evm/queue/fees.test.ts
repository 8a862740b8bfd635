import fc from 'fast-check'
import { expect, test } from 'vitest'
import { windowMs } from './batch.ts'
import { firstFees, isEnough, raisedFees } from './fees.ts'

const wei = fc.bigInt({ min: 0n, max: 10n ** 12n })
const market = fc.record({ baseFee: wei, tip: wei })

test('no fee is ever above the cap, nor a tip above its fee, and what is offered is taken now', () => {
  fc.assert(
    fc.property(market, wei, (asked, cap) => {
      const fees = firstFees(asked, cap)
      expect(fees === undefined).toBe(asked.baseFee + asked.tip > cap)
      if (!fees) return
      expect(fees.maxFee).toBeLessThanOrEqual(cap)
      expect(fees.tip).toBeLessThanOrEqual(fees.maxFee)
      expect(isEnough(fees, asked)).toBe(true)
    }),
  )
})

test('a replacement raises both fees by an eighth at least, and stays below the cap', () => {
  fc.assert(
    fc.property(market, market, wei, (first, now, cap) => {
      const last = firstFees(first, cap)
      fc.pre(last !== undefined)
      const fees = raisedFees(last, now, cap)
      if (!fees) return
      expect(fees.maxFee * 8n).toBeGreaterThanOrEqual(last.maxFee * 9n)
      expect(fees.tip * 8n).toBeGreaterThanOrEqual(last.tip * 9n)
      expect(fees.maxFee).toBeLessThanOrEqual(cap)
      expect(fees.tip).toBeLessThanOrEqual(fees.maxFee)
      expect(isEnough(fees, now)).toBe(true)
    }),
  )
})

test('the window in which orders gather follows the time to a block, within bounds', () => {
  expect([0, 8, 80, 800, 2_000, 60_000].map(windowMs)).toEqual([4, 4, 10, 100, 250, 250])
})
