import { type AnyObject, isObject } from '../core/json.ts'

// Limits on schemas of untrusted callers, which the daemon compiles and runs (decisions §7).
export const MAX_SCHEMA_BYTES = 32 * 1024
/** Nesting of subschemas, with every `$ref` expanded. */
export const MAX_SCHEMA_DEPTH = 8
/** Number of properties in the whole schema, with every `$ref` expanded. */
export const MAX_SCHEMA_PROPERTIES = 200
/** Number of subschemas, with every `$ref` expanded. The cost per validated value grows with it. */
export const MAX_SUBSCHEMAS = 500
/** Number of characters of all keyword values, with every `$ref` expanded, so that references cannot multiply them. */
export const MAX_EXPANDED_CHARS = 4 * MAX_SCHEMA_BYTES
/** Maximum nesting of the JSON text. */
export const MAX_JSON_DEPTH = 64

export const MAX_PATTERN_CHARS = 200
/** Maximum number of instructions in a compiled pattern. Each character of a text costs up to this many steps. */
export const MAX_PATTERN_INSTRUCTIONS = 1_000

/** Steps per validation. They count pattern instructions × characters, and characters that are hashed or checked. */
export const MAX_VALIDATION_STEPS = 10_000_000
export const CHECKS_PER_STEP = 10
/** For values with more nodes, only the first error is reported. */
export const MAX_NODES_FOR_ALL_ERRORS = 200
export const MAX_DETAILS = 20
/** Number of Ajv errors that are read for a value. */
export const MAX_ERRORS_READ = 1_000
/** Maximum number of allowed values that an error message lists. */
export const MAX_LISTED = 20
export const MAX_LISTED_CHARS = 60

export const MAX_COMPILED_SCHEMAS = 1_000
/** Maximum schemas per Ajv instance, which keeps all of them in memory. After that, a new instance replaces it. */
export const MAX_COMPILES_PER_AJV = 1_000

/** A keyword's value if it is an array, else an empty array. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** A keyword's value if it is an object, else an empty object. */
export function membersOf(value: unknown): AnyObject {
  return isObject(value) ? value : {}
}

/** Whether JSON can represent a value: no `1e999`, no lone surrogates. */
export function isCanonical(value: unknown): boolean {
  return typeof value === 'string' ? value.isWellFormed() : typeof value !== 'number' || Number.isFinite(value)
}

/** Joins a path and a name. Long names are shortened, since callers choose them. */
export function joinPath(path: string, name: string | number): string {
  const shown = String(name).slice(0, MAX_LISTED_CHARS)
  return path === '' ? shown : `${path}.${shown}`
}
