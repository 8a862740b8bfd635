import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hiddenCharacter, isHouseName } from './public-name.ts'

/* Who may be called what: nobody passes for the house, and nothing that nobody sees is in a name. */

test.each([
  ...['souk', 'Souk', 'S O U K', 's.o.u.k', '-souk-', 'SOUK®', 'souk™', 'ＳＯＵＫ', '𝓼𝓸𝓾𝓴', 'ⓢⓞⓤⓚ', 'söuk', 'ŝőůķ'],
  ...['s0uk', '$0uk', '5ouk', 'ѕоuk', 'ЅΟUК', 'տօսκ', 'ꜱᴏᴜᴋ', 'ꓢꓳꓴꓗ', 'søuk'],
])('%s reads as the house', (name) => {
  expect(isHouseName(name)).toBe(true)
})

test.each(['souks', 'Souk tools', 'Sook', 'suok', 'kous', 'Zouk', 'Acme', '市場', 'Сук', ''])('%s does not', (name) => {
  expect(isHouseName(name)).toBe(false)
})

test('no spacing, case or accent takes the name away from the house', () => {
  const gap = fc.constantFrom('', ' ', '.', '_', '-', '\u0301', '\u00A0', '·')
  const letters = ['s', 'o', 'u', 'k'].map((one) => fc.tuple(fc.constantFrom(one, one.toUpperCase()), gap))
  fc.assert(fc.property(fc.tuple(...letters), (parts) => isHouseName(parts.flat().join(''))))
})

test.each([
  ['a\u200Bb', 'U+200B'],
  ['a\u202Eb', 'U+202E'],
  ['a\u0007b', 'U+0007'],
  ['a\u00ADb', 'U+00AD'],
  ['a\u3164b', 'U+3164'],
  ['a\u2800b', 'U+2800'],
  ['a\u{E0041}b', 'U+E0041'],
  ['Ada & sons, 北京 ❤️ نان', undefined],
])('in %j is hidden: %s', (name, code) => {
  expect(hiddenCharacter(name)).toBe(code)
})
