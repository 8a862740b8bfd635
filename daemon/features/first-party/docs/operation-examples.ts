import { isObject, jsonIn } from '../../../../src/core/json.ts'
import type { OperationMethod } from './operation-names.ts'

/* Reads addresses and examples. Tells an example path, such as `/v1/ducks/raymarine-1`, from the path that it stands for, such as `/ducks/{id}`. */

type Documented = { readonly method: OperationMethod; readonly path: string }

const IS_VERSION = /^v\d[\d.]*$/i
/** A name in an example may have slashes itself. */
const ONE_VALUE = '[^/]+(?:/[^/]+){0,2}'

/** Whether a path is a call of a template right above it. The call may begin with a version, and values may be words. */
export function isCallOf(path: string, template: string): boolean {
  return new RegExp(`^(?:/[^/]+)?(?:/v\\d[\\d.]*)?${patternOf(template, ONE_VALUE)}$`).test(path)
}

function patternOf(template: string, value: string): string {
  const parts = template.split(/\{\w+\}/)
  return parts.map((part) => part.replace(/[.*+?^$()|[\]\\]/g, '\\$&')).join(value)
}

/**
 * Whether a path is a template with a version in front, or one with values, each of which has a digit or a dash, as
 * names of resources seldom have.
 */
export function isExampleOf(path: string, template: string): boolean {
  if (new RegExp(`^/v\\d[\\d.]*${patternOf(template, '[^/]+')}$`).test(path)) return true
  const [parts, wanted] = [path.split('/'), template.split('/')]
  if (parts.length !== wanted.length || path === template) return false
  return parts.every((part, at) => part === wanted[at] || (/[\d-]/.test(part) && /^\{\w+\}$/.test(wanted[at] ?? '')))
}

const VALUE_NAMES = /^(?:id|name|key|slug|uuid|login|username|sku)$|(?:[a-z]Id|_id)$/i
const MAX_DEPTH = 5
const MAX_VALUES = 200

/** Values in example bodies that name a resource. */
function valuesIn(body: unknown, depth = 0): string[] {
  if (depth > MAX_DEPTH) return []
  if (Array.isArray(body)) return body.slice(0, MAX_VALUES).flatMap((one) => valuesIn(one, depth + 1))
  if (!isObject(body)) return []
  return Object.entries(body).flatMap(([name, value]) => {
    const isValue = VALUE_NAMES.test(name) && (typeof value === 'string' || typeof value === 'number')
    return isValue ? [String(value)] : valuesIn(value, depth + 1)
  })
}

/** A path with a placeholder for each value that an example body names, such as `/types/Object` → `/types/{type}`. */
export function withoutValues({ path }: Documented, bodies: readonly unknown[]): string {
  const values = new Set(bodies.flatMap((body) => valuesIn(body)))
  const parts = path.split('/')
  return parts
    .map((part, at) => {
      const before = parts[at - 1] ?? ''
      return /[a-z]s$/.test(before) && values.has(part) ? `{${placeholderOf(before)}}` : part
    })
    .join('/')
}

/** Name of the value below a collection: `ducks` gives `duck_id`. */
export function placeholderOf(collection: string): string {
  const one = collection
    .replace(/\W/g, '')
    .replace(/ies$/, 'y')
    .replace(/(?<=\w{3})s$/, '')
  return one === '' || IS_VERSION.test(collection) ? 'id' : `${one}_id`
}

const VARYING =
  /^(\d+|(?=\w*\d)(?=\w*[a-f])[0-9a-f]{8,}|(?:example|sample|my|your)(?:[-_.!].*)?|(?=\w*\d)[A-Za-z\d]{25,}|[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{16,}|[a-z]{2,5}_\w{6,})$/i

/** Placeholder forms: `:id`, `{id}`, `{{id}}`, `{id:int}`, `<int:id>`, `[id]`, `[:id]`, `%id%`, `$id`, `YOUR_ID`, `%s`. */
const PLACEHOLDER =
  /^(?::([\w-]+)[?*]?|\{{1,2}([\w-]+)(?::[^{}]{0,40})?\}{1,2}|<(?:\w+:)?([\w-]+)>|\[:?([\w-]+)\]|%([a-z]\w+)%|\$\{?(\w+)\}?|(?:YOUR|MY|THE)_([A-Z_]{2,40}))$/

/** Scheme and host, path with `{name}` for variables, and query names of an address; no path if it is none. */
export function placeOf(text: string): {
  origin: string | null
  path: string | undefined
  query: string[]
  slash: boolean
} {
  const [, origin = null, rest = text] = /^(https?:\/\/[^/\s]+)(.*)$/i.exec(text) ?? []
  const [rawPath = '', rawQuery = ''] = rest.replace('[?', '?').split('?', 2)
  const segments = rawPath
    .replace(/[.:,]+$/, '')
    .replace(/(?<=[/.]):(\w+)(?=\.\.)|(?<=\.\.):(\w+)/g, (_, from, to) => `{${from ?? to}}`)
    .split('/')
    .filter(Boolean)
  const path = `/${segments.map(segmentOf).join('/')}`
  const query = rawQuery.split('&').flatMap((pair) => /^([\w.[\]-]{1,60})=?/.exec(pair)?.[1] ?? [])
  const isPath = (text.includes('/') && /^[/\w{}.~:@%*+$<>[\]-]+$/.test(path)) || path === '/'
  return { origin, path: isPath ? path : undefined, query, slash: segments.length > 0 && rawPath.endsWith('/') }
}

function segmentOf(segment: string, at: number, all: readonly string[]): string {
  const name = PLACEHOLDER.exec(segment)?.slice(1).find(Boolean)
  if (name !== undefined) return `{${name.replaceAll('-', '_')}}`
  if (/^\{\w+\}\.\.\{\w+\}$/.test(segment)) return segment
  const [, value = '', rest = ''] = /^(.*?)(\.(?:json|xml|html|yaml))?$/.exec(segment) ?? []
  const [, label] = /^([a-z]\w*):\d+$/i.exec(value) ?? []
  if (label !== undefined) return `${label}:{${label.toLowerCase()}}${rest}`
  // A number at the root is a version.
  if (!VARYING.test(value) || /^v\d+$/.test(value) || (at === 0 && /^\d$/.test(value)))
    return segment.replace(/[{}]/g, '')
  return `{${placeholderOf(all[at - 1] ?? '')}}${rest}`
}

const MAX_EXAMPLE_CHARS = 20_000
/** Dots that stand for more members of an example. */
const SHORTENED = /,?\s*(?:\.{3}|…),?(?=\s*(?:[\]}]|$))/gm

/** Value of an example in JSON; undefined if it is none. */
export function jsonOf(text: string): unknown {
  if (text.length > MAX_EXAMPLE_CHARS || !/^\s*[{[]/.test(text)) return undefined
  // An example with comments is not JSON and does not count.
  return (jsonIn(text) ?? jsonIn(text.replace(SHORTENED, '')))?.value
}
