import { clip, padEnd, padStart, widthOf } from '../../text/cells.ts'
import { accent, dim, type Line, lineWidth, type Piece, sized } from './line.ts'

/** Rows whose widths are measured; a longer list keeps the widths of its beginning. */
const MEASURED_ROWS_MAX = 500
const GAP = '  '
/** Before the first column: the mark of the chosen row. */
const MARK_COLUMNS = 3

export type Column<R> = {
  readonly title: string
  readonly value: (row: R) => Piece
  readonly align?: 'right'
  /** Never cut: ids and money. */
  readonly exact?: true
  /** Least width that still says something, where it may be cut. */
  readonly min?: number
  /** May be left out when the screen is narrow, the highest first. */
  readonly drop?: number
}

export type Table<R> = {
  readonly columns: readonly Column<R>[]
  readonly rows: readonly R[]
  /** Index of the chosen row; -1 for none. */
  readonly chosen: number
  readonly width: number
  /** Rows of the screen, the header not counted. */
  readonly height: number
}

type Placed<R> = { readonly column: Column<R>; readonly width: number }

/** A header and exactly `height` rows, one line each; only what is in sight is drawn. */
export function tableLines<R>(table: Table<R>): { head: Line; body: Line[] } {
  const placed = place(table)
  const first = windowStart(table)
  const visible = table.rows.slice(first, first + table.height)
  const head: Line = [' '.repeat(MARK_COLUMNS), ...placed.flatMap((one, i) => cell(one, dim(one.column.title), i))]
  const body = visible.map((row, i): Line => {
    const mark = first + i === table.chosen ? [accent('>'), '  '] : [' '.repeat(MARK_COLUMNS)]
    return sized([...mark, ...placed.flatMap((one, at) => cell(one, one.column.value(row), at))], table.width)
  })
  const missing = Array.from({ length: Math.max(0, table.height - body.length) }, () => [])
  return { head: sized(head, table.width), body: [...body, ...missing] }
}

/** First row in sight: the chosen one stays in the middle, except near the ends. */
export function windowStart({ rows, chosen, height }: Pick<Table<unknown>, 'rows' | 'chosen' | 'height'>): number {
  const middle = Math.max(0, chosen) - Math.floor((height - 1) / 2)
  return Math.max(0, Math.min(middle, rows.length - height))
}

function cell<R>({ column, width }: Placed<R>, piece: Piece, at: number): Piece[] {
  const text = clip(typeof piece === 'string' ? piece : piece.text, width)
  const filled = column.align === 'right' ? padStart(text, width) : padEnd(text, width)
  return [...(at === 0 ? [] : [GAP]), typeof piece === 'string' ? filled : { ...piece, text: filled }]
}

function place<R>({ columns, rows, width }: Table<R>): Placed<R>[] {
  const measured = rows.slice(0, MEASURED_ROWS_MAX)
  let placed = columns.map((column): Placed<R> => {
    const natural = Math.max(widthOf(column.title), ...measured.map((row) => lineWidth([column.value(row)])))
    return { column, width: natural }
  })
  const room = width - MARK_COLUMNS
  while (leastWidth(placed) > room) {
    const worst = Math.max(...placed.map(({ column }) => column.drop ?? 0))
    if (worst === 0) break
    const out = placed.findLastIndex(({ column }) => (column.drop ?? 0) === worst)
    placed = placed.toSpliced(out, 1)
  }
  return narrowed(placed, room)
}

function least<R>({ column, width }: Placed<R>): number {
  return column.exact ? width : Math.min(width, Math.max(column.min ?? width, widthOf(column.title)))
}

function leastWidth<R>(placed: readonly Placed<R>[]): number {
  return sumOf(placed.map(least)) + GAP.length * Math.max(0, placed.length - 1)
}

/** Takes what is too much from the columns that may be cut, the widest first. */
function narrowed<R>(placed: readonly Placed<R>[], room: number): Placed<R>[] {
  const widths = placed.map(({ width }) => width)
  const floors = placed.map(least)
  let excess = sumOf(widths) + GAP.length * Math.max(0, placed.length - 1) - room
  while (excess > 0) {
    const slack = widths.map((width, i) => width - (floors[i] ?? width))
    const widest = slack.reduce(
      (best, one, i) => (one > 0 && (best < 0 || (widths[i] ?? 0) > (widths[best] ?? 0)) ? i : best),
      -1,
    )
    if (widest < 0) break
    widths[widest] = (widths[widest] ?? 0) - 1
    excess -= 1
  }
  return placed.map(({ column }, i) => ({ column, width: widths[i] ?? 0 }))
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0)
}
