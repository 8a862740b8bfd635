import { createHmac } from 'node:crypto'
import { unixSeconds } from './time.ts'

/** Prefix of base64 secrets (Standard Webhooks). */
const SECRET_PREFIX = 'whsec_'

export type Signing = {
  /** Message id. It is the same in all attempts, so receivers use it as their idempotency key. */
  readonly id: string
  readonly body: string
  /** Current secret first; during a rotation, the previous secret follows. */
  readonly secrets: readonly string[]
  /** Wall time of this attempt, epoch milliseconds. */
  readonly wall: number
}

/**
 * Signs an attempt in both forms (decisions §10). Standard Webhooks signs `id.timestamp.body`, once per secret. The hex
 * form signs `timestamp.body`, with the secret's text as the key. During a rotation, the hex signature of the previous
 * secret has its own header.
 */
export function signedHeaders({ id, body, secrets, wall }: Signing): Record<string, string> {
  const timestamp = String(unixSeconds(wall))
  const [current, previous] = secrets.map(
    (secret) => `sha256=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`,
  )
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': secrets.map((secret) => standardSignature(secret, `${id}.${timestamp}.${body}`)).join(' '),
    'x-webhook-timestamp': timestamp,
    'x-webhook-signature': current ?? '',
    ...(previous === undefined ? {} : { 'x-webhook-signature-previous': previous }),
  }
}

/** Bytes of a secret (Standard Webhooks). */
export function standardKey(secret: string): Uint8Array {
  return Buffer.from(secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : secret, 'base64')
}

function standardSignature(secret: string, content: string): string {
  return `v1,${createHmac('sha256', standardKey(secret)).update(content).digest('base64')}`
}
