import { safe } from '../../text/cells.ts'

/*
 * Answers are read member by member: what is missing or of another shape is left out, whatever version the instance
 * has, and all text in it is made fit for a terminal here, where it comes in.
 */

export type Fields = Readonly<Record<string, unknown>>

export function fields(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}
}

export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

export function text(value: unknown): string {
  return typeof value === 'string' ? safe(value) : ''
}

export function number(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}

/** An ISO 8601 time as epoch milliseconds. */
export function time(value: unknown): number | undefined {
  const at = typeof value === 'string' ? Date.parse(value) : Number.NaN
  return Number.isNaN(at) ? undefined : at
}

/** One of a closed set, or the fallback. */
export function oneOf<const T extends string, const F>(known: readonly T[], value: unknown, fallback: F): T | F {
  return known.find((one) => one === value) ?? fallback
}
