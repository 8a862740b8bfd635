import {
  type AnyObject,
  isObject,
} from '../core/json.ts' /** Bounds on what a stranger may make the daemon compile and run (decisions §7). */
export const MAX_SCHEMA_BYTES = 32 * 1024
/** Subschemas nested in each other below the root, counted with every `$ref` written out. */
export const MAX_SCHEMA_DEPTH = 8
/** Declared properties in the whole schema, counted with every `$ref` written out. */
export const MAX_SCHEMA_PROPERTIES = 200
/** Subschemas in the whole schema, counted with every `$ref` written out: the factor of the work per value. */
export const MAX_SUBSCHEMAS = 500
/** Written-out size: a schema may not use `$ref` to multiply a large literal. */
export const MAX_EXPANDED_CHARS = 4 * MAX_SCHEMA_BYTES
/** Nesting of the JSON text itself, literals included. */
export const MAX_JSON_DEPTH = 64

export const MAX_PATTERN_CHARS = 200
/** Instructions of a compiled pattern: a match costs at most this many steps per character. */
export const MAX_PATTERN_INSTRUCTIONS = 1_000

/** Elementary steps (pattern instructions × characters, members hashed) that one validation may cost. */
export const MAX_VALIDATION_STEPS = 10_000_000
/** A node against one subschema costs about a tenth of a step. */
export const CHECKS_PER_STEP = 10
/** Values above this size get their first error only, not all of them. */
export const MAX_NODES_FOR_ALL_ERRORS = 200
export const MAX_DETAILS = 20
/** Errors of one value that are looked at for them: what repeats another is found by comparing. */
export const MAX_ERRORS_READ = 1_000
/** Choices and field names listed in one message. */
export const MAX_LISTED = 20
export const MAX_LISTED_CHARS = 60

/** Compiled schemas kept for reuse. */
export const MAX_COMPILED_SCHEMAS = 1_000
/** An Ajv instance keeps what it ever compiled, so it is replaced after this many. */
export const MAX_COMPILES_PER_AJV = 1_000

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
