import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { privateKeyToAddress } from 'viem/accounts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Hex } from '../core/hex.ts'
import {
  chooseWallet,
  createWallet,
  currentWallet,
  getWallet,
  listWallets,
  removeWallet,
  unlockWallet,
} from './wallets.ts'

const CREATED_AT = '2026-11-21T00:00:00.000Z'
const KEY = `0x${'4c'.repeat(32)}` as Hex
const PASSPHRASE = 'correct horse battery'
const BOX = { kdf: 'scrypt', n: 2, r: 1, p: 1, salt: '', cipher: 'aes-256-gcm', iv: '', data: '' }

let places: { config: string }

beforeEach(async () => {
  places = { config: await mkdtemp(join(tmpdir(), 'souk-wallets-')) }
})
afterEach(() => rm(places.config, { recursive: true }))

const make = (name: string, more: { passphrase?: string; privateKey?: string } = {}) =>
  createWallet(places, { name, createdAt: CREATED_AT, ...more })
const mode = (path: string) => (statSync(path).mode & 0o777).toString(8)
const neverAsked = async () => {
  throw new Error('no passphrase is needed')
}

describe('a plain wallet', () => {
  it('lies in a file and a folder of its owner alone, and says so', async () => {
    const wallet = await make('main')
    expect(wallet).toMatchObject({ name: 'main', protection: 'plain', active: true, created_at: CREATED_AT })
    expect([mode(wallet.file), mode(join(places.config, 'wallets'))]).toEqual(['600', '700'])
    const key = await unlockWallet(places, 'main', neverAsked)
    expect(privateKeyToAddress(key)).toBe(wallet.address)
  })

  it.each([KEY, KEY.slice(2), KEY.toUpperCase().replace('0X', '0x')])('imports %s', async (privateKey) => {
    const wallet = await make('main', { privateKey })
    expect(wallet.address).toBe(privateKeyToAddress(KEY))
    expect(await unlockWallet(places, 'main', neverAsked)).toBe(KEY)
  })

  it.each(['', '0x12', 'g'.repeat(64), `0x${'0'.repeat(64)}`, `0x${'f'.repeat(64)}`])(
    'refuses the key %j',
    async (privateKey) => {
      await expect(make('main', { privateKey })).rejects.toMatchObject({ code: 'invalid_request' })
      expect(listWallets(places)).toEqual([])
    },
  )
})

describe('an encrypted wallet', () => {
  it('gives the key back for its passphrase only, and holds it nowhere in the clear', async () => {
    const wallet = await make('safe', { privateKey: KEY, passphrase: PASSPHRASE })
    expect([wallet.protection, mode(wallet.file)]).toEqual(['encrypted', '600'])
    expect(readFileSync(wallet.file, 'utf8')).not.toContain(KEY.slice(2))
    expect(await unlockWallet(places, 'safe', async () => PASSPHRASE)).toBe(KEY)
    await expect(unlockWallet(places, 'safe', async () => 'another')).rejects.toMatchObject({ code: 'unauthorized' })
  })

  it('refuses a short passphrase', async () => {
    await expect(make('safe', { passphrase: 'short' })).rejects.toMatchObject({ code: 'invalid_request' })
  })

  it('notices any change of what is stored', async () => {
    const { file } = await make('safe', { privateKey: KEY, passphrase: PASSPHRASE })
    const stored = JSON.parse(readFileSync(file, 'utf8'))
    const digits = stored.encrypted.data as string
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: digits.length - 1 }), async (at) => {
        const flipped = (Number.parseInt(digits[at] ?? '0', 16) ^ 1).toString(16)
        const data = digits.slice(0, at) + flipped + digits.slice(at + 1)
        writeFileSync(file, JSON.stringify({ ...stored, encrypted: { ...stored.encrypted, data } }))
        await expect(unlockWallet(places, 'safe', async () => PASSPHRASE)).rejects.toMatchObject({
          code: 'unauthorized',
        })
      }),
      { numRuns: 8 },
    )
  })
})

describe('the keystore', () => {
  it('keeps the first wallet active until another is chosen', async () => {
    await make('one')
    await make('two')
    expect(currentWallet(places)?.name).toBe('one')
    expect(currentWallet(places, 'two')?.name).toBe('two')
    expect(chooseWallet(places, 'two').active).toBe(true)
    expect(listWallets(places).map(({ name, active }) => [name, active])).toEqual([
      ['one', false],
      ['two', true],
    ])
    removeWallet(places, 'two')
    expect(currentWallet(places)).toBeUndefined()
  })

  it('never writes over a wallet', async () => {
    const { address } = await make('main')
    await expect(make('main')).rejects.toMatchObject({ code: 'conflict' })
    expect(getWallet(places, 'main').address).toBe(address)
  })

  it.each(['', '../main', 'Main', 'a/b', '.hidden', 'x'.repeat(33)])('refuses the name %j', async (name) => {
    await expect(make(name)).rejects.toMatchObject({ code: 'invalid_request' })
  })

  it('names what there is when one is not found', () => {
    expect(() => getWallet(places, 'nobody')).toThrow('there is none')
  })

  it('names a damaged file instead of guessing', async () => {
    const { file } = await make('main')
    writeFileSync(file, '{"name":"main"')
    expect(() => getWallet(places, 'main')).toThrow(`${file} is damaged`)
  })

  it.each([
    ['address', { address: '0x12' }],
    ['private_key', { private_key: KEY.slice(0, 20) }],
    ['it must contain either "private_key" or "encrypted"', { private_key: undefined }],
    ['encrypted.n', { encrypted: { ...BOX, n: 2 ** 21 } }],
    ['it must contain either "private_key" or "encrypted"', { encrypted: BOX }],
    ['well_known', { well_known: false }],
  ])('says that %s is wrong where a wallet is damaged, and signs nothing', async (said, change) => {
    const { file } = await make('main')
    writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), ...change }))
    await expect(unlockWallet(places, 'main', neverAsked)).rejects.toThrow(`${file} is damaged: ${said}`)
  })
})
