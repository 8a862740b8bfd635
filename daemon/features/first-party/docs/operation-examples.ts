import { isObject } from '../../../../src/core/json.ts'
import type { OperationMethod } from './operation-names.ts'

/* Tells an example path, such as `/v1/ducks/raymarine-1`, from the path that it stands for, such as `/ducks/{id}`. */

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
  const one = collection.replace(/\W/g, '').replace(/(?<=\w{3})s$/, '')
  return one === '' || IS_VERSION.test(collection) ? 'id' : `${one}_id`
}
