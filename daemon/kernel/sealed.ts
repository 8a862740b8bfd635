import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto'

const KEY_BYTES = 32
const IV_BYTES = 12
const TAG_BYTES = 16
const SALT = 'souk sealed answer v1'

/** Input of the encryption key: a secret that the store does not have, and the sealed response's idempotency key. */
export type SealKey = { readonly proof: string; readonly idempotencyKey: string }

function derive(key: SealKey): Buffer {
  return Buffer.from(hkdfSync('sha256', key.proof, SALT, key.idempotencyKey, KEY_BYTES))
}

/** AES-256-GCM box of JSON, base64 of iv ‖ tag ‖ ciphertext (decisions §4 Retry). */
export function seal(value: unknown, key: SealKey, iv: Buffer): string {
  const cipher = createCipheriv('aes-256-gcm', derive(key), iv)
  const sealed = Buffer.concat([cipher.update(JSON.stringify(value), 'utf8'), cipher.final()])
  return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64')
}

export const SEAL_IV_BYTES = IV_BYTES

/** Decrypts a sealed value; undefined if the key is wrong. */
export function unseal(box: string, key: SealKey): unknown {
  const bytes = Buffer.from(box, 'base64')
  const decipher = createDecipheriv('aes-256-gcm', derive(key), bytes.subarray(0, IV_BYTES))
  decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES))
  try {
    const opened = Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()])
    return JSON.parse(opened.toString('utf8'))
  } catch {
    // Wrong key.
    return undefined
  }
}
