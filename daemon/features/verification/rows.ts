import { z } from 'zod'
import { attemptStatuses } from '../../../src/model/words.ts'
import { type AnyCollection, defineCollection } from '../../store/port.ts'
/** An attempt to verify who stands behind a participant (decisions §6). */
export const AttemptRow = z.strictObject({
  id: z.string(),
  version: z.int(),
  participant_id: z.string(),
  status: z.enum(attemptStatuses),
  /** Whether it has not ended; one a participant. */
  live: z.boolean(),
  /** SHA-256 of the consent token, hex; null once it was used or is of no use. */
  token_hash: z.string().nullable(),
  /** End of the token, in wall time. */
  token_expires_at: z.int(),
  /** Who consented, as they wrote their name. */
  operator_name: z.string().nullable(),
  consented_at: z.int().nullable(),
  /** Session at the vendor. */
  vendor_session: z.string().nullable(),
  vendor_url: z.string().nullable(),
  /** Why, as the vendor says. */
  reason: z.string().nullable(),
  ended_at: z.int().nullable(),
  /** End of the attempt, in business time as are all others here. */
  expires_at: z.int(),
  created_at: z.int(),
})
export type AttemptRow = z.infer<typeof AttemptRow>

/** Attempts to verify who stands behind a participant. */
export const attempts = defineCollection('verification_attempts', {
  schema: AttemptRow,
  key: 'id',
  indexes: [
    { name: 'token', fields: ['token_hash'], unique: true },
    { name: 'session', fields: ['vendor_session'] },
    { name: 'live', fields: ['participant_id'], unique: true, where: { field: 'live', equals: true } },
    { name: 'own', fields: ['participant_id', 'created_at'], order: 'desc' },
    { name: 'due', fields: ['expires_at'], where: { field: 'live', equals: true } },
    { name: 'newest', fields: ['created_at'], order: 'desc' },
    { name: 'status', fields: ['status', 'created_at'], order: 'desc' },
  ],
})

export const verificationCollections: readonly AnyCollection[] = [attempts]
