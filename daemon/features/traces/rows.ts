import { z } from 'zod'
import { StoredWallet } from '../../../src/core/codecs.ts'
import { JsonObject } from '../../../src/model/service.ts'
import { type AnyCollection, defineCollection, stored } from '../../store/port.ts'

/** One recorded purchase attempt (decisions §11). Kept for 90 days. */
export const traces = defineCollection('traces', {
  schema: z.strictObject({
    ...stored,
    /** Owner of the trace: the wallet of the API key or of the signature. */
    signer: StoredWallet,
    /** Chosen by the signer, and unique among that signer's events. */
    event_id: z.string(),
    /** keccak-256 of the event's RFC 8785 form. Detects a different event with the same id. */
    event_hash: z.string(),
    event: JsonObject,
    /** SHA-256 hex of the link's token; null after the link was opened. */
    token_hash: z.string().nullable(),
    /** Wall time. */
    link_expires_at: z.int(),
    at: z.int(),
  }),
  indexes: [
    { name: 'event', fields: ['signer', 'event_id'], unique: true },
    { name: 'signer', fields: ['signer', 'at'] },
    { name: 'token', fields: ['token_hash'], unique: true },
    { name: 'at', fields: ['at'] },
  ],
})
export type TraceRow = z.infer<typeof traces.schema>

export const traceCollections: readonly AnyCollection[] = [traces]
