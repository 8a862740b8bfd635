import { RowInvalid, StoreMisuse } from '../errors.ts'
import { type AnyCollection, type AnyIndex, type Change, Conflict, type Scalar } from '../port.ts'
import { type RowCodec, rowCodec } from './bigints.ts'
import { type AnyRow, compareScalars, type IndexPlace, indexedValue, placeComparer, rowComparer } from './order.ts'
import { createSorted, type Sorted } from './sorted.ts'

/** One declared index over the committed rows of a collection. */
export type RowIndex = {
  readonly definition: AnyIndex
  readonly compareRows: (a: AnyRow, b: AnyRow) => number
  readonly compareToPlace: (row: AnyRow, place: IndexPlace) => number
  holds(row: AnyRow): boolean
  /** Built by one bulk sort when first asked for, maintained from then on. */
  sorted(): Sorted<AnyRow>
  move(before: AnyRow | undefined, after: AnyRow | undefined): void
}

/** The committed rows of one collection. */
export type TableState = {
  readonly collection: AnyCollection
  readonly codec: RowCodec
  readonly rows: Map<string, AnyRow>
  readonly indexes: ReadonlyMap<string, RowIndex>
  readonly uniques: readonly RowIndex[]
  /** Puts a row in place of whatever has its key; null removes. */
  apply(key: string, row: AnyRow | null): void
}

export type State = ReadonlyMap<string, TableState>

export function createState(collections: readonly AnyCollection[]): State {
  const state = new Map<string, TableState>()
  for (const collection of collections) {
    if (state.has(collection.name)) throw new StoreMisuse(`two collections are named ${collection.name}`)
    state.set(collection.name, createTable(collection))
  }
  return state
}

export function countRecords(state: State): number {
  let records = 0
  for (const table of state.values()) records += table.rows.size
  return records
}

function createTable(collection: AnyCollection): TableState {
  const rows = new Map<string, AnyRow>()
  const indexes = new Map(
    collection.indexes.map((definition) => [definition.name, createIndex(collection, definition, rows)]),
  )
  if (indexes.size !== collection.indexes.length) throw new StoreMisuse(`${collection.name}: two indexes share a name`)
  const all = [...indexes.values()]

  function apply(key: string, row: AnyRow | null): void {
    const before = rows.get(key)
    if (row === null) rows.delete(key)
    else rows.set(key, row)
    for (const index of all) index.move(before, row ?? undefined)
  }

  const uniques = all.filter(({ definition }) => definition.unique === true)
  return { collection, codec: rowCodec(collection.name, collection.schema), rows, indexes, uniques, apply }
}

function createIndex(collection: AnyCollection, definition: AnyIndex, rows: ReadonlyMap<string, AnyRow>): RowIndex {
  const { fields, where } = definition
  const compareRows = rowComparer(fields, collection.key)
  const holds = (row: AnyRow): boolean => {
    if (where === undefined) return true
    const value = indexedValue(row, where.field)
    return 'equals' in where ? compareScalars(value, where.equals) === 0 : value !== null
  }
  let built: Sorted<AnyRow> | undefined

  function sorted(): Sorted<AnyRow> {
    if (built === undefined) {
      const all = [...rows.values()]
      built = createSorted(compareRows, where === undefined ? all : all.filter(holds))
    }
    return built
  }

  const heldOf = (row: AnyRow | undefined): AnyRow | undefined => (row && holds(row) ? row : undefined)

  function move(before: AnyRow | undefined, after: AnyRow | undefined): void {
    // An index that nobody has read yet is filled from the rows when it is, so there is nothing to keep up.
    if (built === undefined) return
    const [old, fresh] = [heldOf(before), heldOf(after)]
    if (old && fresh && compareRows(old, fresh) === 0) {
      built.replace(fresh)
      return
    }
    if (old) built.remove(old)
    if (fresh) built.insert(fresh)
  }

  return { definition, compareRows, compareToPlace: placeComparer(fields, collection.key), holds, sorted, move }
}

/** The values of a unique index, or undefined when the row cannot collide in it. */
export function uniqueValues(index: RowIndex, row: AnyRow): readonly Scalar[] | undefined {
  if (!index.holds(row)) return undefined
  const values = index.definition.fields.map((field) => indexedValue(row, field))
  return values.includes(null) ? undefined : values
}

/** The committed row that has these values in a unique index. */
export function findUnique(index: RowIndex, values: readonly Scalar[]): AnyRow | undefined {
  for (const row of index.sorted().forward((r) => index.compareToPlace(r, { values }))) {
    return index.compareToPlace(row, { values }) === 0 ? row : undefined
  }
  return undefined
}

/** @throws Conflict always; one place that names what was taken. */
export function conflict(table: TableState, index: string): never {
  throw new Conflict(table.collection.name, index)
}

/** JSON of one transaction: `{"s":seq,"t":ms,"w":[[collection,key,row|null],…]}`. @throws RowInvalid */
export function encodeChange(state: State, change: Change, nowMs: number): string {
  const writes = change.writes.map(({ collection, key, row }) =>
    encodeWrite(state, { collection, key, row: row as AnyRow | null }),
  )
  return `{"s":${change.seq},"t":${nowMs},"w":[${writes.join(',')}]}`
}

function encodeWrite(state: State, write: { collection: string; key: string; row: AnyRow | null }): string {
  const { collection, key, row } = write
  const codec = state.get(collection)?.codec
  try {
    return JSON.stringify([collection, key, row === null || codec === undefined ? null : codec.toJson(row)])
  } catch (error) {
    // A bigint where the schema shows none (z.custom, z.unknown): it could not be told from text on load.
    throw new RowInvalid(collection, key, error)
  }
}
