import { scryptSync } from 'node:crypto'
import { encrypt } from 'ox/Keystore'
import { expect, test } from 'vitest'
import { decryptKey, encryptKey, isEncryptedKey } from './encrypted-key.ts'

const KEY = '0x7a28b5ba57c53603b0b07b56bba752f7784bf506fa95edc395f5cf6c7514fe9d'
/** The two examples of the Web3 Secret Storage definition. */
const crypto = { cipher: 'aes-128-ctr' }
const published = {
  pbkdf2: {
    ...crypto,
    cipherparams: { iv: '6087dab2f9fdbbfaddc31a909735c1e6' },
    ciphertext: '5318b4d5bcd28de64ee5559e671353e16f075ecae9f99c7a79a38af5f869aa46',
    kdf: 'pbkdf2',
    kdfparams: {
      c: 262144,
      dklen: 32,
      prf: 'hmac-sha256',
      salt: 'ae3cd4e7013836a3df6bd7241b12db061dbe2c6785853cce422d148a624ce0bd',
    },
    mac: '517ead924a9d0dc3124507e3393d175ce3ff7c1e96529c6c555ce9e51205e9b2',
  },
  scrypt: {
    ...crypto,
    cipherparams: { iv: '83dbcc02d8ccb40e466191a123791e0e' },
    ciphertext: 'd172bf743a674da9cdad04534d56926ef8358534d458fffccd4e6ad2fbde479c',
    kdf: 'scrypt',
    kdfparams: {
      dklen: 32,
      n: 262144,
      p: 8,
      r: 1,
      salt: 'ab0c7876052600dd703518d6fc3fe8984592145b591fc8fb5c6d43190334ba19',
    },
    mac: '2103ac29920d71da29f15d75b4a16dbe95cfd7ff8faea1056c33131d846e3097',
  },
}
const fileOf = (kind: keyof typeof published) =>
  JSON.stringify({ crypto: published[kind], id: '3198bc9c-6672-5ab3-d995-4942343ae5b6', version: 3 })

test.each(['pbkdf2', 'scrypt'] as const)('the published example with %s is read', async (kind) => {
  expect(await decryptKey(fileOf(kind), 'testpassword', 'the file')).toBe(KEY)
})

test('a wrong passphrase is told as such, without the passphrase or the key', async () => {
  const failed = await decryptKey(fileOf('pbkdf2'), 'testpassward', 'gas.key').catch((error: unknown) => error)
  expect(failed).toMatchObject({ code: 'unauthorized', message: 'Wrong passphrase for gas.key.' })
})

test('a file as geth and Foundry write it is read: its cost of scrypt lies in r, not in p', async () => {
  const [password, salt] = ['testpassword', '11'.repeat(32)]
  const secret = scryptSync(password, Buffer.from(salt, 'hex'), 32, { N: 8_192, r: 8, p: 1 })
  const kdfparams = { dklen: 32, n: 8_192, r: 8, p: 1, salt }
  const iv = Buffer.alloc(16, 7)
  const file = encrypt(KEY, () => `0x${secret.toString('hex')}`, { kdf: 'scrypt', kdfparams, iv })
  expect(await decryptKey(JSON.stringify(file), password, 'the file')).toBe(KEY)
})

test('what was encrypted is decrypted, by the same passphrase in another Unicode form too', async () => {
  const text = await encryptKey(KEY, 'gru\u0308n und lang', 1_024)
  expect(isEncryptedKey(text)).toBe(true)
  expect(isEncryptedKey(KEY)).toBe(false)
  expect(text).not.toContain(KEY.slice(2))
  expect(await decryptKey(text, 'gr\u00fcn und lang', 'the file')).toBe(KEY)
})

const bad = (change: object) => JSON.stringify({ ...JSON.parse(fileOf('scrypt')), ...change })
const kdfparams = { ...published.scrypt.kdfparams, n: 2 ** 30 }
test.each([
  ['{', 'no JSON'],
  [bad({ version: 1 }), 'another version'],
  [bad({ crypto: { ...published.scrypt, kdfparams } }), 'a cost without bound'],
  [bad({ crypto: { ...published.scrypt, cipher: 'aes-256-cbc' } }), 'another cipher'],
])('%# is refused', async (text) => {
  await expect(decryptKey(text, 'testpassword', 'x')).rejects.toMatchObject({ code: 'invalid_request' })
})
