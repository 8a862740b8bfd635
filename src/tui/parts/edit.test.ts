import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { widthOf } from '../../text/text.ts'
import { atEnd, edited, inserted, type Written, writtenLine } from './keys.ts'
import { lineWidth, textOf } from './line.ts'

const MAX = 30
const typedKeys = (keys: readonly string[], from: Written = { text: '', cursor: atEnd }) =>
  keys.reduce((written, key) => edited(written, key, MAX), from)
const begun = (text: string): Written => ({ text, cursor: atEnd })
const shown = (written: Written) => textOf(writtenLine(written, 40))

describe('a line that is written', () => {
  it.each([
    [['left', 'left', 'x'], 'job_ x▏12'],
    [['ctrl-a', 'x'], 'x▏job_ 12'],
    [['ctrl-a', 'ctrl-e', 'x'], 'job_ 12x▏'],
    [['ctrl-w'], 'job_ ▏'],
    [['ctrl-w', 'ctrl-w'], '▏'],
    [['left', 'ctrl-u'], '▏2'],
    [['left', 'left', 'ctrl-k'], 'job_ ▏'],
    [['left', 'ctrl-d'], 'job_ 1▏'],
    [['left', 'backspace'], 'job_ ▏2'],
    [['ctrl-w', 'ctrl-_'], 'job_ 12▏'],
    [['home', 'right', 'space'], 'j ▏ob_ 12'],
    [['f5', 'ctrl-q'], 'job_ 12▏'],
  ] as const)('by %j', (keys, line) => {
    expect(shown(typedKeys(keys, begun('job_ 12')))).toBe(line)
  })

  it('takes what is pasted where the cursor is, as far as there is room', () => {
    const pasted = inserted(typedKeys(['left'], begun('ab')), 'x'.repeat(100), 5)
    expect(shown(pasted)).toBe('axxx▏b')
    expect(shown(typedKeys(['ctrl-_'], pasted))).toBe('ab▏')
  })

  it('is never longer than its room, keeps the cursor in sight, and is undone to its beginning', () => {
    const key = fc.oneof(
      fc.constantFrom('left', 'right', 'home', 'end', 'backspace', 'ctrl-w', 'ctrl-u', 'ctrl-k', 'ctrl-d', 'space'),
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }),
    )
    fc.assert(
      fc.property(
        fc.string({ maxLength: MAX }),
        fc.array(key, { maxLength: 60 }),
        fc.integer({ min: 3, max: 50 }),
        (text, keys, width) => {
          const written = typedKeys(keys, begun(text))
          const line = writtenLine(written, width)
          expect([...written.text].length).toBeLessThanOrEqual(MAX)
          expect(lineWidth(line)).toBeLessThanOrEqual(width)
          expect(textOf(line)).toContain('▏')
          if (widthOf(written.text) < width) expect(textOf(line).length).toBe(written.text.length + 1)
          expect(typedKeys(Array(100).fill('ctrl-_'), written).text).toBe(text)
        },
      ),
    )
  })
})
