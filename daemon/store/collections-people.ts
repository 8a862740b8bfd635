import { AttemptRow } from '../../src/model/verification.ts'
import { defineCollection } from './port.ts'

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
