import { compact } from '../../src/core/record.ts'
import type { Reader, Row, Scalar, SortOrder } from './port.ts'

/** The rows of an index whose first fields have these values. */
export type IndexPart = {
  readonly index: string
  readonly prefix: readonly Scalar[]
  /** Rows that are read at once. */
  readonly limit: number
  readonly order?: SortOrder
}

/** A part of an index page by page: the next one is read when it is asked for, so who has enough may stop. */
export async function* eachPage<R extends Row>(reader: Reader<R>, part: IndexPart): AsyncGenerator<readonly R[]> {
  const { index, prefix, ...query } = part
  for (let after: string | undefined; ; ) {
    const page = await reader.page(index, prefix, { ...query, ...compact({ after }) })
    yield page.rows
    if (!page.more || page.cursor === null) return
    after = page.cursor
  }
}

/** All of a part of an index that holds few, such as what is open. */
export async function everyRow<R extends Row>(reader: Reader<R>, part: IndexPart): Promise<R[]> {
  const rows: R[] = []
  for await (const page of eachPage(reader, part)) rows.push(...page)
  return rows
}
