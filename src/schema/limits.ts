import {
  type AnyObject,
  isObject,
} from '../core/json.ts' /** Bounds on what a stranger may make the daemon compile and run (decisions §7). */
export const MAX_SCHEMA_BYTES = 32 * 1024
/** Nesting of subschemas, expanded. */
export const MAX_SCHEMA_DEPTH = 8
/** Properties in the schema, expanded. */
export const MAX_SCHEMA_PROPERTIES = 200
/** Subschemas, expanded: the cost factor per value. */
export const MAX_SUBSCHEMAS = 500
/** Expanded size, so `$ref` cannot multiply literals. */
export const MAX_EXPANDED_CHARS = 4 * MAX_SCHEMA_BYTES
/** Nesting of the JSON text. */
export const MAX_JSON_DEPTH = 64

export const MAX_PATTERN_CHARS = 200
/** Pattern instructions: steps per character. */
export const MAX_PATTERN_INSTRUCTIONS = 1_000

/** Steps per validation (instructions × characters, members hashed). */
export const MAX_VALIDATION_STEPS = 10_000_000
export const CHECKS_PER_STEP = 10
/** Larger values report their first error only. */
export const MAX_NODES_FOR_ALL_ERRORS = 200
export const MAX_DETAILS = 20
/** Errors examined per value. */
export const MAX_ERRORS_READ = 1_000
/** Items listed per message. */
export const MAX_LISTED = 20
export const MAX_LISTED_CHARS = 60

export const MAX_COMPILED_SCHEMAS = 1_000
/** Ajv keeps all compiled schemas, so it is replaced after this many. */
export const MAX_COMPILES_PER_AJV = 1_000

/** A keyword's list; empty if none. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** A keyword's members; none if not an object. */
export function membersOf(value: unknown): AnyObject {
  return isObject(value) ? value : {}
}

/** Whether a value is canonical: no `1e999`, no lone surrogates. */
export function isCanonical(value: unknown): boolean {
  return typeof value === 'string' ? value.isWellFormed() : typeof value !== 'number' || Number.isFinite(value)
}

/** Shortens foreign names in paths. */
export function joinPath(path: string, name: string | number): string {
  const shown = String(name).slice(0, MAX_LISTED_CHARS)
  return path === '' ? shown : `${path}.${shown}`
}
