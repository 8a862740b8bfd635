import fc from 'fast-check'
import { expect, test } from 'vitest'
import { matchesGlob } from './own.ts'

test.each([
  ['job.*', 'job.dispatched', true],
  ['job.*', 'job.', true],
  ['job.*', 'jobs.dispatched', false],
  ['*.created', 'message.created', true],
  ['*', 'message.created', true],
  ['job.dispatched', 'job.dispatched', true],
  ['job.dispatched', 'job.dispatched_late', false],
  ['a*a', 'a', false],
])('%s and %s: %s', (pattern, text, expected) => {
  expect(matchesGlob(pattern, text)).toBe(expected)
})

test('a pattern says what the expression of the same meaning says', () => {
  const letters = fc.array(fc.constantFrom('a', 'b', '.'), { maxLength: 8 })
  const patterns = fc.array(fc.constantFrom('a', 'b', '.', '*'), { maxLength: 6 })
  const property = fc.property(patterns, letters, (pattern, text) => {
    const expression = new RegExp(`^${pattern.join('').replaceAll('.', '\\.').replaceAll('*', '.*')}$`)
    expect(matchesGlob(pattern.join(''), text.join(''))).toBe(expression.test(text.join('')))
  })
  fc.assert(property, { numRuns: 2_000 })
})
