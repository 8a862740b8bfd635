import fc from 'fast-check'
import stringWidth from 'string-width'
import { describe, expect, it } from 'vitest'
import { graphemes, isNarrow } from './light-text.ts'

/* The bundled cockpit must measure text as the packages do that it draws with. */

const BASIC_PLANE = 0x1_0000
const ofIcu = new Intl.Segmenter(undefined, { granularity: 'grapheme' })
const parts = (text: string, by: { segment(text: string): Iterable<{ segment: string; index: number }> }) =>
  [...by.segment(text)].map(({ segment, index }) => ({ segment, index }))

const all = Array.from({ length: BASIC_PLANE }, (_, code) => String.fromCharCode(code))
const narrow = all.filter(isNarrow)
/** What joins its neighbours, is wide or has no width at all stands among the narrow ones. */
const odd = [
  '\u0301',
  '\u200D',
  '\uFE0F',
  '\u20E3',
  '\r',
  '\n',
  '\r\n',
  '\u001B[31m',
  '漢',
  '🙂',
  '👩\u200D👩\u200D👧',
  '🇳🇱',
  '\u00AD',
  'ᄀ',
  'ᅡ',
]
const mixed = fc.array(fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...narrow) }, fc.constantFrom(...odd)), {
  maxLength: 40,
})

describe('text that is measured without tables', () => {
  it('has a column for each of its characters', () => {
    expect(narrow.length).toBeGreaterThan(1_000)
    expect(narrow.filter((one) => stringWidth(one) !== 1)).toEqual([])
  })

  it('is as wide as the package says, whatever stands beside what', () => {
    const of = fc.array(fc.constantFrom(...narrow), { maxLength: 40 })
    fc.assert(fc.property(of, (signs) => signs.length === stringWidth(signs.join(''))))
  })

  it.each(['e\u0301', '漢', '🙂', '\u001B[1m', 'a\nb', '\u00AD', '©\uFE0F'])('is not %j', (text) => {
    expect(isNarrow(text)).toBe(false)
  })
})

describe('text that is cut into graphemes without tables', () => {
  it('falls apart as ICU has it, sign by sign', () => {
    expect(all.filter((one) => parts(one, graphemes).length !== parts(one, ofIcu).length)).toEqual([])
  })

  it('falls apart as ICU has it, whatever stands beside what', () => {
    fc.assert(
      fc.property(mixed, (signs) => {
        const text = signs.join('')
        expect(parts(text, graphemes)).toEqual(parts(text, ofIcu))
      }),
    )
  })
})
