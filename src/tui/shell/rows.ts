import type { Outcome } from '../../client/link.ts'
import { csvText } from '../../text/columns.ts'
import { count, jsonText } from '../../text/text.ts'
import type { ScreenColumn } from '../parts/line.ts'
import type { Fetch } from './query.ts'
import type { FaceList, ListedRow } from './screen.ts'
import { isPutAway, type Ui } from './ui.ts'

/** Limit of rows that are saved or piped. */
const ROWS_MAX = 5_000

type Listing<R, P> = {
  readonly columns: readonly ScreenColumn<R>[]
  readonly rows: readonly R[]
  readonly idOf: (row: R) => string
  /** How to fetch other pages. Undefined if the screen has all rows. */
  readonly paged?: {
    readonly total: number | undefined
    readonly size: number
    readonly fetch: (page: number) => Fetch<P>
    readonly rowsOf: (found: P) => readonly R[]
  }
}

export function listOf<R extends object, P = never>({ columns, rows, idOf, paged }: Listing<R, P>): FaceList {
  const listed = (row: R): ListedRow => ({
    id: idOf(row),
    cells: columns.map(({ value, plain }) => {
      if (plain) return plain(row)
      const piece = value(row)
      return typeof piece === 'string' ? piece : piece.text
    }),
    record: 'raw' in row ? row.raw : row,
  })
  return {
    titles: columns.map(({ title }) => title),
    rows: () => rows.map(listed),
    pages: paged === undefined ? 1 : Math.ceil((paged.total ?? 0) / paged.size),
    page: (at) => async (signal) => {
      if (paged === undefined) return { ok: true, value: rows.map(listed) }
      const found = await paged.fetch(at)(signal)
      return found.ok ? { ok: true, value: paged.rowsOf(found.value).map(listed) } : found
    },
  }
}

type AllRows = { readonly rows: readonly ListedRow[] /** How many, in words. */; readonly words: string }

/** Fetches the rows of all pages, each once even if rows move meanwhile. At most `ROWS_MAX`. */
export async function allRows({ rows, pages, page }: FaceList, signal: AbortSignal): Promise<Outcome<AllRows>> {
  if (pages <= 1) return { ok: true, value: counted(rows(), false) }
  const found = new Map<string, ListedRow>()
  let at = 0
  for (; at < pages && found.size < ROWS_MAX; at += 1) {
    const answer = await page(at)(signal)
    if (!answer.ok) return answer
    for (const row of answer.value) found.set(row.id, row)
  }
  return { ok: true, value: counted([...found.values()], at < pages) }
}

function counted(all: readonly ListedRow[], isMore: boolean): AllRows {
  const rows = all.slice(0, ROWS_MAX)
  const isCut = isMore || rows.length < all.length
  return { rows, words: `${isCut ? 'the first ' : ''}${count(rows.length)} ${rows.length === 1 ? 'row' : 'rows'}` }
}

/** The shown columns as CSV, with a header. */
export function csvOf(rows: readonly ListedRow[], { titles }: FaceList, ui: Ui): string {
  const shown = titles.flatMap((title, at) => (at === 0 || !isPutAway(ui, title) ? [at] : []))
  const line = (cells: ListedRow['cells']) =>
    shown
      .map((at) => cells[at] ?? '')
      .map((cell) => (typeof cell === 'string' ? csvText(cell) : String(cell)))
      .join(',')
  return [titles.map((title) => title.toLowerCase().replace('→ ', '')), ...rows.map(({ cells }) => cells)]
    .map((one) => `${line(one)}\n`)
    .join('')
}

/** The rows as the API returns them, one JSON object a line. */
export function ndjsonOf(rows: readonly ListedRow[]): string {
  return rows.map(({ record }) => `${jsonText(record)}\n`).join('')
}
