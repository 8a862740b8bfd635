import { parse as parseName } from 'tldts'
import type { AnyObject, Json } from '../../../../src/core/json.ts'
import type { PlainValue } from './cards.ts'

export type Coerced = { readonly json: Json }

/** The first type in a schema that is not `null`; `string` if there is none. */
export function typeOf(schema: AnyObject): string {
  const { type, properties, items } = schema
  const named = Array.isArray(type) ? type.find((name) => name !== 'null') : type
  if (typeof named === 'string') return named
  if (properties !== undefined) return 'object'
  return items === undefined ? 'string' : 'array'
}

/** Converts a value from a page to the schema's type; undefined if impossible. @param base address of the page */
export function coerced(value: PlainValue, schema: AnyObject, base: string): Coerced | undefined {
  const choices = Array.isArray(schema['enum']) ? schema['enum'] : undefined
  if (choices) return chosen(String(value), choices)
  switch (typeOf(schema)) {
    case 'number':
      return given(numberOf(value))
    case 'integer': {
      const number = numberOf(value)
      return given(number !== undefined && Number.isInteger(number) ? number : undefined)
    }
    case 'boolean':
      return given(truthOf(value))
    case 'string':
      return given(textOf(String(value).trim(), schema, base))
    default:
      return undefined
  }
}

function given(json: Json | undefined): Coerced | undefined {
  return json === undefined ? undefined : { json }
}

/** The allowed value that a text means, if any: `https://schema.org/InStock` and `instock` both mean `InStock`. */
function chosen(value: string, choices: readonly unknown[]): Coerced | undefined {
  const plain = (text: string) => text.toLowerCase().replace(/[\s_-]+/g, '')
  const said = [plain(value), plain(lastSegment(value))]
  const found = choices.find((choice) => typeof choice === 'string' && said.includes(plain(choice)))
  return typeof found === 'string' ? { json: found } : undefined
}

function lastSegment(text: string): string {
  return text.split(/[/#]/).at(-1) ?? text
}

const NUMBER = /-?\d[\d.,'\u00a0\u202f ]*\d|-?\d/

/** Parses `$1,299.00`, `12,50 €`, `1.234,5`, `4.5 out of 5`. */
export function numberOf(value: PlainValue): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined
  if (typeof value === 'boolean') return undefined
  const [found] = NUMBER.exec(value) ?? []
  if (found === undefined) return undefined
  const tight = found.replace(/['\u00a0\u202f ]/g, '')
  const number = Number(asDecimal(tight))
  return Number.isFinite(number) ? number : undefined
}

/** A number with a decimal point and without separators of thousands. Of comma and dot, the last is the decimal one. */
function asDecimal(text: string): string {
  const [comma, dot] = [text.lastIndexOf(','), text.lastIndexOf('.')]
  if (comma >= 0 && dot >= 0) {
    return comma > dot ? text.replaceAll('.', '').replace(',', '.') : text.replaceAll(',', '')
  }
  if (comma >= 0) return /^-?\d{1,3}(,\d{3})+$/.test(text) ? text.replaceAll(',', '') : text.replace(',', '.')
  return /^-?\d{1,3}(\.\d{3}){2,}$/.test(text) ? text.replaceAll('.', '') : text
}

const yes = new Set([
  'true',
  'yes',
  'instock',
  'available',
  'instoreonly',
  'onlineonly',
  'limitedavailability',
  'onsale',
  'on',
])
const no = new Set(['false', 'no', 'outofstock', 'soldout', 'unavailable', 'discontinued', 'off'])

function truthOf(value: PlainValue): boolean | undefined {
  if (typeof value === 'boolean') return value
  const plain = lastSegment(String(value))
    .toLowerCase()
    .replace(/[\s_-]+/g, '')
  // A statement about availability may include a number: `In stock (22 available)`.
  if (yes.has(plain) || /^instock\b|^instock\(/.test(plain)) return true
  return no.has(plain) || /^(outofstock|soldout)\(/.test(plain) ? false : undefined
}

function textOf(text: string, { format }: AnyObject, base: string): string | undefined {
  if (text === '') return undefined
  switch (format) {
    case 'uri':
    case 'uri-reference': {
      // A host name such as `bremen.de` is a site, not a path relative to this page.
      const isSite = /^[\w-]+(\.[\w-]+)+$/.test(text) && parseName(text).isIcann === true
      const url = /\s/.test(text) ? null : URL.parse(isSite ? `https://${text}` : text, base)
      return url && /^https?:$/.test(url.protocol) ? url.href : undefined
    }
    case 'date':
      return dateOf(text)?.slice(0, 'YYYY-MM-DD'.length)
    case 'date-time':
      return dateOf(text)
    case 'email':
      return /[\w.+-]+@[\w-]+(\.[\w-]+)+/.exec(text)?.[0]
    default:
      return text
  }
}

/** Requires a year, since a date without one is ambiguous. */
function dateOf(text: string): string | undefined {
  if (!/\b\d{4}\b/.test(text)) return undefined
  const iso = /\b\d{4}-\d{2}-\d{2}(?:T[\d:.]+(?:Z|[+-]\d{2}:?\d{2})?)?/.exec(text)?.[0]
  const hasZone = /[Zz]|[+-]\d{2}:?\d{2}$|GMT|UTC/.test(iso ?? text)
  const time = Date.parse(iso ?? (hasZone ? text : `${text} UTC`))
  return Number.isNaN(time) ? undefined : new Date(time).toISOString()
}
