import { type AnyObject, isObject } from '../core/json.ts'
import { MAX_LISTED_CHARS } from './limits.ts'

/** A keyword's list; empty where there is none. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** A keyword's members; none where it is no object. */
export function membersOf(value: unknown): AnyObject {
  return isObject(value) ? value : {}
}

/** Whether a string or number has a canonical form: JSON text can spell `1e999` and lone surrogates. */
export function isCanonical(value: unknown): boolean {
  return typeof value === 'string' ? value.isWellFormed() : typeof value !== 'number' || Number.isFinite(value)
}

/** A stranger's names are shown cut, so that an error stays short. */
export function joinPath(path: string, name: string | number): string {
  const shown = String(name).slice(0, MAX_LISTED_CHARS)
  return path === '' ? shown : `${path}.${shown}`
}
