import { createHash } from 'node:crypto'

/** Credentials are kept as this only: SHA-256, hex (decisions §3). */
export function hashSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex')
}
