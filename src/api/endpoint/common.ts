import { z } from 'zod'
import { DEFAULT_PAGE, MAX_PAGE, MAX_URL_CHARS } from '../../core/limits.ts'
import { httpUrl, staysHere } from '../../core/loopback.ts'
import { hiddenCharacter, isHouseName, MAX_PUBLIC_NAME_CHARS } from '../../core/public-name.ts'

/** A time from a caller: ISO 8601 with any offset, with or without milliseconds. */
export const TimeInput = z
  .codec(z.iso.datetime({ offset: true, error: 'must be a time like 2026-01-31T12:00:00Z' }), z.int(), {
    decode: (text) => Date.parse(text),
    encode: (ms) => new Date(ms).toISOString(),
  })
  .meta({ description: 'ISO 8601 with an offset', format: 'date-time' })

/** Public names of participants, listings, plans and products (decisions §12). */
export const PublicName = z
  .string()
  .trim()
  .normalize('NFC')
  .min(1)
  // What is too long is not read any further.
  .max(MAX_PUBLIC_NAME_CHARS, { abort: true })
  .superRefine((name, { addIssue }) => {
    const hidden = hiddenCharacter(name)
    if (hidden !== undefined) addIssue(`must not contain control or invisible characters; it has ${hidden}`)
    else if (isHouseName(name)) addIssue('looks like "souk", a reserved name: choose another one')
  })

export function queryInt(bounds: { min: number; max: number }) {
  return z
    .codec(z.string().regex(/^\d{1,9}$/, 'must be a whole number'), z.int().min(bounds.min).max(bounds.max), {
      decode: Number,
      encode: String,
    })
    .meta({ type: 'integer', minimum: bounds.min, maximum: bounds.max })
}

/** Page size of a discovery list; larger values are reduced to the maximum, as x402 clients expect. */
export const clampedLimit = z
  .codec(z.string().regex(/^\d{1,9}$/, 'must be a whole number'), z.int().min(1), {
    decode: (text) => Math.min(Number(text), MAX_PAGE),
    encode: String,
  })
  .optional()
  .meta({ type: 'integer', minimum: 1, description: `page size, at most ${MAX_PAGE} (default: ${DEFAULT_PAGE})` })

export const QueryBoolean = z.codec(z.enum(['true', 'false']), z.boolean(), {
  decode: (text) => text === 'true',
  encode: (value) => (value ? 'true' : 'false'),
})

/** Whether a webhook URL is valid: https, or http on this machine, and without credentials (decisions §10). */
function isWebhookUrl(text: string): boolean {
  const url = httpUrl(text)
  return url?.username === '' && url.password === '' && (url.protocol === 'https:' || staysHere(url))
}

export const WebhookUrl = z
  .string()
  .max(MAX_URL_CHARS)
  .refine(
    isWebhookUrl,
    'must be an https URL, or http to this machine (127.0.0.1, [::1], localhost), without an empty port',
  )
  .meta({ format: 'uri', description: 'https, or http on loopback' })

export const MAX_OFFSET = 1_000_000

/** Paging members of list responses. */
export const paged = { total: z.int(), limit: z.int(), offset: z.int() }

/** Paging parameters of all lists (decisions §1). */
export const pageQuery = {
  limit: queryInt({ min: 1, max: MAX_PAGE })
    .optional()
    .meta({ description: `rows per page (default: ${DEFAULT_PAGE})` }),
  offset: queryInt({ min: 0, max: MAX_OFFSET }).optional(),
}
