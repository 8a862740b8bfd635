import { isObject, type Json } from '../../core/json.ts'

/** A type error in jq's words. */
export class JqError extends Error {
  override readonly name = 'JqError'
}

export function isArray(value: Json): value is Json[] {
  return Array.isArray(value)
}

export function typeOf(value: Json): string {
  if (value === null) return 'null'
  return isArray(value) ? 'array' : typeof value
}

const SHOWN_CHARS_MAX = 40

export function shown(value: Json): string {
  const text = JSON.stringify(value)
  return `${typeOf(value)} (${text.length > SHOWN_CHARS_MAX ? `${text.slice(0, SHOWN_CHARS_MAX)}…` : text})`
}

export function truthy(value: Json): boolean {
  return value !== null && value !== false
}

/** An object from entries; `__proto__` is a normal member. */
export function objectFrom(entries: Iterable<readonly [string, Json]>): { readonly [name: string]: Json } {
  return Object.fromEntries(entries)
}

const order = ['null', 'false', 'true', 'number', 'string', 'array', 'object']

function rank(value: Json): number {
  return order.indexOf(typeof value === 'boolean' ? String(value) : typeOf(value))
}

/** Compares values in jq's order: null, false, true, numbers, strings, arrays, objects. */
export function compare(a: Json, b: Json): number {
  if (rank(a) !== rank(b)) return rank(a) - rank(b)
  if (typeof a === 'number' && typeof b === 'number') return a - b
  if (typeof a === 'string' && typeof b === 'string') return compareText(a, b)
  if (isArray(a) && isArray(b)) return compareArrays(a, b)
  return isObject(a) && isObject(b) ? compareObjects(a, b) : 0
}

function compareText(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}

function compareArrays(a: readonly Json[], b: readonly Json[]): number {
  for (let i = 0; i < Math.min(a.length, b.length); i += 1) {
    const difference = compare(a[i] ?? null, b[i] ?? null)
    if (difference !== 0) return difference
  }
  return a.length - b.length
}

function compareObjects(a: { readonly [name: string]: Json }, b: { readonly [name: string]: Json }): number {
  const [left, right] = [Object.keys(a).sort(), Object.keys(b).sort()]
  const byKeys = compareArrays(left, right)
  if (byKeys !== 0) return byKeys
  return compareArrays(
    left.map((name) => a[name] ?? null),
    right.map((name) => b[name] ?? null),
  )
}

export function equal(a: Json, b: Json): boolean {
  return compare(a, b) === 0
}
