import { isShallow, jsonIn } from '../core/json.ts'
import { withoutMarks } from '../text/text.ts'
import { CliError } from './exit.ts'

/** Deepest nesting of an answer: the deepest of the contract, schemas, stay far below. */
const DEPTH_MAX = 200
/** Whether anything in a JSON text could be a character that styles travel as, written out or escaped. */
const MAY_HOLD_MARKS = /[\uFDD0-\uFDEF]|\\u[fF][dD][dDeE]/

/**
 * Reads JSON that somebody else wrote.
 * @returns undefined for what is no JSON.
 * @throws CliError failure when it is nested deeper than anything that is meant to be read.
 */
export function parseAnswer(text: string): { readonly value: unknown } | undefined {
  const parsed = jsonIn(text)
  if (parsed === undefined) return undefined
  if (!isShallow(parsed.value, DEPTH_MAX)) {
    throw new CliError('failure', `The answer of the instance is nested deeper than ${DEPTH_MAX}.`)
  }
  return MAY_HOLD_MARKS.test(text) ? { value: eachText(parsed.value, withoutMarks) } : parsed
}

/** A copy with every text changed, names of members too; what is no plain data stays as it is. */
export function eachText(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map((member) => eachText(member, change))
  if (typeof value !== 'object' || value === null || !isPlain(value)) return value
  const copy: Record<string, unknown> = {}
  for (const [name, member] of Object.entries(value)) {
    // A member called __proto__ is data, as JSON.parse left it.
    const settings = { enumerable: true, configurable: true, writable: true }
    Object.defineProperty(copy, change(name), { ...settings, value: eachText(member, change) })
  }
  return copy
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
