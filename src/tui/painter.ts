import { type Line, sized } from './parts/line.ts'
import { type Look, paint } from './parts/theme.ts'
import type { Size } from './shell/screen.ts'

const HOME = '\u001B[H'
/** Until the second one arrives, the terminal shows what it showed before: no frame is seen half drawn. */
const BEGIN = '\u001B[?2026h'
const END = '\u001B[?2026l'

/**
 * Writes the rows that changed, and no other. Ink lays out and compares a whole frame whatever changed, some ten
 * milliseconds of it; with this beside it, its own tree stays empty.
 */
export type Painter = {
  readonly show: (lines: readonly Line[], size: Size) => void
  /** Writes every row, where something else wrote over them. */
  readonly again: () => void
}

export type PainterOptions = { readonly look: Look; readonly write: (text: string) => void }

export function createPainter({ look, write }: PainterOptions): Painter {
  // A line is drawn once: who shows the same one again gives the same object.
  const drawn = new WeakMap<Line, { readonly columns: number; readonly text: string }>()
  let shown: readonly string[] = []
  let columns = 0

  function textOf(line: Line): string {
    const known = drawn.get(line)
    if (known?.columns === columns) return known.text
    const text = paint(sized(line, columns), look)
    drawn.set(line, { columns, text })
    return text
  }

  function put(rows: readonly string[]): void {
    const changed = rows.flatMap((text, i) => (text === shown[i] ? [] : [`\u001B[${i + 1};1H\u001B[2K${text}`]))
    shown = rows
    // The cursor rests where nothing that Ink writes can scroll the screen.
    if (changed.length > 0) write(BEGIN + changed.join('') + HOME + END)
  }

  return {
    show(lines, size) {
      if (size.columns !== columns || size.rows !== shown.length) shown = []
      columns = size.columns
      put(Array.from({ length: size.rows }, (_, i) => textOf(lines[i] ?? [])))
    },
    again() {
      const rows = shown
      shown = []
      put(rows)
    },
  }
}
