import { z } from 'zod'
import { type IdNoun, idPrefixes } from './id-prefixes.ts'

/** Schema of one noun's ids. */
export function idOf(noun: IdNoun) {
  const prefix = idPrefixes[noun]
  return z
    .string()
    .regex(new RegExp(`^${prefix}[0-9a-f]{16}$`))
    .meta({ description: `${noun} id`, examples: [`${prefix}0123456789abcdef`] })
}
