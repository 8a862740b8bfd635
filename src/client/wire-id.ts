import { AppError } from '../core/error.ts'
import { type IdNoun, idPrefixes } from '../core/id-prefixes.ts'

/** Whether a text is an id of this kind: prefix and 16 hex digits. Such text is safe in a path. */
export function isId(noun: IdNoun, text: unknown): text is string {
  return typeof text === 'string' && new RegExp(`^${idPrefixes[noun]}[0-9a-f]{16}$`).test(text)
}

/** Checks an id before it is put into a path. @throws AppError `internal` if it is invalid */
export function wireId(noun: IdNoun, given: unknown): string {
  if (isId(noun, given)) return given
  const shown = JSON.stringify(given)?.slice(0, 60)
  throw new AppError('internal', `The instance returned an invalid ${noun} id, ${shown}; it was not used.`)
}
