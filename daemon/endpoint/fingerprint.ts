import { hash } from 'node:crypto'
import canonicalize from 'canonicalize'
import { invalidField } from '../../src/core/error.ts'
import { MAX_IDEMPOTENCY_KEY_CHARS } from '../../src/core/limits.ts'
import type { Exchange } from './exchange.ts'
import { turnFor } from './json.ts'

export const idempotencyHeader = 'Idempotency-Key'
const PRINTABLE = /^[\x21-\x7e]+$/

/**
 * Identity of a request (decisions §4 Retry): SHA-256 of method, path, sorted query, canonical body (RFC 8785) and
 * calling participant. `participantId` is null for a payment, which is found by its payer.
 */
export async function fingerprintOf(exchange: Exchange, participantId: string | null): Promise<string> {
  const query = Object.entries(exchange.query()).sort(([a], [b]) => (a < b ? -1 : 1))
  const body = (await exchange.body()) ?? null
  await turnFor(exchange.header)
  // JSON.stringify writes strings and lists of strings in canonical form.
  const target = JSON.stringify([exchange.method, exchange.path, query]).slice(0, -1)
  const caller = participantId === null ? 'null' : JSON.stringify(participantId)
  return hash('sha256', `${target},${body === null ? 'null' : canonicalize(body)},${caller}]`)
}

/** @throws AppError 400 on a key that is empty, too long or not printable ASCII. */
export function idempotencyKeyOf(exchange: Exchange): string | undefined {
  const value = exchange.header(idempotencyHeader)
  if (value === undefined) return undefined
  if (value.length > MAX_IDEMPOTENCY_KEY_CHARS || !PRINTABLE.test(value)) {
    throw invalidField(idempotencyHeader, `must be 1 to ${MAX_IDEMPOTENCY_KEY_CHARS} printable ASCII characters`)
  }
  return value
}

/** Hash of caller, method, path and `Idempotency-Key`. So other callers and paths can use the same key. */
export function idempotencyScope(exchange: Exchange, who: string, key: string): string {
  return hash('sha256', JSON.stringify([who, exchange.method, exchange.path, key]))
}
