import type { z } from 'zod'

/**
 * The storage port (one contract, any engine). Rows are immutable domain values: bigint money,
 * no class instances, no undefined members. Engines keep a row's `version`, 1 at insert.
 */
export type Row = { readonly version: number }
export type Scalar = string | number | bigint | boolean | null

export type Index<R> = {
  readonly name: string
  /** Members of the row, compared in this order; the key breaks ties. */
  readonly fields: readonly (keyof R & string)[]
  /** Rows with a null or absent member never collide, as in SQL. */
  readonly unique?: boolean
  /** Direction in which `page` walks unless told otherwise. */
  readonly order?: SortOrder
  /** Partial index: only rows whose member equals the value, or is there at all, are held. */
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
  /** Members that may hold an address of the installation: in another one its own stands there. */
  readonly addresses?: readonly (keyof R & string)[]
}

/** A collection seen without the type of its rows: what an engine is opened with. */
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

/** Declares a collection; the only queries it will ever answer are its key and its indexes. */
export function defineCollection<R extends Row>(name: string, definition: Omit<Collection<R>, 'name'>): Collection<R> {
  return { name, ...definition }
}

/** A row as the caller writes it: the engine sets `version`. */
export type Draft<R extends Row> = Omit<R, 'version'>

export type PageQuery = {
  /** Cursor of the last row already seen; exclusive. */
  readonly after?: string
  /** Values of the fields behind the prefix, instead of `after`: only rows beyond all that have them. */
  readonly beyond?: readonly Scalar[]
  /** Cursor at which to stop; inclusive. */
  readonly until?: string
  readonly limit: number
  readonly order?: SortOrder
}

export type Page<R> = {
  readonly rows: readonly R[]
  /** Cursor of the last row returned, null when the page is empty. */
  readonly cursor: string | null
  /** Whether a further row existed when the page was read. */
  readonly more: boolean
}

export type Reader<R extends Row> = {
  get(key: string): Promise<R | undefined>
  getMany(keys: readonly string[]): Promise<readonly R[]>
  /**
   * Rows of an index whose first fields equal `prefix`, in index order; `limit` is 1 to 1,000.
   * @throws AppError invalid_request when a cursor is none of this index.
   */
  page(index: string, prefix: readonly Scalar[], query: PageQuery): Promise<Page<R>>
  /** Rows of an index whose first fields equal `prefix`, from a maintained counter or a binary search: never a scan. */
  count(index: string, prefix: readonly Scalar[]): Promise<number>
}

export type Table<R extends Row> = Reader<R> & {
  getForUpdate(key: string): Promise<R | undefined>
  /** @throws Conflict when the key or a unique index is taken; a caught Conflict still fails the tx. */
  insert(row: Draft<R>): Promise<R>
  insertIfAbsent(row: Draft<R>): Promise<boolean>
  /** Replaces a row that this tx holds by getForUpdate or insert; inserts when the key was looked up and absent. */
  put(row: Draft<R>): Promise<R>
  /** @throws Conflict when the stored version is another; a member patched to undefined is removed. */
  update(key: string, version: number, patch: Partial<Draft<R>>): Promise<R>
  /** Adds to a bigint or number member; no version needed. @throws RowMissing */
  increment(key: string, field: keyof R & string, by: bigint | number): Promise<R>
  /** Needs no hold. @returns whether the row was there */
  delete(key: string): Promise<boolean>
}

export type ReadTx = {
  table<R extends Row>(collection: Collection<R>): Reader<R>
}

export type Tx = {
  table<R extends Row>(collection: Collection<R>): Table<R>
}

/** What a committed transaction changed, in commit order; delivered only when durable. */
export type Write = { readonly collection: string; readonly key: string; readonly row: Row | null }
export type Change = { readonly seq: number; readonly writes: readonly Write[] }

/** The row that a write left; null where it was deleted, undefined where it is one of another collection. */
export function writtenRow<R extends Row>({ name }: Collection<R>, { collection, row }: Write): R | null | undefined {
  return collection === name ? (row as R | null) : undefined
}

export type StoreStats = {
  readonly seq: number
  readonly records: number
  readonly journalBytes: number
  /** Batches made durable since the store was opened. */
  readonly syncs: number
}

export type Store = {
  /**
   * Runs a body with all of its writes applied together, resolved when they are durable.
   * Bodies hold store calls only, may run again, and must settle within the watchdog.
   */
  tx<T>(body: (t: Tx) => Promise<T>): Promise<T>
  /** A consistent snapshot for several reads. */
  read<T>(body: (t: ReadTx) => Promise<T>): Promise<T>
  /** Single reads, atomic alone; refused inside a body, which has a handle of its own. */
  table<R extends Row>(collection: Collection<R>): Reader<R>
  /** Resolves when everything visible at the call is durable. */
  durable(): Promise<void>
  /** @returns the function that ends the subscription. */
  subscribe(listener: (change: Change) => void): () => void
  stats(): StoreStats
  close(): Promise<void>
}

/** A key or unique index was taken, or a version was stale. */
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
