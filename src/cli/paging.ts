import { CliError } from './exit.ts'

/** A list with more pages or rows than these limits counts as endless. */
const PAGES_MAX = 1_000
const ROWS_MAX = 100_000

export type NextPage = { readonly offset: number } | { readonly cursor: string }

type Paged<P, R> = {
  /** @param at - position of the page; undefined for the first page */
  readonly ask: (at: NextPage | undefined) => Promise<P>
  readonly rowsOf: (page: P) => readonly R[]
  readonly nextOf: (page: P) => NextPage | undefined
}

/** All pages of a list. @throws CliError `failure` for an endless list */
export async function* pagesOf<P, R>({ ask, rowsOf, nextOf }: Paged<P, R>): AsyncGenerator<P> {
  let rows = 0
  let at: NextPage | undefined
  for (let pages = 0; pages < PAGES_MAX; pages += 1) {
    const page = await ask(at)
    yield page
    const count = rowsOf(page).length
    rows += count
    const next = nextOf(page)
    // A page is the last one if it is empty, or names itself as the next page.
    if (next === undefined || count === 0 || (at !== undefined && JSON.stringify(next) === JSON.stringify(at))) return
    if (rows > ROWS_MAX) break
    at = next
  }
  throw new CliError('failure', `The list is too long: more than ${rows} rows.`)
}

type Counted = { readonly total: number; readonly offset: number }

export function nextOffset({ total, offset }: Counted, rows: number): NextPage | undefined {
  return offset + rows < total ? { offset: offset + rows } : undefined
}

/** The rows of all pages, each row once. A row added while reading can make another row appear on two pages. */
export async function allRows<P, R>(paged: Paged<P, R>, idOf: (row: R) => string): Promise<readonly R[]> {
  const found = new Map<string, R>()
  for await (const page of pagesOf(paged)) for (const row of paged.rowsOf(page)) found.set(idOf(row), row)
  return [...found.values()]
}
