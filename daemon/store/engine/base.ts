import type { Scalar, Write } from '../port.ts'
import type { AnyRow, IndexPlace } from './order.ts'
import type { RowIndex, TableShape } from './tables.ts'

/** A value or its promise: a memory base answers synchronously. */
export type Awaitable<T> = T | Promise<T>

/** Continues with a value, synchronously if possible. */
export function chain<T, U>(value: Awaitable<T>, next: (value: T) => Awaitable<U>): Awaitable<U> {
  return value instanceof Promise ? value.then(next) : next(value)
}

/** Selects at most `limit` rows of an index that begin with a prefix. */
export type Slice = {
  readonly index: RowIndex
  readonly prefix: readonly Scalar[]
  readonly isDescending: boolean
  /** The slice starts after all rows that match this place. */
  readonly after: IndexPlace | undefined
  /** Inclusive. */
  readonly until: IndexPlace | undefined
  readonly limit: number
}

/** Reads of one table. A layer answers from its own rows and asks the layer below for the rest. */
export type TableReads = {
  readonly shape: TableShape
  /** One entry per key; undefined if missing. */
  rows(keys: readonly string[]): Awaitable<readonly (AnyRow | undefined)[]>
  /** At most `limit` rows in slice order. */
  page(slice: Slice): Awaitable<readonly AnyRow[]>
  count(index: RowIndex, prefix: readonly Scalar[]): Awaitable<number>
  unique(index: RowIndex, values: readonly Scalar[]): Awaitable<AnyRow | undefined>
}

/** A transaction's write of one row, with the row as it was before. */
export type Staged = { readonly write: Write; readonly before: AnyRow | undefined }

/** Where committed rows are stored; the engine's only interface to them. */
export type Base = {
  readonly tables: ReadonlyMap<string, TableReads>
  /** Applies a transaction; later reads see all of it. */
  apply(staged: readonly Staged[]): void
  /** Number of rows in all tables. */
  records(): number
}
