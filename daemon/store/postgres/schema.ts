import { compareScalars } from '../engine/order.ts'
import { shapeOf } from '../engine/shape.ts'
import { type RowIndex, shapeTable, type TableShape } from '../engine/tables.ts'
import type { AnyCollection, Scalar } from '../port.ts'
import type { PgValue } from './connection.ts'
import { NULL_TEXT, storedText } from './text.ts'

/* Tables, columns and indexes of the declared collections. Columns have no nulls, so that rows compare as tuples. */

type Kind = 'text' | 'number' | 'bigint' | 'boolean'

/** How each kind of index member is stored; null is a value of its own before all others. */
const kinds: Readonly<Record<Kind, { type: string; none: string; store: (value: Scalar) => PgValue }>> = {
  text: { type: 'text', none: `'${NULL_TEXT}'`, store: (value) => storedText(value === null ? null : String(value)) },
  number: { type: 'float8', none: `'-infinity'`, store: (value) => (value === null ? '-infinity' : String(value)) },
  bigint: { type: 'numeric', none: `'-infinity'`, store: (value) => (value === null ? '-infinity' : String(value)) },
  boolean: { type: 'int2', none: '-1', store: (value) => (value === null ? -1 : Number(value)) },
}

const kindOfType: Readonly<Record<string, Kind>> = {
  string: 'text',
  enum: 'text',
  template_literal: 'text',
  number: 'number',
  int: 'number',
  bigint: 'bigint',
  boolean: 'boolean',
}
const NOTHING: ReadonlySet<string> = new Set(['null', 'object', 'undefined'])

/** A column with the value of an index member. */
export type PgColumn = { readonly name: string; readonly type: string; readonly store: (value: Scalar) => PgValue }

/** A collection's table. */
export type PgTable = {
  readonly shape: TableShape
  /** Quoted. */
  readonly name: string
  /** By index member; the row key is column `k`. */
  readonly columns: ReadonlyMap<string, PgColumn>
  /** Condition of a partial index. */
  readonly conditionOf: (index: RowIndex) => string | undefined
  /** Statements that create the table. */
  readonly ddl: readonly string[]
}

const KEY: PgColumn = { name: 'k', type: 'text', store: kinds.text.store }
const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

export function pgTable(collection: AnyCollection): PgTable {
  const shape = shapeTable(collection)
  const columns = columnsOf(collection)
  const name = quoted(collection.name)
  const columnOf = (member: string): PgColumn => columns.get(member) ?? KEY
  const conditionOf = ({ definition: { where } }: RowIndex): string | undefined => {
    if (where === undefined) return undefined
    const column = columnOf(where.field)
    const none = noneOf(column)
    if (!('equals' in where)) return `${column.name} <> ${none}`
    return `${column.name} = ${compareScalars(where.equals, null) === 0 ? none : literal(column.store(where.equals))}`
  }
  const ddl = [
    `create table ${name} (k text collate "C" primary key, version int8 not null, doc json not null${[
      ...columns.values(),
    ]
      .map((column) => `, ${column.name} ${column.type}${column.type === 'text' ? ' collate "C"' : ''} not null`)
      .join('')})`,
    ...[...shape.indexes.values()].flatMap((index) => indexDdl({ name, collection, columnOf, conditionOf }, index)),
  ]
  return { shape, name, columns: new Map([...columns, [collection.key, KEY]]), conditionOf, ddl }
}

type IndexParts = Pick<PgTable, 'name' | 'conditionOf'> & {
  readonly collection: AnyCollection
  readonly columnOf: (member: string) => PgColumn
}

function indexDdl({ name, collection, columnOf, conditionOf }: IndexParts, index: RowIndex): string[] {
  const { definition } = index
  const columns = definition.fields.map(columnOf)
  const names = columns.map((column) => column.name)
  const label = `${collection.name}__${definition.name}`
  const where = conditionOf(index)
  const whereOf = (conditions: readonly (string | undefined)[]): string => {
    const known = conditions.filter((condition) => condition !== undefined)
    return known.length === 0 ? '' : ` where ${known.join(' and ')}`
  }
  const keyed = names.includes(KEY.name) ? names : [...names, KEY.name]
  const ordered = `create index ${quoted(label)} on ${name} (${keyed.join(', ')})${whereOf([where])}`
  if (!definition.unique) return [ordered]
  const present = columns.filter((column) => column !== KEY).map((column) => `${column.name} <> ${noneOf(column)}`)
  return [
    ordered,
    `create unique index ${quoted(`${label}__u`)} on ${name} (${names.join(', ')})${whereOf([where, ...present])}`,
  ]
}

function noneOf({ type }: PgColumn): string {
  return Object.values(kinds).find((kind) => kind.type === type)?.none ?? 'null'
}

function literal(value: PgValue): string {
  return typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value)
}

/** Columns by index member. A member that only limits an index to rows that have it may be of any type. */
function columnsOf({ name, key, schema, indexes }: AnyCollection): Map<string, PgColumn> {
  const compared = new Set(indexes.flatMap(({ fields, where }) => [...fields, ...equalsOf(where)]))
  const presence = new Set(indexes.flatMap(({ where }) => (where && !('equals' in where) ? [where.field] : [])))
  compared.delete(key)
  const members = shapeOf(name, schema).members
  const columns = new Map<string, PgColumn>()
  for (const member of compared) {
    const kind = kinds[kindOf(`${name}.${member}`, members.get(member)?.kinds ?? new Set())]
    columns.set(member, { name: quoted(`i_${member}`), type: kind.type, store: kind.store })
  }
  for (const member of presence)
    if (!columns.has(member))
      columns.set(member, { name: quoted(`i_${member}`), type: 'int2', store: (value) => (value === null ? -1 : 1) })
  return columns
}

function equalsOf(where: AnyCollection['indexes'][number]['where']): string[] {
  return where && 'equals' in where ? [where.field] : []
}

function kindOf(path: string, types: ReadonlySet<string>): Kind {
  const found = new Set([...types].filter((type) => !NOTHING.has(type)).map((type) => kindOfType[type]))
  const [kind] = found
  if (kind === undefined || found.size > 1)
    throw new TypeError(`${path}: an index member must be of one type: text, number, bigint or boolean`)
  return kind
}
