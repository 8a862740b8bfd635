import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { splitWords } from './split-words.ts'

test.each([
  ['./qr.sh', ['./qr.sh']],
  ['  node  a.js --size 3 ', ['node', 'a.js', '--size', '3']],
  [`sh -c 'echo "$HOME"; exit 1'`, ['sh', '-c', 'echo "$HOME"; exit 1']],
  [`a "b \\"c\\" $d" e\\ f`, ['a', 'b "c" $d', 'e f']],
  [`a'b'"c"d ''`, ['abcd', '']],
])('%s', (line, words) => {
  expect(splitWords(line)).toEqual(words)
})

test.each(['', '   ', `a 'b`, 'a "b', 'a\\'])('%j is no command', (line) => {
  expect(() => splitWords(line)).toThrow(expect.objectContaining({ exit: 'usage' }))
})

test('quoted words come out as a shell has them', () => {
  const word = fc.string({ unit: fc.constantFrom('a', ' ', "'", '"', '\\', '*', ';'), maxLength: 6 })
  const property = fc.property(fc.array(word, { minLength: 1, maxLength: 5 }), (words) => {
    const line = words.map((one) => `'${one.replaceAll("'", `'\\''`)}'`).join(' ')
    expect(splitWords(line)).toEqual(words)
  })
  fc.assert(property, { numRuns: 500 })
  const line = `printf '%s|' "a b" 'c"d' e\\ f`
  expect(execFileSync('sh', ['-c', line], { encoding: 'utf8' })).toBe(`${splitWords(line).slice(2).join('|')}|`)
})
