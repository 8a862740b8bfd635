import { clip, take, widthOf } from '../../text/text.ts'

/** What a stretch of text means; a palette says how that looks. Colour only repeats what the words say. */
export type Tone = 'plain' | 'dim' | 'strong' | 'good' | 'warn' | 'bad' | 'accent'
export type Piece = string | { readonly text: string; readonly tone: Tone }
/** One row of the screen, from its left edge. */
export type Line = readonly Piece[]

export const toned = (tone: Tone) => (text: string) => ({ text, tone })
export const dim = toned('dim')
export const strong = toned('strong')
export const good = toned('good')
export const warn = toned('warn')
export const bad = toned('bad')
export const accent = toned('accent')

export const blank: Line = []

export function textOf(line: Line): string {
  return line.map((piece) => (typeof piece === 'string' ? piece : piece.text)).join('')
}

export function lineWidth(line: Line): number {
  return line.reduce((sum, piece) => sum + widthOf(typeof piece === 'string' ? piece : piece.text), 0)
}

/** Exactly `width` columns: cut with an ellipsis, or filled with blanks. */
export function sized(line: Line, width: number): Line {
  const missing = width - lineWidth(line)
  if (missing === 0) return line
  return missing > 0 ? [...line, ' '.repeat(missing)] : cut(line, width)
}

function cut(line: Line, width: number): Line {
  if (width <= 0) return blank
  const kept: Piece[] = []
  let room = width - 1
  for (const piece of line) {
    const text = typeof piece === 'string' ? piece : piece.text
    const shown = take(text, room)
    room -= widthOf(shown)
    kept.push(typeof piece === 'string' ? shown : { ...piece, text: shown })
    if (shown !== text) break
  }
  // A character of two columns may have left one over.
  return [...kept, '…', ' '.repeat(room)]
}

/** Both ends of a row; where they do not sized, the left one is cut. */
export function spread(width: number, left: Line, right: Line): Line {
  const room = width - lineWidth(right)
  if (lineWidth(left) < room) return [...sized(left, room), ...right]
  return room > 2 ? [...sized(left, room - 1), ' ', ...right] : sized(right, width)
}

/** A whole row in one tone, whatever its pieces said. */
export function flat(line: Line, tone: Tone): Line {
  return [{ text: textOf(line), tone }]
}

const BAR = '─'

/** `─ title ────────── note ─`, or a plain rule. */
export function rule(width: number, title = '', note: Line = []): Line {
  if (title === '' && note.length === 0) return [dim(BAR.repeat(width))]
  const left = title === '' ? '' : `${BAR} `
  const room = width - widthOf(left) - 2
  const noteWidth = note.length === 0 ? 0 : lineWidth(note) + 3
  const shownNote = noteWidth + widthOf(title) + 2 <= room ? note : []
  const head = clip(title, room)
  const used = widthOf(left) + widthOf(head) + 1 + (shownNote.length === 0 ? 0 : noteWidth)
  const bar = dim(BAR.repeat(Math.max(0, width - used)))
  return [dim(left), strong(head), ' ', bar, ...(shownNote.length === 0 ? [] : [' ', ...shownNote, dim(` ${BAR}`)])]
}

/** Lines side by side, each column of its width, a blank apart. */
export function beside(columns: readonly { readonly lines: readonly Line[]; readonly width: number }[]): Line[] {
  const height = Math.max(0, ...columns.map(({ lines }) => lines.length))
  return Array.from({ length: height }, (_, row) =>
    columns.flatMap(({ lines, width }, i) => [...(i === 0 ? [] : [' ']), ...sized(lines[row] ?? blank, width)]),
  )
}
