import { compact } from '../../src/core/record.ts'
import type { Reader, Row, Scalar, SortOrder } from './port.ts'

/** The rows of an index with given leading values. */
export type IndexPart = {
  readonly index: string
  readonly prefix: readonly Scalar[]
  /** Number of rows per read. */
  readonly limit: number
  readonly order?: SortOrder
}

/** Pages of an index part, read on demand. */
export async function* eachPage<R extends Row>(reader: Reader<R>, part: IndexPart): AsyncGenerator<readonly R[]> {
  const { index, prefix, ...query } = part
  for (let after: string | undefined; ; ) {
    const page = await reader.page(index, prefix, { ...query, ...compact({ after }) })
    yield page.rows
    if (!page.more || page.cursor === null) return
    after = page.cursor
  }
}

/** All rows of a small index part, such as open items. */
export async function everyRow<R extends Row>(reader: Reader<R>, part: IndexPart): Promise<R[]> {
  const rows: R[] = []
  for await (const page of eachPage(reader, part)) rows.push(...page)
  return rows
}
