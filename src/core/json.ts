/** What JSON text holds. */
export type Json = string | number | boolean | null | Json[] | { [member: string]: Json }

/** An object at whose members nobody has looked yet. */
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
