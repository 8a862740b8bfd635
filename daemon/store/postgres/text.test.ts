import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compareScalars } from '../engine/order.ts'
import { storedText } from './text.ts'

const text = fc.option(
  fc.oneof(
    fc.string({ unit: 'binary', maxLength: 4 }),
    fc
      .array(fc.constantFrom('\0', '\u0001', '\u0002', 'a', '\uD7FF', '\uD83D', '\uDE00', '\uE000', '\uFFFF'), {
        maxLength: 4,
      })
      .map((units) => units.join('')),
  ),
)

/** The order of PostgreSQL's collation "C". */
const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))

test('stored texts lie in the order of the texts, null first, and no two are the same', () => {
  fc.assert(
    fc.property(text, text, (a, b) => {
      expect(byBytes(storedText(a), storedText(b))).toBe(Math.sign(compareScalars(a, b)))
    }),
    { numRuns: 5_000 },
  )
})

test('PostgreSQL can hold every stored text', () => {
  fc.assert(fc.property(text, (value) => storedText(value).isWellFormed() && !storedText(value).includes('\0')))
})

test.each(['ann@example.org', 'jobs/2026-11-27', 'é漢字'])('%s is stored as it is', (value) => {
  expect(storedText(value)).toBe(value)
})
