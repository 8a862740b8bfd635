import { z } from 'zod'
import type { AnyCollection } from '../store/port.ts'
import { defineCollection, stored } from '../store/port.ts'
/** Stored response to an admin request with an `Idempotency-Key`. */
export const AdminAnswerRow = z.strictObject({
  /** SHA-256 of caller, method, path and key. */
  ...stored,
  /** SHA-256 of the request; see `fingerprintOf`. */
  fingerprint: z.string(),
  /** JSON text. */
  body: z.string(),
  at: z.int(),
})
export type AdminAnswerRow = z.infer<typeof AdminAnswerRow>

export const adminAnswers = defineCollection('admin_answers', {
  schema: AdminAnswerRow,
  indexes: [{ name: 'at', fields: ['at'] }],
})

export const endpointCollections: readonly AnyCollection[] = [adminAnswers]
