import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openOn, paintedRows } from './cockpit.testkit.tsx'
import { market } from './fixtures.testkit.ts'
import { createPainter } from './painter.ts'
import { dim, type Line, sized, strong } from './parts/line.ts'
import { type Look, paint } from './parts/theme.ts'
import { screens } from './screens.ts'
import { createPace } from './shell/query.ts'

const look: Look = { palette: 'default', theme: 'dark', depth: '256', ascii: false }
const size = { columns: 10, rows: 3 }

function painting() {
  const written: string[] = []
  return { written, painter: createPainter({ look, write: (text) => written.push(text) }) }
}

describe('the painter', () => {
  const top: Line = [strong('souk')]
  const rows: readonly Line[] = [top, ['one'], [dim('two')]]

  it('writes what changed of the rows and no other, and leaves the cursor where nothing can scroll', () => {
    const { written, painter } = painting()
    painter.show(rows, size)
    expect(written.join('').match(/\[\d;1H/g)).toEqual(['[1;1H', '[2;1H', '[3;1H'])
    painter.show(rows, size)
    expect(written).toHaveLength(1)
    painter.show([top, ['other'], [dim('two')]], size)
    expect(written[1]).toBe('\u001B[?2026h\u001B[2;1Hother     \u001B[H\u001B[?2026l')
    painter.show([top, ['other'], [dim('two')]], size)
    expect(written).toHaveLength(2)
  })

  it('writes of a row in columns those that changed, and all of it where a character may be wider than it is counted', () => {
    const { written, painter } = painting()
    const row = (id: string, name = 'Bot7'): Line => ['| ', dim(id), ' ', name, ' |']
    const show = (line: Line) => painter.show([line], { columns: 12, rows: 1 })
    show(row('j1'))
    show(row('j2'))
    expect(written[1]).toBe('\u001B[?2026h\u001B[1;3H\u001B[38;5;248mj2\u001B[0m\u001B[H\u001B[?2026l')
    show(row('j2', 'ボト'))
    show(row('j3', 'ボト'))
    show(row('j3'))
    expect(written.slice(2).map((text) => text.includes('\u001B[1;1H\u001B[2K'))).toEqual([true, true, true])
  })

  it('shows the last of many frames, whatever stood there before', () => {
    const piece = fc.oneof(
      fc.constantFrom('job_1', 'job_2', '', ' ', '─┬─', '✓', '日本', 'e\u0301', '👍🏽', '\u00AD'),
      fc.record({ text: fc.constantFrom('job_1', 'Bot7', '日', '▌'), tone: fc.constantFrom('dim', 'strong') }),
    )
    const frames = fc.array(fc.array(fc.array(piece, { maxLength: 6 }), { maxLength: 4 }), {
      minLength: 1,
      maxLength: 6,
    })
    const plain: Look = { ...look, palette: undefined }
    fc.assert(
      fc.property(frames, (shown: readonly (readonly Line[])[]) => {
        const terminal = paintedRows()
        const painter = createPainter({ look: plain, write: terminal.write })
        for (const lines of shown) painter.show(lines, { columns: 14, rows: 3 })
        const last = Array.from({ length: 3 }, (_, i) => paint(sized(shown.at(-1)?.[i] ?? [], 14), plain))
        expect(terminal.rows(3)).toEqual(last)
      }),
    )
  })

  it('writes all of them in another size, and where something wrote over them', () => {
    const { written, painter } = painting()
    painter.show(rows, size)
    painter.show(rows, { columns: 12, rows: 3 })
    painter.again()
    expect(written.map((text) => text.match(/\[\d;1H/g)?.length)).toEqual([3, 3, 3])
  })

  it('never writes more columns or rows than there are', () => {
    const { written, painter } = painting()
    painter.show([['日本語日本語'], [], [], ['a row too many']], size)
    expect(written.join('')).toContain('日本語日…')
    expect(written.join('')).not.toContain('a row too many')
  })

  it.each(screens.map(({ id }) => id))('shows of %s what Ink would', async (screen) => {
    const own = await openOn({ link: market(), screen })
    const ink = await openOn({ link: market(), screen, painter: 'ink' })
    const trimmed = (frame: readonly string[]) => frame.map((row) => row.trimEnd())
    expect(trimmed(own.rows())).toEqual(trimmed(ink.rows()))
    own.close()
    ink.close()
  })
})

describe('the pace', () => {
  it('tells the first at once and what follows together, four times a second', () => {
    let now = 0
    const alarms: { at: number; run: () => void }[] = []
    const clock = {
      now: () => now,
      later: (ms: number, run: () => void) => {
        alarms.push({ at: now + ms, run })
        return () => undefined
      },
    }
    const heard: number[] = []
    const listener = createPace(clock, 250).paced(() => heard.push(now))
    for (now = 0; now < 1_000; now += 20) {
      for (const alarm of alarms.splice(0)) {
        if (alarm.at <= now) alarm.run()
        else alarms.push(alarm)
      }
      listener()
    }
    expect(heard.length).toBeGreaterThanOrEqual(3)
    expect(heard.length).toBeLessThanOrEqual(5)
    expect(heard[0]).toBe(0)
  })
})
