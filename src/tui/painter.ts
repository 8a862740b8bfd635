import { isNarrow } from '../text/text.ts'
import { type Line, type Piece, sized } from './parts/line.ts'
import { type Look, paintedPieces } from './parts/theme.ts'
import type { Size } from './shell/screen.ts'

const HOME = '\u001B[H'
/** Starts a frame. Terminals that support synchronised output show the frame only when it is complete. */
const BEGIN = '\u001B[?2026h'
const END = '\u001B[?2026l'

/**
 * Writes only the changed parts of each row. Ink's tree stays empty, since Ink takes ten milliseconds to lay out a
 * whole frame.
 */
export type Painter = {
  readonly show: (lines: readonly Line[], size: Size) => void
  /** Rewrites all rows. */
  readonly again: () => void
  /** Rewrites all rows in other colors. */
  readonly restyle: (look: Look) => void
  /** While `isHeld`, nothing is written, because another program uses the terminal. */
  readonly hold: (isHeld: boolean) => void
}

export type PainterOptions = { readonly look: Look; readonly write: (text: string) => void }

/** A row as it is on the terminal. */
type Row = {
  /** As drawn. */
  readonly line: Line
  /** Padded to the terminal's width. */
  readonly pieces: Line
  readonly painted: readonly string[]
  /** Whether every character takes one column, so that the column of each is known. */
  readonly isNarrow: boolean
}

export function createPainter({ write, ...options }: PainterOptions): Painter {
  let { look } = options
  let shown: readonly Row[] = []
  let columns = 0
  let held = false

  function rowOf(line: Line, known: Row | undefined): Row {
    if (known !== undefined && isSame(line, known.line)) return known
    const pieces = sized(line, columns)
    return {
      line,
      pieces,
      painted: paintedPieces(pieces, look),
      isNarrow: pieces.every((one) => isNarrow(textIn(one))),
    }
  }

  function put(rows: readonly Row[], before: readonly Row[]): void {
    const changed = rows.map((row, i) => changeOf(row, before[i], i + 1)).join('')
    shown = rows
    // Puts the cursor in the top left corner, so that output of Ink cannot scroll the screen.
    if (changed !== '' && !held) write(BEGIN + changed + HOME + END)
  }

  return {
    show(lines, size) {
      if (size.columns !== columns || size.rows !== shown.length) shown = []
      columns = size.columns
      const before = shown
      put(
        Array.from({ length: size.rows }, (_, i) => rowOf(lines[i] ?? [], before[i])),
        before,
      )
    },
    again: () => put(shown, []),
    restyle(next) {
      look = next
      const rows = shown.map(({ line }) => rowOf(line, undefined))
      put(rows, [])
    },
    hold: (isHeld) => {
      held = isHeld
    },
  }
}

function textIn(piece: Piece): string {
  return typeof piece === 'string' ? piece : piece.text
}

function isSame(one: Line, other: Line): boolean {
  return one === other || (one.length === other.length && one.every((piece, i) => isSamePiece(piece, other[i])))
}

function isSamePiece(one: Piece, other: Piece | undefined): boolean {
  if (one === other) return true
  if (typeof one === 'string' || typeof other !== 'object') return false
  return one.text === other.text && one.tone === other.tone && one.ground === other.ground
}

/** Output that turns one row into another. @param at - row number, from 1 */
function changeOf(row: Row, before: Row | undefined, at: number): string {
  if (row === before) return ''
  const { pieces, painted } = row
  // Terminals disagree on the width of some characters, so the whole row is rewritten.
  if (!row.isNarrow || !before?.isNarrow) return `\u001B[${at};1H\u001B[2K${painted.join('')}`
  const most = Math.min(painted.length, before.painted.length)
  let same = 0
  while (same < most && painted[same] === before.painted[same]) same += 1
  let behind = 0
  while (behind < most - same && painted.at(-1 - behind) === before.painted.at(-1 - behind)) behind += 1
  const text = painted.slice(same, painted.length - behind).join('')
  if (text === '') return ''
  const column = pieces.slice(0, same).reduce((sum, piece) => sum + textIn(piece).length, 1)
  return `\u001B[${at};${column}H${text}`
}
