import { createHmac } from 'node:crypto'
import { unixSeconds } from './time.ts'

/** What precedes the base64 of a secret's bytes (Standard Webhooks). */
const SECRET_PREFIX = 'whsec_'

export type Signing = {
  /** Stable over tries, the receiver's idempotency key. */
  readonly id: string
  readonly body: string
  /** The current secret first; during a rotation the one before it too. */
  readonly secrets: readonly string[]
  /** Wall time of this try, epoch milliseconds. */
  readonly wall: number
}

/**
 * Signs one try in both forms at once (decisions §10): Standard Webhooks over `id.timestamp.body` with the decoded
 * secret and one signature for each secret, and the hex form over `timestamp.body` with the secret as it is written.
 * The hex form has one place only, so the signature under the old secret stands in a header of its own.
 */
export function signedHeaders({ id, body, secrets, wall }: Signing): Record<string, string> {
  const timestamp = String(unixSeconds(wall))
  const [current, previous] = secrets.map((secret) => hexSignature(secret, `${timestamp}.${body}`))
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': secrets.map((secret) => standardSignature(secret, `${id}.${timestamp}.${body}`)).join(' '),
    'x-webhook-timestamp': timestamp,
    'x-webhook-signature': current ?? '',
    ...(previous === undefined ? {} : { 'x-webhook-signature-previous': previous }),
  }
}

/** The bytes that a secret stands for (Standard Webhooks). */
export function standardKey(secret: string): Uint8Array {
  return Buffer.from(secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : secret, 'base64')
}

function standardSignature(secret: string, content: string): string {
  return `v1,${createHmac('sha256', standardKey(secret)).update(content).digest('base64')}`
}

function hexSignature(secret: string, content: string): string {
  return `sha256=${createHmac('sha256', secret).update(content).digest('hex')}`
}
