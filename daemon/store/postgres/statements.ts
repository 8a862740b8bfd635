import { type AnyRow, type IndexPlace, indexedValue } from '../engine/order.ts'
import type { Slice } from '../engine/rows.ts'
import { keyOf, type RowIndex } from '../engine/tables.ts'
import type { Scalar } from '../port.ts'
import type { PgValue } from './connection.ts'
import type { PgColumn, PgTable } from './schema.ts'
import { storedText } from './text.ts'

/** A statement and its values. The texts are few, so that the server prepares each once a session. */
export type Statement = readonly [text: string, values: readonly PgValue[]]

/** Collects values and conditions. */
function conditions(table: PgTable, index: RowIndex) {
  const values: PgValue[] = []
  const where: string[] = []
  const limited = table.conditionOf(index)
  if (limited !== undefined) where.push(limited)
  const add = ({ type, store }: PgColumn, value: Scalar): string => `$${values.push(store(value))}::${type}`
  const fields = index.definition.fields.map((field) => columnOf(table, field))
  const key = columnOf(table, table.shape.collection.key)
  return {
    values,
    add,
    /** Columns in index order; the key comes last. */
    columns: fields.includes(key) ? fields : [...fields, key],
    fields,
    key,
    equal(prefix: readonly Scalar[]): void {
      for (const [n, value] of prefix.entries()) {
        const column = fields[n] as PgColumn
        where.push(`${column.name} = ${add(column, value)}`)
      }
    },
    require: (condition: string) => where.push(condition),
    text: () => (where.length === 0 ? '' : ` where ${where.join(' and ')}`),
  }
}

function columnOf({ columns }: PgTable, field: string): PgColumn {
  return columns.get(field) as PgColumn // each index member has a column
}

export function rowsStatement({ name }: PgTable, keys: readonly string[]): Statement {
  return [`select doc from ${name} where k = any($1::text[])`, [arrayText(keys.map(storedText))]]
}

export function countStatement(table: PgTable, index: RowIndex, prefix: readonly Scalar[]): Statement {
  const by = conditions(table, index)
  by.equal(prefix)
  return [`select count(*)::float8 as n from ${table.name}${by.text()}`, by.values]
}

export function uniqueStatement(table: PgTable, index: RowIndex, values: readonly Scalar[]): Statement {
  const by = conditions(table, index)
  by.equal(values)
  return [`select doc from ${table.name}${by.text()} limit 1`, by.values]
}

export function pageStatement(table: PgTable, { index, prefix, isDescending, after, until, limit }: Slice): Statement {
  const by = conditions(table, index)
  by.equal(prefix)
  /** Compares the columns after the prefix with a place. */
  const against = (sign: string, { values, key }: IndexPlace): string => {
    const places = by.fields.slice(prefix.length, values.length)
    const rest = values.slice(prefix.length)
    const tuple = places.map((column, n): [string, string] => [column.name, by.add(column, rest[n] ?? null)])
    if (key !== undefined && !places.includes(by.key)) tuple.push([by.key.name, by.add(by.key, key)])
    if (tuple.length === 0) return sign.includes('=') ? 'true' : 'false'
    return `(${tuple.map(([name]) => name).join(', ')}) ${sign} (${tuple.map(([, value]) => value).join(', ')})`
  }
  if (after !== undefined) by.require(against(isDescending ? '<' : '>', after))
  if (until !== undefined) by.require(against(isDescending ? '>=' : '<=', until))
  // Named from the first column, since the planner does not see that a prefix is constant once it is a parameter.
  const order = by.columns.map(({ name }) => (isDescending ? `${name} desc` : name)).join(', ')
  const count = by.values.push(limit)
  return [`select doc from ${table.name}${by.text()} order by ${order} limit $${count}::int4`, by.values]
}

/** The text of an array value. */
function arrayText(values: readonly PgValue[]): string {
  const one = (value: PgValue) => (typeof value === 'string' ? `"${value.replace(/["\\]/g, '\\$&')}"` : String(value))
  return `{${values.map(one).join(',')}}`
}

export function deleteStatement({ name }: PgTable, keys: readonly string[]): Statement {
  return [`delete from ${name} where k = any($1::text[])`, [arrayText(keys.map(storedText))]]
}

/** Writes rows that are not there. @param docOf - the row's JSON */
export function insertStatement(table: PgTable, rows: readonly AnyRow[], docOf: (row: AnyRow) => string): Statement {
  const { names, arrays, values } = columnArrays(table, rows, docOf)
  const from = `unnest(${arrays.join(', ')}) as u(${names.join(', ')})`
  return [`insert into ${table.name} (${names.join(', ')}) select ${selected(names)} from ${from}`, values]
}

/** Replaces rows that are there. */
export function updateStatement(table: PgTable, rows: readonly AnyRow[], docOf: (row: AnyRow) => string): Statement {
  const { names, arrays, values } = columnArrays(table, rows, docOf)
  const set = names
    .slice(1)
    .map((name) => `${name} = u.${name}${name === 'doc' ? '::json' : ''}`)
    .join(', ')
  return [
    `update ${table.name} t set ${set} from unnest(${arrays.join(', ')}) as u(${names.join(', ')}) where t.k = u.k`,
    values,
  ]
}

const selected = (names: readonly string[]): string =>
  names.map((name) => (name === 'doc' ? 'doc::json' : name)).join(', ')

function columnArrays(table: PgTable, rows: readonly AnyRow[], docOf: (row: AnyRow) => string) {
  const { columns, shape } = table
  const members = [...columns].filter(([, { name }]) => name !== 'k')
  const lists: [name: string, type: string, values: PgValue[]][] = [
    ['k', 'text', rows.map((row) => storedText(keyOf(shape, row)))],
    ['version', 'int8', rows.map((row) => row.version)],
    ['doc', 'text', rows.map(docOf)],
    ...members.map(([member, { name, type, store }]): [string, string, PgValue[]] => [
      name,
      type,
      rows.map((row) => store(indexedValue(row, member))),
    ]),
  ]
  return {
    names: lists.map(([name]) => name),
    arrays: lists.map(([, type], n) => `$${n + 1}::${type}[]`),
    values: lists.map(([, , values]) => arrayText(values)),
  }
}
