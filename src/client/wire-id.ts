import { AppError } from '../core/error.ts'
import { type IdNoun, idPrefixes } from '../core/id-prefixes.ts'

/** Whether a text has the form of an id: its prefix and 16 hex digits, nothing that a path could be led away by. */
export function isId(noun: IdNoun, text: unknown): text is string {
  return typeof text === 'string' && new RegExp(`^${idPrefixes[noun]}[0-9a-f]{16}$`).test(text)
}

/** An id as an instance gave it, fit for a path. @throws AppError internal for anything else. */
export function wireId(noun: IdNoun, given: unknown): string {
  if (isId(noun, given)) return given
  const shown = JSON.stringify(given)?.slice(0, 60)
  throw new AppError('internal', `The instance gave ${shown} as the id of a ${noun}; it is not valid and was not used.`)
}
