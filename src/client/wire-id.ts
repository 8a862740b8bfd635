import { AppError } from '../core/error.ts'
import { type IdNoun, idPrefixes } from '../core/id-prefixes.ts'

/** Whether a text is an id: prefix and 16 hex digits, safe in a path. */
export function isId(noun: IdNoun, text: unknown): text is string {
  return typeof text === 'string' && new RegExp(`^${idPrefixes[noun]}[0-9a-f]{16}$`).test(text)
}

/** A validated id for a path. @throws AppError internal if invalid */
export function wireId(noun: IdNoun, given: unknown): string {
  if (isId(noun, given)) return given
  const shown = JSON.stringify(given)?.slice(0, 60)
  throw new AppError('internal', `The instance returned an invalid ${noun} id, ${shown}; it was not used.`)
}
