import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { clip, safe, shortAddress, span, tail, widthOf, wrap } from '../../text/text.ts'
import { bad, dim, good, lineWidth, rule, sized, spread, textOf } from './line.ts'
import { type Look, paint } from './theme.ts'

const plain: Look = { palette: undefined, theme: 'dark', depth: '256', ascii: false }

describe('foreign text', () => {
  it('loses control and direction characters, whatever it holds', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        // biome-ignore lint/suspicious/noControlCharactersInRegex: looking for them is the test
        expect(safe(text)).not.toMatch(/[\u0000-\u001F\u007F-\u009F\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069]/)
        expect(safe(text).isWellFormed()).toBe(true)
      }),
    )
    expect(safe('a\tb\r\nc\u001B[31m\u202E\u009B')).toBe('a b c\uFFFD[31m\uFFFD\uFFFD')
  })
})

describe('a row', () => {
  const line = fc.array(
    fc.oneof(
      fc.string({ maxLength: 12 }).map(safe),
      fc.string({ maxLength: 12 }).map((text) => good(safe(text))),
      fc.constantFrom('日本', '…', '●', bad('✗ failing'), dim('')),
    ),
    { maxLength: 8 },
  )

  it('has exactly the width that was asked for', () => {
    fc.assert(
      fc.property(line, fc.integer({ min: 0, max: 60 }), (pieces, width) => {
        expect(lineWidth(sized(pieces, width))).toBe(width)
        expect(
          widthOf(paint(sized(pieces, width), { palette: undefined, theme: 'dark', depth: '256', ascii: true })),
        ).toBe(width)
      }),
    )
  })

  it('keeps its right end and cuts its left one', () => {
    fc.assert(
      fc.property(line, fc.integer({ min: 10, max: 60 }), (left, width) => {
        const text = textOf(spread(width, left, ['12:00']))
        expect(widthOf(text)).toBe(width)
        expect(text.endsWith('12:00')).toBe(true)
      }),
    )
  })

  it('is told by its tone, and by plain signs where those are asked for', () => {
    const state = [good('● live'), ' ', bad('✗ failing')]
    expect(paint(state, plain)).toBe('● live ✗ failing')
    expect(paint(state, { palette: 'default', theme: 'dark', depth: '256', ascii: true })).toBe(
      '\u001B[38;5;78m* live\u001B[0m \u001B[38;5;210mX failing\u001B[0m',
    )
    expect(paint(state, { palette: 'cb', theme: 'dark', depth: '256', ascii: false })).toContain('1;38;5;215m✗ failing')
    expect(paint(['日'], { palette: undefined, theme: 'dark', depth: '256', ascii: true })).toBe('??')
  })

  it('can be a rule with a title and a note', () => {
    expect(textOf(sized(rule(30, 'Crons 9', ['7 ok']), 30))).toBe('─ Crons 9 ───────────── 7 ok ─')
    expect(textOf(rule(12, 'Needs attention', ['note']))).toHaveLength(12)
    expect(textOf(rule(5))).toBe('─────')
  })
})

describe('words', () => {
  it('are cut, broken and shortened', () => {
    expect([clip('abcdef', 4), clip('日本語', 4), clip('abc', 0), tail('abcdef', 3)]).toEqual([
      'abc…',
      '日…',
      '',
      'def',
    ])
    expect(wrap('connect to the chain failed', 12)).toEqual(['connect to', 'the chain', 'failed'])
    expect(wrap('supercalifragilistic', 8)).toEqual(['superca…'])
    expect([span(41_000), span(7_800_000), span(273_600_000)]).toEqual(['41s', '2h 10m', '3d 4h'])
    expect(shortAddress('0x70c2000000000000000000000000000000009f1a')).toBe('0x70c2…9f1a')
  })
})
