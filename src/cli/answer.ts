import { isShallow, jsonIn } from '../core/json.ts'
import { withoutMarks } from '../text/text.ts'
import { CliError } from './exit.ts'

/** Maximum nesting of a response; the API contract needs far less. */
const DEPTH_MAX = 200
/** Matches text that may contain style markers, plain or JSON-escaped. */
const MAY_HOLD_MARKS = /[\uFDD0-\uFDEF]|\\u[fF][dD][dDeE]/

/** Parses untrusted JSON. @returns undefined if invalid. @throws CliError `failure` when nested too deep */
export function parseAnswer(text: string): { readonly value: unknown } | undefined {
  const parsed = jsonIn(text)
  if (parsed === undefined) return undefined
  if (!isShallow(parsed.value, DEPTH_MAX)) {
    throw new CliError('failure', `The response of the instance is nested more than ${DEPTH_MAX} levels deep.`)
  }
  return MAY_HOLD_MARKS.test(text) ? { value: eachText(parsed.value, withoutMarks) } : parsed
}

/** Copies a JSON value with all its strings replaced, including member names. Class instances are not changed. */
export function eachText(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map((member) => eachText(member, change))
  if (typeof value !== 'object' || value === null || !isPlain(value)) return value
  const copy: Record<string, unknown> = {}
  for (const [name, member] of Object.entries(value)) {
    // defineProperty keeps a member named `__proto__` as data; an assignment would set the prototype.
    const settings = { enumerable: true, configurable: true, writable: true }
    Object.defineProperty(copy, change(name), { ...settings, value: eachText(member, change) })
  }
  return copy
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
