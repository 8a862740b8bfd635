import { compact } from '../../src/core/record.ts'
import type { Reader, Row, Scalar } from './port.ts'

/** Rows skipped per read. */
const STRIDE_ROWS = 1_000

export type OffsetSlice = {
  readonly index: string
  readonly prefix: readonly Scalar[]
  readonly limit: number
  readonly offset: number
}

/** A slice of an index by offset with the total; call it inside one `read` for consistency. */
export async function offsetPage<R extends Row>(
  reader: Reader<R>,
  { index, prefix, limit, offset }: OffsetSlice,
): Promise<{ rows: readonly R[]; total: number }> {
  const total = await reader.count(index, prefix)
  if (offset >= total) return { rows: [], total }
  let after: string | undefined
  for (let skipped = 0; skipped < offset; ) {
    const stride = Math.min(STRIDE_ROWS, offset - skipped)
    const page = await reader.page(index, prefix, { limit: stride, ...compact({ after }) })
    if (page.cursor === null) return { rows: [], total }
    after = page.cursor
    skipped += stride
  }
  const page = await reader.page(index, prefix, { limit, ...compact({ after }) })
  return { rows: page.rows, total }
}
