import { isObject, type Json } from '../../core/json.ts'
import { csvText } from '../../text/csv.ts'
import { isArray, JqError, shown } from './values.ts'

const ESCAPED: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }

function cells(value: Json, cell: (one: Json) => string): string[] {
  if (!isArray(value)) throw new JqError(`${shown(value)} is not a list, so it cannot be a row`)
  return value.map((one) => {
    if (isArray(one) || isObject(one)) throw new JqError(`${shown(one)} fits in no cell`)
    return one === null ? '' : cell(one)
  })
}

function tsvCell(value: Json): string {
  return String(value).replace(/[\\\t\n\r]/g, (found) => ESCAPED[found] ?? found)
}

/** `@tsv` and its kin: one text out of a value. */
export const formats: Readonly<Record<string, (value: Json) => string>> = {
  '@tsv': (value) => cells(value, tsvCell).join('\t'),
  '@csv': (value) => cells(value, (one) => (typeof one === 'string' ? csvText(one) : String(one))).join(','),
  '@json': (value) => JSON.stringify(value),
  '@text': (value) => (typeof value === 'string' ? value : JSON.stringify(value)),
}
