import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compareScalars } from '../engine/order.ts'
import type { Scalar } from '../port.ts'
import { behind, bytesOf, encodeScalar, endOfScalar, scalarKey, textBytes, textKey, textOf } from './bytes.ts'

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 4 }),
  fc
    .array(fc.constantFrom('\0', '\u0001', 'a', '\u00FF', '\uD7FF', '\uD83D', '\uDE00', '\uE000', '\uFFFF'), {
      maxLength: 4,
    })
    .map((units) => units.join('')),
)
const scalar: fc.Arbitrary<Scalar> = fc.oneof(
  text,
  fc.constantFrom(null, true, false, 0, -0, 0.5, -0.5, 1, -1, 255, 256, 2 ** 53, -(2 ** 53), 1e300, -1e300, 5e-324),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer(),
  fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }),
  fc.constantFrom(0n, 1n, -1n, 2n ** 63n, 2n ** 64n, -(2n ** 64n), 255n, 256n, -255n, -256n),
)
const tuple = fc.tuple(scalar, scalar)
const encoded = (values: readonly Scalar[]) => Buffer.concat(values.map(encodeScalar))

test('keys lie in the order of their scalars, and each scalar knows its end', () => {
  fc.assert(
    fc.property(tuple, tuple, (a, b) => {
      const order = compareScalars(a[0], b[0]) || compareScalars(a[1], b[1])
      expect(Buffer.compare(encoded(a), encoded(b))).toBe(Math.sign(order))
      const first = encodeScalar(a[0])
      expect(bytesOf(scalarKey(a[0]))).toEqual(first)
      expect(endOfScalar(Buffer.concat([Buffer.of(7), encoded(a), Buffer.of(9)]), 1)).toBe(1 + first.length)
    }),
    { numRuns: 3_000 },
  )
})

test('a prefix holds exactly what begins with it', () => {
  fc.assert(
    fc.property(tuple, tuple, (a, b) => {
      const from = encodeScalar(a[0])
      const isInside = Buffer.compare(encoded(b), from) >= 0 && Buffer.compare(encoded(b), behind(from)) < 0
      expect(isInside).toBe(compareScalars(a[0], b[0]) === 0)
    }),
    { numRuns: 2_000 },
  )
})

test('every string comes back from its bytes', () => {
  fc.assert(
    fc.property(
      text,
      (value) => textOf(textBytes(value)) === value && textBytes(value).equals(bytesOf(textKey(value))),
    ),
    { numRuns: 2_000 },
  )
})
