import { z } from 'zod'
import type { IdNoun } from '../../src/core/id-prefixes.ts'

/**
 * The storage port, for any engine. Rows are immutable, without class instances or undefined members. Money is a
 * bigint. Engines count `version` up, from 1 at insert.
 */
export type Row = { readonly version: number }
export type Scalar = string | number | bigint | boolean | null

export type Index<R> = {
  readonly name: string
  /** Compared in this order; the key breaks ties. */
  readonly fields: readonly (keyof R & string)[]
  /** Null and absent members never collide, as in SQL. */
  readonly unique?: boolean
  /** Default order of `page`. */
  readonly order?: SortOrder
  /** Limits the index to the rows whose `field` equals the value, or to the rows that have `field`. */
  readonly where?: Where<keyof R & string>
}

type Where<F extends string> =
  | { readonly field: F; readonly equals: Scalar }
  | { readonly field: F; readonly present: true }

export type SortOrder = 'asc' | 'desc'

export type Collection<R extends Row = Row> = {
  readonly name: string
  readonly schema: z.ZodType<R>
  readonly key: keyof R & string
  readonly indexes: readonly Index<R>[]
  /** Members that may contain the marketplace's own address, which exports replace. */
  readonly addresses?: readonly (keyof R & string)[]
}

/** A collection without its row type. */
export type AnyCollection = {
  readonly name: string
  readonly schema: z.ZodType
  readonly key: string
  readonly indexes: readonly AnyIndex[]
  readonly addresses?: readonly string[]
}

export type AnyIndex = {
  readonly name: string
  readonly fields: readonly string[]
  readonly unique?: boolean
  readonly order?: SortOrder
  readonly where?: Where<string>
}

/** Members of every row. */
export const stored = { id: z.string(), version: z.int() }

type Definition<R extends Row> = Omit<Collection<R>, 'name' | 'key'> & Partial<Pick<Collection<R>, 'key'>>

/** Declares a collection; only its key (default: `id`) and indexes can be queried. */
export function defineCollection<R extends Row>(name: string, definition: Definition<R>): Collection<R> {
  return { name, key: 'id' as keyof R & string, ...definition }
}

/** A row to write; the engine sets `version`. */
export type Draft<R extends Row> = Omit<R, 'version'>

export type PageQuery = {
  /** Cursor of the last row seen; exclusive. */
  readonly after?: string
  /** In place of `after`: values of further index fields. The page skips the rows up to and including these values. */
  readonly beyond?: readonly Scalar[]
  /** Last cursor; inclusive. */
  readonly until?: string
  readonly limit: number
  readonly order?: SortOrder
}

export type Page<R> = {
  readonly rows: readonly R[]
  /** Cursor of the last returned row; null if none. */
  readonly cursor: string | null
  /** Whether further rows existed. */
  readonly more: boolean
}

export type Reader<R extends Row> = {
  get(key: string): Promise<R | undefined>
  getMany(keys: readonly string[]): Promise<readonly R[]>
  /**
   * Index rows with this prefix, in order; `limit` is 1 to 1,000.
   * @throws AppError `invalid_request` for a cursor of another index
   */
  page(index: string, prefix: readonly Scalar[], query: PageQuery): Promise<Page<R>>
  /** Number of index rows with this prefix. */
  count(index: string, prefix: readonly Scalar[]): Promise<number>
}

export type Table<R extends Row> = Reader<R> & {
  getForUpdate(key: string): Promise<R | undefined>
  /** @throws Conflict when the key or unique values are taken. It fails the transaction even if the body catches it. */
  insert(row: Draft<R>): Promise<R>
  insertIfAbsent(row: Draft<R>): Promise<boolean>
  /** Replaces a row that getForUpdate or insert returned; inserts a row if getForUpdate found none. */
  put(row: Draft<R>): Promise<R>
  /** Changes members of a row; undefined removes a member. @throws Conflict when the row has another version */
  update(key: string, version: number, patch: Partial<Draft<R>>): Promise<R>
  /** Adds to a bigint or number member; no version needed. @throws RowMissing */
  increment(key: string, field: keyof R & string, by: bigint | number): Promise<R>
  /** Deletes a row, which need not be read for update. @returns whether it existed */
  delete(key: string): Promise<boolean>
}

export type ReadTx = { table<R extends Row>(collection: Collection<R>): Reader<R> }

export type Tx = { table<R extends Row>(collection: Collection<R>): Table<R> }

/** A committed write of one row (null: deleted). Subscribers receive writes in commit order, once they are durable. */
export type Write = { readonly collection: string; readonly key: string; readonly row: Row | null }
export type Change = { readonly seq: number; readonly writes: readonly Write[] }

/** The written row; null if deleted, undefined for another collection. */
export function writtenRow<R extends Row>({ name }: Collection<R>, { collection, row }: Write): R | null | undefined {
  return collection === name ? (row as R | null) : undefined
}

export type StoreStats = {
  readonly seq: number
  readonly records: number
  readonly journalBytes: number
  /** Number of syncs since the store was opened. */
  readonly syncs: number
  /** Rows on the disk; absent if all rows are in memory. */
  readonly disk?: {
    readonly sizeBytes: number
    /** Number of the last transaction on the disk; later ones are in memory and in the journal. */
    readonly reflects: number
    /** Number of changes that are in memory only, apart from those that are being written. */
    readonly waiting: number
  }
}

/** Draws a transaction's random ids and secrets from a seed, so that a retry draws the same ones. */
export type Draw = {
  id(noun: IdNoun): string
  bytes(count: number): Buffer
  /** Stores a text as a file before the transaction commits. @returns its SHA-256, for a row that names it */
  file(text: string): string
  text(sha256: string): string
}

export type Store = {
  /**
   * Runs a body atomically; resolves when durable. A body may only call the store, may run again, and must end within
   * the watchdog's time.
   */
  tx<T>(body: (t: Tx) => Promise<T>): Promise<T>
  /** Consistent reads. */
  read<T>(body: (t: ReadTx) => Promise<T>): Promise<T>
  /** Reads outside a transaction. Refused inside a transaction body, which has its own handle. */
  table<R extends Row>(collection: Collection<R>): Reader<R>
  /** Resolves when everything visible at the call is durable. */
  durable(): Promise<void>
  /** @returns the function that ends the subscription. */
  subscribe(listener: (change: Change) => void): () => void
  stats(): StoreStats
  close(): Promise<void>
}

/** The key or unique values were taken, or the version was outdated. */
export class Conflict extends Error {
  override readonly name = 'Conflict'
  readonly collection: string
  readonly index: string
  constructor(collection: string, index: string) {
    super(`${collection}: ${index} is taken or stale`)
    this.collection = collection
    this.index = index
  }
}
