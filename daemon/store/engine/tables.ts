import { RowInvalid, StoreMisuse } from '../errors.ts'
import { type AnyCollection, type AnyIndex, type Change, Conflict, type Scalar } from '../port.ts'
import { rowCodec } from './bigints.ts'
import { type AnyRow, compareScalars, type IndexPlace, indexedValue, placeComparer, rowComparer } from './order.ts'

export type RowIndex = ReturnType<typeof orderIndex>

export type TableShape = ReturnType<typeof shapeTable>

/** @param codec - default: that of the collection's schema */
export function shapeTable(collection: AnyCollection, codec = rowCodec(collection.name, collection.schema)) {
  const indexes = new Map(collection.indexes.map((definition) => [definition.name, orderIndex(collection, definition)]))
  if (indexes.size !== collection.indexes.length) throw new StoreMisuse(`${collection.name}: two indexes share a name`)
  const uniques = [...indexes.values()].filter(({ definition }) => definition.unique === true)
  return { collection, codec, indexes, uniques }
}

function orderIndex({ key }: AnyCollection, definition: AnyIndex) {
  const { fields, where } = definition
  /** False for rows outside a partial index. */
  const holds = (row: AnyRow): boolean => {
    if (where === undefined) return true
    const value = indexedValue(row, where.field)
    return 'equals' in where ? compareScalars(value, where.equals) === 0 : value !== null
  }
  return { definition, compareRows: rowComparer(fields, key), compareToPlace: placeComparer(fields, key), holds }
}

export function keyOf({ collection }: TableShape, row: AnyRow): string {
  return row[collection.key] as string
}

/** Entries in the order of their keys (UTF-16). */
export function inOrder<T>(all: ReadonlyMap<string, T>): [string, T][] {
  return [...all].sort(([one], [other]) => (one < other ? -1 : 1))
}

export function placeIn(table: TableShape, { definition }: RowIndex, row: AnyRow): Required<IndexPlace> {
  return { values: definition.fields.map((field) => indexedValue(row, field)), key: keyOf(table, row) }
}

/** Values in a unique index; undefined if the row cannot collide. */
export function uniqueValues(index: RowIndex, row: AnyRow): readonly Scalar[] | undefined {
  if (!index.holds(row)) return undefined
  const values = index.definition.fields.map((field) => indexedValue(row, field))
  return values.includes(null) ? undefined : values
}

/** Whether a row has these values in a unique index. */
export function hasUniqueValues(index: RowIndex, row: AnyRow, values: readonly Scalar[]): boolean {
  return uniqueValues(index, row)?.every((value, n) => compareScalars(value, values[n] ?? null) === 0) === true
}

/** @throws Conflict always; names the index */
export function conflict(table: TableShape, index: string): never {
  throw new Conflict(table.collection.name, index)
}

type Shapes = { readonly get: (collection: string) => { readonly shape: TableShape } | undefined }

/** JSON of a transaction: `{"s":seq,"t":ms,"w":[[collection,key,row|null],…]}`. @throws RowInvalid */
export function encodeChange(tables: Shapes, change: Change, nowMs: number): string {
  const writes = change.writes.map(({ collection, key, row }) => {
    const codec = tables.get(collection)?.shape.codec
    try {
      return JSON.stringify([collection, key, row === null || codec === undefined ? null : codec.toJson(row as AnyRow)])
    } catch (error) {
      // A bigint outside the schema (z.custom, z.unknown) could not be restored.
      throw new RowInvalid(collection, key, error)
    }
  })
  return `{"s":${change.seq},"t":${nowMs},"w":[${writes.join(',')}]}`
}
