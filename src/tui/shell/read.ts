import type { Json } from '../../core/json.ts'
import { safe } from '../../text/text.ts'

type Maybe<T> = T | null | undefined

export function text(value: Maybe<string>): string {
  return value === null || value === undefined ? '' : safe(value)
}

/** ISO 8601 time as epoch milliseconds. */
export function time(value: Maybe<string>): number | undefined {
  return value === null || value === undefined ? undefined : Date.parse(value)
}

export type Fields = { readonly [name: string]: Json }

export function fields(value: Maybe<Json>): Fields {
  return typeof value === 'object' && value !== null && !isList(value) ? value : {}
}

function isList(value: Json): value is Json[] {
  return Array.isArray(value)
}

export function list(value: Json = null): readonly Json[] {
  return isList(value) ? value : []
}

/** Text, or empty. */
export function word(value: Maybe<Json>): string {
  return typeof value === 'string' ? safe(value) : ''
}

export function number(value: Maybe<Json>): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}
