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
