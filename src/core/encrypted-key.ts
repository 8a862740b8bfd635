import { pbkdf2, scrypt } from 'node:crypto'
import { bytesToHex } from '@noble/hashes/utils.js'
import { z } from 'zod'
import { AppError } from './error.ts'
import { type Hex, toBytes32 } from './hex.ts'
import { jsonIn } from './json.ts'

/*
 * A private key in a file of the Web3 Secret Storage definition, version 3, as other Ethereum programs write and read it.
 * Both ways derive a key from the passphrase, which takes seconds by intention.
 */

const MAX_SCRYPT_N = 2 ** 20
const MAX_SCRYPT_WORK = 64
const MAX_ITERATIONS = 10_000_000
/** What scrypt may take for one file, as other programs write it. */
const MAX_SCRYPT_BYTES = 2 ** 30 + 2 ** 20
const SCRYPT_N = 2 ** 18
const KEY_BYTES = 32
const IV_BYTES = 16
const Text = z.string().regex(/^[0-9a-f]{2,128}$/i)
const length = { dklen: z.literal(KEY_BYTES), salt: Text }
const KeyFile = z.object({
  version: z.literal(3),
  id: z.string(),
  crypto: z.intersection(
    z.object({
      cipher: z.literal('aes-128-ctr'),
      ciphertext: Text,
      cipherparams: z.object({ iv: Text }),
      mac: Text,
    }),
    z.discriminatedUnion('kdf', [
      z.object({
        kdf: z.literal('scrypt'),
        kdfparams: z.object({
          ...length,
          n: z.int().max(MAX_SCRYPT_N),
          r: z.int().max(MAX_SCRYPT_WORK),
          p: z.int().max(MAX_SCRYPT_WORK),
        }),
      }),
      z.object({
        kdf: z.literal('pbkdf2'),
        kdfparams: z.object({ ...length, c: z.int().max(MAX_ITERATIONS), prf: z.literal('hmac-sha256') }),
      }),
    ]),
  ),
})

/** Whether the text of a key file is encrypted; a plain one has only digits. */
export function isEncryptedKey(text: string): boolean {
  return text.trimStart().startsWith('{')
}

type Kdf = z.infer<typeof KeyFile>['crypto']

/** Derives the key of a file. In a thread of Node, so that a market goes on meanwhile. */
async function secretOf({ kdf, kdfparams }: Pick<Kdf, 'kdf' | 'kdfparams'>, passphrase: string): Promise<Hex> {
  const password = passphrase.normalize('NFKC')
  const salt = Buffer.from(kdfparams.salt, 'hex')
  const { c, n: N = 0, r = 0, p = 0 }: { c?: number; n?: number; r?: number; p?: number } = kdfparams
  // OpenSSL refuses a cost that lies in p alone, as files of earlier builds have it.
  if (kdf === 'scrypt' && r === 1) {
    const { scryptAsync } = await import('@noble/hashes/scrypt.js')
    return `0x${bytesToHex(await scryptAsync(password, salt, { N, r, p, dkLen: KEY_BYTES }))}`
  }
  const bytes = await new Promise<Buffer>((resolve, reject) => {
    const end = (error: Error | null, key: Buffer) => (error ? reject(error) : resolve(key))
    if (kdf === 'pbkdf2') pbkdf2(password, salt, c ?? 0, KEY_BYTES, 'sha256', end)
    else scrypt(password, salt, KEY_BYTES, { N, r, p, maxmem: MAX_SCRYPT_BYTES }, end)
  })
  return `0x${bytes.toString('hex')}`
}

/** @param n - cost of scrypt; less than the default is for tests */
export async function encryptKey(key: Hex, passphrase: string, n = SCRYPT_N): Promise<string> {
  const { encrypt } = await import('ox/Keystore')
  const { random } = await import('ox/Bytes')
  const salt = bytesToHex(random(KEY_BYTES))
  const options = { kdf: 'scrypt', kdfparams: { dklen: KEY_BYTES, n, r: 8, p: 1, salt } } as const
  const secret = await secretOf(options, passphrase)
  return `${JSON.stringify(encrypt(key, () => secret, { ...options, iv: random(IV_BYTES) }))}\n`
}

/**
 * @param name - of the file, for errors
 * @throws AppError `unauthorized` for a wrong passphrase, `invalid_request` for another kind of file
 */
export async function decryptKey(text: string, passphrase: string, name: string): Promise<Hex> {
  const parsed = KeyFile.safeParse(jsonIn(text)?.value)
  if (!parsed.success) {
    throw new AppError('invalid_request', `${name} is neither a private key nor an encrypted key file (version 3).`)
  }
  const { decrypt } = await import('ox/Keystore')
  const secret = await secretOf(parsed.data.crypto, passphrase)
  try {
    const key = toBytes32(decrypt(parsed.data, () => secret))
    if (key !== undefined) return key
  } catch (cause) {
    throw new AppError('unauthorized', `Wrong passphrase for ${name}.`, { cause, extra: { key_file: true } })
  }
  throw new AppError('invalid_request', `${name} does not contain a private key of ${KEY_BYTES} bytes.`)
}
