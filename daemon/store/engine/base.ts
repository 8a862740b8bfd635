import type { Scalar, Write } from '../port.ts'
import type { AnyRow, IndexPlace } from './order.ts'
import type { RowIndex, TableShape } from './tables.ts'

/** A value, or a promise of it: a base in memory answers at once, and its callers lose no turn of the event loop. */
export type Awaitable<T> = T | Promise<T>

/** Goes on with a value as soon as it is there. */
export function chain<T, U>(value: Awaitable<T>, next: (value: T) => Awaitable<U>): Awaitable<U> {
  return value instanceof Promise ? value.then(next) : next(value)
}

/** The first rows of one index whose leading fields equal `prefix`. */
export type Slice = {
  readonly index: RowIndex
  readonly prefix: readonly Scalar[]
  readonly isDescending: boolean
  /** Exclusive: rows that this place covers are left out too. */
  readonly after: IndexPlace | undefined
  /** Inclusive. */
  readonly until: IndexPlace | undefined
  readonly limit: number
}

/** The reads of one table. Each layer answers from its own rows and asks the layer below for the rest. */
export type TableReads = {
  readonly shape: TableShape
  /** One entry for each key, undefined where there is no row. */
  rows(keys: readonly string[]): Awaitable<readonly (AnyRow | undefined)[]>
  /** At most `limit` rows, in the order of the slice. */
  page(slice: Slice): Awaitable<readonly AnyRow[]>
  count(index: RowIndex, prefix: readonly Scalar[]): Awaitable<number>
  /** The row that has these values in a unique index. */
  unique(index: RowIndex, values: readonly Scalar[]): Awaitable<AnyRow | undefined>
}

/** What a transaction has done to one row, and the row that it found. */
export type Staged = { readonly write: Write; readonly before: AnyRow | undefined }

/** Where committed rows lie. The engine needs these five calls, four of them by table. */
export type Base = {
  readonly tables: ReadonlyMap<string, TableReads>
  /** Takes in what a transaction did; every later read sees all of it. */
  apply(staged: readonly Staged[]): void
  /** Number of rows in all tables. */
  records(): number
}
