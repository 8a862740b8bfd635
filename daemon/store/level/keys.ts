import { crc32 } from 'node:zlib'
import { type AnyRow, type IndexPlace, indexedValue } from '../engine/order.ts'
import { type RowIndex, type TableShape, uniqueValues } from '../engine/tables.ts'
import { StoreDamaged } from '../errors.ts'
import type { Scalar } from '../port.ts'
import { bytesOf, endOfScalar, latin, scalarKey, textBytes, textKey, textOf } from './bytes.ts'

/* How rows and index entries are written as keys and values of LevelDB. */

const CRC_BYTES = 4
const ROW = 'r'
const ENTRY = 'i'
const UNIQUE = 'u'
const EMPTY = Buffer.alloc(0)

export type NumberOf = (...names: readonly string[]) => Buffer

export type Parts = { readonly shape: TableShape; readonly numberOf: NumberOf }

export type EntryKeys = {
  /** Key of a row's entry; undefined if the row has none. */
  readonly of: (key: string, row: AnyRow | undefined) => string | undefined
  readonly value: (key: string) => Buffer
}

/** Database keys of a table's rows and index entries. */
export function keysOf({ shape, numberOf }: Parts) {
  const { name } = shape.collection
  const rowPrefix = ROW + latin(numberOf(name))
  const tuple = (start: string, values: readonly Scalar[]) => start + values.map(scalarKey).join('')
  const startsOf = (kind: string, all: Iterable<string>) =>
    new Map([...all].map((index) => [index, kind + latin(numberOf(name, index))]))
  const starts = startsOf(ENTRY, shape.indexes.keys())
  const uniqueStarts = startsOf(UNIQUE, shape.indexes.keys())
  const entryStart = ({ definition }: RowIndex) => starts.get(definition.name) ?? ''
  const uniqueStart = ({ definition }: RowIndex) => uniqueStarts.get(definition.name) ?? ''
  const valuesIn = ({ definition }: RowIndex, row: AnyRow) => definition.fields.map((field) => indexedValue(row, field))
  const entries = [...shape.indexes.values()].map((index): EntryKeys => {
    const start = entryStart(index)
    const of: EntryKeys['of'] = (key, row) =>
      row && index.holds(row) ? tuple(start, valuesIn(index, row)) + textKey(key) : undefined
    return { of, value: () => EMPTY }
  })
  const uniques = shape.uniques.map((index): EntryKeys => {
    const start = uniqueStart(index)
    const of: EntryKeys['of'] = (_key, row) => {
      const values = row && uniqueValues(index, row)
      return values && tuple(start, values)
    }
    return { of, value: textBytes }
  })
  return {
    rowPrefix: bytesOf(rowPrefix),
    row: (key: string) => bytesOf(rowPrefix + textKey(key)),
    place: (index: RowIndex, { values, key = '' }: IndexPlace) =>
      bytesOf(tuple(entryStart(index), values) + textKey(key)),
    unique: (index: RowIndex, values: readonly Scalar[]) => bytesOf(tuple(uniqueStart(index), values)),
    named(index: RowIndex, entry: Buffer): Buffer {
      let at = entryStart(index).length
      for (const _field of index.definition.fields) at = endOfScalar(entry, at)
      return Buffer.concat([bytesOf(rowPrefix), entry.subarray(at)])
    },
    entries: [...entries, ...uniques],
    nameOf: (bytes: Buffer) => textOf(bytes.subarray(rowPrefix.length)),
  }
}

export type Keys = ReturnType<typeof keysOf>

/** Encodes and decodes rows with their own checksum, since LevelDB rarely checks its own. */
export function valueCodec({ collection, codec }: TableShape, dir: string, nameOf: Keys['nameOf']) {
  function jsonOf(key: Buffer, value: Buffer): unknown {
    const json = value.subarray(CRC_BYTES)
    if (value.length < CRC_BYTES || crc32(json) !== value.readUInt32BE())
      throw new StoreDamaged(dir, 0, `the checksum of ${collection.name} ${nameOf(key)} is wrong`)
    return JSON.parse(json.toString())
  }
  return {
    encode(row: AnyRow): Buffer {
      const value = Buffer.from(`    ${JSON.stringify(codec.toJson(row))}`)
      value.writeUInt32BE(crc32(value.subarray(CRC_BYTES)))
      return value
    },
    jsonOf,
    decode: (key: Buffer, value: Buffer | undefined): AnyRow | undefined =>
      value && codec.fromJson(jsonOf(key, value) as AnyRow),
  }
}
