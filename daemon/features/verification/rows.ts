import { z } from 'zod'
import { attemptStatuses } from '../../../src/model/words.ts'
import { type AnyCollection, defineCollection, stored } from '../../store/port.ts'

/** A verification attempt (decisions §6). */
export const attempts = defineCollection('verification_attempts', {
  schema: z.strictObject({
    ...stored,
    participant_id: z.string(),
    status: z.enum(attemptStatuses),
    /** True while the attempt is open. A participant has at most one open attempt. */
    live: z.boolean(),
    /** SHA-256 hex of the consent token; null once used or obsolete. */
    token_hash: z.string().nullable(),
    /** Token expiry, wall time. */
    token_expires_at: z.int(),
    /** Name of the person who consented. */
    operator_name: z.string().nullable(),
    consented_at: z.int().nullable(),
    vendor_session: z.string().nullable(),
    vendor_url: z.string().nullable(),
    /** Vendor's reason. */
    reason: z.string().nullable(),
    ended_at: z.int().nullable(),
    /** Expiry of the attempt in business time. Only `token_expires_at` is in wall time. */
    expires_at: z.int(),
    created_at: z.int(),
  }),
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
export type AttemptRow = z.infer<typeof attempts.schema>

export const verificationCollections: readonly AnyCollection[] = [attempts]
