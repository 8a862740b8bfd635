import { CliError } from './exit.ts'

/** Pages of one list that are asked for, and rows that are kept of it, before it counts as one without end. */
const PAGES_MAX = 1_000
const ROWS_MAX = 100_000

/** Where the page after this one begins. */
export type NextPage = { readonly offset: number } | { readonly cursor: string }

type Paged<P, R> = {
  /** @param at where the page begins; nothing for the first */
  readonly ask: (at: NextPage | undefined) => Promise<P>
  readonly rowsOf: (page: P) => readonly R[]
  readonly nextOf: (page: P) => NextPage | undefined
}

/** Every page of a list, one after the other. @throws CliError failure for a list that has no end */
export async function* pagesOf<P, R>({ ask, rowsOf, nextOf }: Paged<P, R>): AsyncGenerator<P> {
  let rows = 0
  let at: NextPage | undefined
  for (let pages = 0; pages < PAGES_MAX; pages += 1) {
    const page = await ask(at)
    yield page
    const count = rowsOf(page).length
    rows += count
    const next = nextOf(page)
    // A page that brings nothing is the last one, whatever it says follows; so is one that leads back to itself.
    if (next === undefined || count === 0 || (at !== undefined && same(next, at))) return
    if (rows > ROWS_MAX) break
    at = next
  }
  throw new CliError('failure', `The list has no end: ${rows} rows are more than is kept.`)
}

function same(one: NextPage, other: NextPage): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

type Counted = { readonly total: number; readonly offset: number }

/** The next page of a list that counts its rows. */
export function nextOffset({ total, offset }: Counted, rows: number): NextPage | undefined {
  return offset + rows < total ? { offset: offset + rows } : undefined
}

/** Rows of all pages, each once: what is added meanwhile moves the others along. */
export async function allRows<P, R>(paged: Paged<P, R>, idOf: (row: R) => string): Promise<readonly R[]> {
  const found = new Map<string, R>()
  for await (const page of pagesOf(paged)) for (const row of paged.rowsOf(page)) found.set(idOf(row), row)
  return [...found.values()]
}
