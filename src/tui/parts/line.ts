import type { ScreenId } from '../../nouns/screens.ts'
import { fitColumns } from '../../text/columns.ts'
import { clip, padEnd, padStart, take, widthOf } from '../../text/text.ts'
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

const MEASURED_ROWS_MAX = 500
const GAP = '  '
const MARK_COLUMNS = 2

export type ScreenColumn<R> = {
  readonly title: string
  readonly value: (row: R) => Piece
  /** Value for programs (default: the text of `value`). */
  readonly plain?: ((row: R) => string | number | boolean | null | undefined) | undefined
  readonly align?: 'right'
  /** Never cut. */
  readonly exact?: true
  /** Smallest useful width, if the column may be cut. */
  readonly min?: number
  /** In narrow windows, columns with the highest number are dropped first (default: never dropped). */
  readonly drop?: number
}

type ColumnsAt<R> = (now: number | undefined) => readonly ScreenColumn<R>[]

/** Caches columns that depend on the time. Within a second they are the same object, so widths stay cached. */
export function columnsAt<R>(make: ColumnsAt<R>): ColumnsAt<R> {
  let last: { readonly now: number | undefined; readonly columns: readonly ScreenColumn<R>[] } | undefined
  return (now) => {
    if (last === undefined || last.now !== now) last = { now, columns: make(now) }
    return last.columns
  }
}

export type ScreenTable<R> = {
  readonly columns: readonly ScreenColumn<R>[]
  readonly rows: readonly R[]
  readonly isMarked?: (row: R) => boolean
  /** Id by which a click chooses a row (default: clicks do nothing). */
  readonly idOf?: (row: R) => string
  /** Index of the chosen row. -1 if none. */
  readonly chosen: number
  readonly width: number
  /** Rows below the header. */
  readonly height: number
}

const NO_MARK = ' '.repeat(MARK_COLUMNS)
const CHOSEN_MARK = '▌'
const MARKED = '◆'

type Placed<R> = { readonly column: ScreenColumn<R>; readonly width: number }

/** Draws the header and exactly `height` rows. Only visible rows are drawn. */
export function tableLines<R extends object>(table: ScreenTable<R>): { head: Line; body: Line[] } {
  const widths = widthsOf(table)
  const placed = table.columns.flatMap((column, i): Placed<R>[] => {
    const found = widths[i]
    return found === undefined ? [] : [{ column, width: found }]
  })
  const first = windowStart(table)
  const visible = table.rows.slice(first, first + table.height)
  const head: Line = [NO_MARK, ...placed.flatMap((one, i) => cell(one, dim(one.column.title), i))]
  const body = visible.map((row, i): Line => {
    const line = rowLine(row, { widths, placed, table })
    return marked(table.isMarked?.(row) ? [' ', accent(MARKED), ...line.slice(1)] : line, first + i === table.chosen)
  })
  const missing = Array.from({ length: Math.max(0, table.height - body.length) }, () => [])
  return { head: sized(head, table.width), body: [...body, ...missing] }
}

/** A row. If it is chosen, it gets a mark and a background. */
export function marked(line: Line, isChosen: boolean): Line {
  if (!isChosen) return line
  const [first = '', ...rest] = line
  const whole = typeof first === 'string' ? { text: first, tone: 'plain' as const } : first
  return grounded([{ ...whole, ...accent(CHOSEN_MARK) }, { ...whole, text: whole.text.slice(1) }, ...rest], 'chosen')
}

/** Index of the first visible row. The chosen row is in the middle, except near both ends. */
export function windowStart({
  rows,
  chosen,
  height,
}: Pick<ScreenTable<unknown>, 'rows' | 'chosen' | 'height'>): number {
  const middle = Math.max(0, chosen) - Math.floor((height - 1) / 2)
  return Math.max(0, Math.min(middle, rows.length - height))
}

function cell<R>({ column, width }: Placed<R>, piece: Piece, at: number): Piece[] {
  const text = clip(typeof piece === 'string' ? piece : piece.text, width)
  const filled = column.align === 'right' ? padStart(text, width) : padEnd(text, width)
  return [...(at === 0 ? [] : [GAP]), typeof piece === 'string' ? filled : { ...piece, text: filled }]
}

type Widths = readonly (number | undefined)[]

/** Widths are kept while rows and window width stay the same, such as when the cursor moves. */
const known = new WeakMap<object, { readonly rows: object; readonly width: number; readonly widths: Widths }>()

function widthsOf<R>({ columns, rows, width }: ScreenTable<R>): Widths {
  const last = known.get(columns)
  if (last?.rows === rows && last.width === width) return last.widths
  const measured = rows.slice(0, MEASURED_ROWS_MAX)
  const needs = columns.map((column) => {
    const title = widthOf(column.title)
    const natural = Math.max(title, ...measured.map((row) => lineWidth([column.value(row)])))
    const least = column.exact ? natural : Math.min(natural, Math.max(column.min ?? natural, title))
    return { natural, least, drop: column.drop }
  })
  const widths = fitColumns(needs, width - MARK_COLUMNS, GAP.length)
  known.set(columns, { rows, width, widths })
  return widths
}

type Placing<R> = { readonly widths: Widths; readonly placed: readonly Placed<R>[]; readonly table: ScreenTable<R> }

/** Drawings of rows, valid while the widths are the same object. */
const drawn = new WeakMap<object, { readonly widths: Widths; readonly line: Line }>()

function rowLine<R extends object>(row: R, { widths, placed, table }: Placing<R>): Line {
  const last = drawn.get(row)
  if (last?.widths === widths) return last.line
  const cells = sized([NO_MARK, ...placed.flatMap((one, at) => cell(one, one.column.value(row), at))], table.width)
  const line = table.idOf === undefined ? cells : hitting(cells, { row: table.idOf(row) })
  drawn.set(row, { widths, line })
  return line
}
