import type { ScreenId } from '../../model/words.ts'
import { clip, take, widthOf } from '../../text/text.ts'
import type { Ground, Tone } from './palettes.ts'

/** What a click is on: the tab of a screen, or a row by its id. */
export type Hit = { readonly tab: ScreenId } | { readonly row: string }

export type Piece =
  | string
  | { readonly text: string; readonly tone: Tone; readonly ground?: Ground; readonly hit?: Hit | undefined }
/** A screen row. */
export type Line = readonly Piece[]

export const toned = (tone: Tone) => (text: string) => ({ text, tone })
export const dim = toned('dim')
export const strong = toned('strong')
export const good = toned('good')
export const warn = toned('warn')
export const bad = toned('bad')
export const accent = toned('accent')
export const hair = toned('hair')
export const active = toned('active')

export const blank: Line = []

export function textOf(line: Line): string {
  return line.map((piece) => (typeof piece === 'string' ? piece : piece.text)).join('')
}

export function lineWidth(line: Line): number {
  return line.reduce((sum, piece) => sum + widthOf(typeof piece === 'string' ? piece : piece.text), 0)
}

/** Exactly `width` columns. */
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
  // Fills the column that is left if a wide character did not fit.
  return [...kept, '…', ' '.repeat(room)]
}

/** A row with a left and a right end. The left one is cut if there is little room. */
export function spread(width: number, left: Line, right: Line): Line {
  const room = width - lineWidth(right)
  if (lineWidth(left) < room) return [...sized(left, room), ...right]
  return room > 2 ? [...sized(left, room - 1), ' ', ...right] : sized(right, width)
}

/** The whole row in one tone. */
export function flat(line: Line, tone: Tone): Line {
  return [{ text: textOf(line), tone }]
}

const BAR = '─'

/** Gives the whole row a background. */
export function grounded(line: Line, ground: Ground): Line {
  return line.map((piece) =>
    typeof piece === 'string' ? { text: piece, tone: 'plain', ground } : { ...piece, ground },
  )
}

/** Makes a row clickable. */
export function hitting(line: Line, hit: Hit): Line {
  return line.map((piece) => (typeof piece === 'string' ? { text: piece, tone: 'plain', hit } : { ...piece, hit }))
}

/** A row with pieces at fixed columns. A piece is cut where the next one begins. */
export function placed(width: number, pieces: readonly (readonly [column: number, line: Line])[]): Line {
  const sorted = pieces.filter(([column]) => column < width).toSorted(([a], [b]) => a - b)
  const row: Piece[] = []
  let at = 0
  for (const [i, [column, line]] of sorted.entries()) {
    if (column > at) row.push(' '.repeat(column - at))
    const room = (sorted[i + 1]?.[0] ?? width) - Math.max(column, at)
    const shown = lineWidth(line) > room ? sized(line, Math.max(0, room)) : line
    row.push(...shown)
    at = Math.max(column, at) + lineWidth(shown)
  }
  return sized(row, width)
}

/** `─ title ────────── note ─`, or a plain rule. */
export function rule(width: number, title = '', told: Line = []): Line {
  const note = textOf(told).trim() === '' ? [] : told
  if (title === '' && note.length === 0) return [hair(BAR.repeat(width))]
  const left = title === '' ? '' : `${BAR} `
  const room = width - widthOf(left) - 2
  const noteWidth = note.length === 0 ? 0 : lineWidth(note) + 3
  const shownNote = noteWidth + widthOf(title) + 2 <= room ? note : []
  const head = clip(title, room)
  const used = widthOf(left) + widthOf(head) + 1 + (shownNote.length === 0 ? 0 : noteWidth)
  const bar = hair(BAR.repeat(Math.max(0, width - used)))
  return [hair(left), strong(head), ' ', bar, ...(shownNote.length === 0 ? [] : [' ', ...shownNote, hair(` ${BAR}`)])]
}
