import { isObject, type Json } from '../../core/json.ts'
import { isArray, JqError, shown } from './values.ts'

/**
 * A text as a cell of CSV, always between quotes. A cell that begins like a formula would be run by a spreadsheet: it
 * gets an apostrophe in front, and so does one whose beginning a spreadsheet would take away first.
 */
function csvText(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return `"${safe.replaceAll('"', '""')}"`
}

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
