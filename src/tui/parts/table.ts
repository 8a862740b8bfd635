import { fitColumns } from '../../text/columns.ts'
import { clip, padEnd, padStart, widthOf } from '../../text/text.ts'
import { accent, dim, grounded, type Line, lineWidth, type Piece, sized } from './line.ts'

/** Rows whose widths are measured; a longer list keeps the widths of its beginning. */
const MEASURED_ROWS_MAX = 500
const GAP = '  '
/** Before the first column: the mark of the chosen row. */
const MARK_COLUMNS = 2

export type ScreenColumn<R> = {
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

export type ScreenTable<R> = {
  readonly columns: readonly ScreenColumn<R>[]
  readonly rows: readonly R[]
  readonly isMarked?: (row: R) => boolean
  /** Index of the chosen row; -1 for none. */
  readonly chosen: number
  readonly width: number
  /** Rows of the screen, the header not counted. */
  readonly height: number
}

const CHOSEN_MARK = '▌'
const MARKED = '*'

type Placed<R> = { readonly column: ScreenColumn<R>; readonly width: number }

/** A header and exactly `height` rows, one line each; only what is in sight is drawn. */
export function tableLines<R>(table: ScreenTable<R>): { head: Line; body: Line[] } {
  const placed = place(table)
  const first = windowStart(table)
  const visible = table.rows.slice(first, first + table.height)
  const head: Line = [' '.repeat(MARK_COLUMNS), ...placed.flatMap((one, i) => cell(one, dim(one.column.title), i))]
  const body = visible.map((row, i): Line => {
    const isChosen = first + i === table.chosen
    const cells = placed.flatMap((one, at) => cell(one, one.column.value(row), at))
    const mark: Line = table.isMarked?.(row) ? [' ', accent(MARKED)] : [' '.repeat(MARK_COLUMNS)]
    return marked(sized([...mark, ...cells], table.width), isChosen)
  })
  const missing = Array.from({ length: Math.max(0, table.height - body.length) }, () => [])
  return { head: sized(head, table.width), body: [...body, ...missing] }
}

/** A row of a list; the chosen one has its mark, and lies on a ground of its own. */
export function marked(line: Line, isChosen: boolean): Line {
  if (!isChosen) return line
  const [first = '', ...rest] = line
  const text = typeof first === 'string' ? first : first.text
  const kept = typeof first === 'string' ? text.slice(1) : { ...first, text: text.slice(1) }
  return grounded([accent(CHOSEN_MARK), kept, ...rest], 'chosen')
}

/** First row in sight: the chosen one stays in the middle, except near the ends. */
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

function place<R>({ columns, rows, width }: ScreenTable<R>): Placed<R>[] {
  const measured = rows.slice(0, MEASURED_ROWS_MAX)
  const needs = columns.map((column) => {
    const title = widthOf(column.title)
    const natural = Math.max(title, ...measured.map((row) => lineWidth([column.value(row)])))
    const least = column.exact ? natural : Math.min(natural, Math.max(column.min ?? natural, title))
    return { natural, least, drop: column.drop }
  })
  const widths = fitColumns(needs, width - MARK_COLUMNS, GAP.length)
  return columns.flatMap((column, i) => {
    const found = widths[i]
    return found === undefined ? [] : [{ column, width: found }]
  })
}
