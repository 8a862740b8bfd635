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
const KEY_BYTES = 32
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

/** @param cost - scrypt n; less than the default is for tests */
export async function encryptKey(key: Hex, passphrase: string, cost?: number): Promise<string> {
  const { encrypt, scryptAsync } = await import('ox/Keystore')
  const [secret, options] = await scryptAsync({ password: passphrase.normalize('NFKC'), n: cost })
  return `${JSON.stringify(encrypt(key, secret, options))}\n`
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
  const { decrypt, toKeyAsync } = await import('ox/Keystore')
  const secret = await toKeyAsync(parsed.data, { password: passphrase.normalize('NFKC') })
  try {
    const key = toBytes32(decrypt(parsed.data, secret))
    if (key !== undefined) return key
  } catch (cause) {
    throw new AppError('unauthorized', `Wrong passphrase for ${name}.`, { cause, extra: { key_file: true } })
  }
  throw new AppError('invalid_request', `${name} does not contain a private key of ${KEY_BYTES} bytes.`)
}
