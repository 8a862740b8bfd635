import { attempt } from './error.ts'

export type Json = string | number | boolean | null | Json[] | { [member: string]: Json }

export type AnyObject = { readonly [member: string]: unknown }

export function isObject(value: unknown): value is AnyObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isJsonObject(value: Json): value is { [member: string]: Json } {
  return isObject(value)
}

/** @throws SyntaxError */
export function parseJson(text: string): Json {
  return JSON.parse(text)
}

/** @returns undefined for invalid JSON */
export function jsonIn(text: string): { readonly value: unknown } | undefined {
  return attempt(() => ({ value: JSON.parse(text) }))
}

/** A value typed as JSON; text that is not JSON stays text. */
export function jsonOrText(text: string): unknown {
  const parsed = jsonIn(text)
  return parsed === undefined ? text : parsed.value
}

/** Whether a value is nested at most `left` levels deep. */
export function isShallow(value: unknown, left: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  return left > 0 && Object.values(value).every((member) => isShallow(member, left - 1))
}
