import { fitColumns } from '../../text/columns.ts'
import { clip, padEnd, padStart, widthOf } from '../../text/text.ts'
import { accent, dim, grounded, hitting, type Line, lineWidth, type Piece, sized } from './line.ts'

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
