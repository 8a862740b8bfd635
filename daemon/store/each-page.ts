import { DEFAULT_PAGE } from '../../src/core/limits.ts'
import { compact } from '../../src/core/record.ts'
import type { PageQuery, Reader, Row, Scalar, SortOrder } from './port.ts'

/** The rows of an index with given leading values. */
export type IndexPart = {
  readonly index: string
  readonly prefix: readonly Scalar[]
  /** Number of rows per read. */
  readonly limit: number
  readonly order?: SortOrder
  /** Values of further index fields, up to and including which rows are skipped. */
  readonly beyond?: readonly Scalar[]
}

/** Pages of an index part, read on demand. */
export async function* eachPage<R extends Row>(reader: Reader<R>, part: IndexPart): AsyncGenerator<readonly R[]> {
  const { index, prefix, beyond, ...query } = part
  let place: Pick<PageQuery, 'after' | 'beyond'> = compact({ beyond })
  for (;;) {
    const page = await reader.page(index, prefix, { ...query, ...place })
    yield page.rows
    if (!page.more || page.cursor === null) return
    place = { after: page.cursor }
  }
}

/** All rows of a small index part, such as open items. */
export async function everyRow<R extends Row>(reader: Reader<R>, part: IndexPart): Promise<R[]> {
  const rows: R[] = []
  for await (const page of eachPage(reader, part)) rows.push(...page)
  return rows
}

/** Rows skipped per read. */
const STRIDE_ROWS = 1_000

export type OffsetSlice = {
  readonly index: string
  readonly prefix: readonly Scalar[]
  readonly limit?: number | undefined
  readonly offset?: number | undefined
}

export type OffsetPage<R> = {
  readonly rows: readonly R[]
  readonly total: number
  readonly limit: number
  readonly offset: number
}

/** A slice of an index by offset with the total; call it inside one `read` for consistency. */
export async function offsetPage<R extends Row>(
  reader: Reader<R>,
  { index, prefix, limit = DEFAULT_PAGE, offset = 0 }: OffsetSlice,
): Promise<OffsetPage<R>> {
  const total = await reader.count(index, prefix)
  const none = { rows: [], total, limit, offset }
  if (offset >= total) return none
  let after: string | undefined
  for (let skipped = 0; skipped < offset; ) {
    const stride = Math.min(STRIDE_ROWS, offset - skipped)
    const page = await reader.page(index, prefix, { limit: stride, ...compact({ after }) })
    if (page.cursor === null) return none
    after = page.cursor
    skipped += stride
  }
  const page = await reader.page(index, prefix, { limit, ...compact({ after }) })
  return { ...none, rows: page.rows }
}
