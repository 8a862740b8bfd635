import { z } from 'zod'
import { AppError } from '../../src/core/error.ts'
import { type AnyCollection, defineCollection, stored, type Tx } from '../store/port.ts'
import type { Encoded, Retry } from './handler.ts'

/** Stored response to an admin request with an `Idempotency-Key`. */
const AdminAnswerRow = z.strictObject({
  /** SHA-256 of caller, method, path and key. */
  ...stored,
  /** SHA-256 of the request; see `fingerprintOf`. */
  fingerprint: z.string(),
  /** JSON text. */
  body: z.string(),
  at: z.int(),
})

export const adminAnswers = defineCollection('admin_answers', {
  schema: AdminAnswerRow,
  indexes: [{ name: 'at', fields: ['at'] }],
})

export const endpointCollections: readonly AnyCollection[] = [adminAnswers]

type Once<V> = {
  /** Undefined without an `Idempotency-Key`; then no response is stored. */
  readonly retry: Retry | undefined
  readonly schema: z.ZodType<V>
  readonly now: number
}

/**
 * Runs `work` once for an `Idempotency-Key`, within the transaction `t`. The same request with the same key gets the
 * first response for 24 hours (decisions §4).
 * @throws AppError 409 idempotency_mismatch when the key was used for another request.
 */
export async function once<V>(t: Tx, { retry, schema, now }: Once<V>, work: () => Promise<V>): Promise<V | Encoded> {
  if (!retry) return work()
  const { id, fingerprint } = retry
  const known = await t.table(adminAnswers).getForUpdate(id)
  if (known && known.fingerprint !== fingerprint) {
    throw new AppError('idempotency_mismatch', 'This Idempotency-Key was already used for another request.')
  }
  if (known) return { bytes: Buffer.from(known.body), cache: 'no-store', replayed: true }
  const value = await work()
  const body = JSON.stringify(z.encode(schema, value))
  await t.table(adminAnswers).put({ id, fingerprint, body, at: now })
  return value
}
