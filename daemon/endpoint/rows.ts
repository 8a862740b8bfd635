import { z } from 'zod'
import type { AnyCollection } from '../store/port.ts'
import { defineCollection } from '../store/port.ts'
/** What the administrator's request with an `Idempotency-Key` was answered. */
export const AdminAnswerRow = z.strictObject({
  /** SHA-256 of who, method, path and key. */
  id: z.string(),
  version: z.int(),
  /** SHA-256 of what was asked for. */
  fingerprint: z.string(),
  /** JSON text. */
  body: z.string(),
  at: z.int(),
})
export type AdminAnswerRow = z.infer<typeof AdminAnswerRow>

export const adminAnswers = defineCollection('admin_answers', {
  schema: AdminAnswerRow,
  key: 'id',
  indexes: [{ name: 'at', fields: ['at'] }],
})

export const endpointCollections: readonly AnyCollection[] = [adminAnswers]
