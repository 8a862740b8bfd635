import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { AppError, invalidField } from '../core/error.ts'
import { ADDRESS_SHAPE, BYTES32_SHAPE, checksumAddress, type Hex, toBytes32, toWallet } from '../core/hex.ts'
import { didYouMean } from '../text/text.ts'
import type { Shaped } from './check.ts'
import { damaged, readJson, removeFile, shaped, writeJson } from './files.ts'
import { changeSettings, type Places, readSettings } from './settings.ts'

type Config = Pick<Places, 'config'>

const WALLETS_MAX = 200
const WALLET_NAME = /^[a-z0-9][a-z0-9._-]{0,31}$/
export const PASSPHRASE_CHARS_MIN = 8
/** scrypt cost: 2^15 × 8 × 128 B = 32 MiB, about 0.1 s. That is twice the cost for interactive logins in RFC 7914. */
const SCRYPT = { n: 2 ** 15, r: 8, p: 1 } as const
const SCRYPT_MEMORY_BYTES_MAX = 64 * 1024 * 1024
const KEY_BYTES = 32
const SALT_BYTES = 16
const IV_BYTES = 12
const TAG_BYTES = 16

const encrypted = {
  kdf: ['=', 'scrypt'],
  n: ['i', null, 2 ** 20],
  r: ['i', null, 32],
  p: ['i', null, 16],
  salt: 's',
  cipher: ['=', 'aes-256-gcm'],
  iv: 's',
  /** Ciphertext with 16-byte tag, hex. */
  data: 's',
} as const
type Encrypted = Shaped<typeof encrypted>
const WalletFile = shaped({
  name: 's',
  address: ['/', ADDRESS_SHAPE.source],
  created_at: 's',
  'private_key?': ['/', BYTES32_SHAPE.source],
  'encrypted?': encrypted,
  'well_known?': ['=', true],
})

/** `plain`: the key is in a private file; `encrypted`: the key is encrypted with scrypt and AES-256-GCM. */
export type Protection = 'plain' | 'encrypted'
export type NamedWallet = {
  readonly name: string
  /** EIP-55. */
  readonly address: Hex
  readonly protection: Protection
  readonly created_at: string
  readonly file: string
  readonly active: boolean
  /** The private key is published, so it is for test money only. */
  readonly well_known?: true
}

export type NewWallet = {
  readonly name: string
  readonly createdAt: string
  readonly passphrase?: string | undefined
  /** Key to import (default: a new one). */
  readonly privateKey?: string | undefined
  /** Whether the wallet becomes the active one if no wallet is active (default: true). */
  readonly active?: boolean
  /** True if the wallet's private key is publicly known. */
  readonly wellKnown?: boolean
}

function folderOf(places: Config): string {
  return join(places.config, 'wallets')
}

function fileOf(places: Config, name: string): string {
  if (!WALLET_NAME.test(name)) {
    throw invalidField('name', `"${name}" must be lower-case letters, digits, ".", "-" or "_", at most 32 characters`)
  }
  return join(folderOf(places), `${name}.json`)
}

/**
 * Creates or imports a wallet. If no wallet is active, it becomes the active one.
 * @throws AppError `conflict` for a taken name, `invalid_request` for a bad name, key or passphrase
 */
export async function createWallet(places: Config, wallet: NewWallet): Promise<NamedWallet> {
  const file = fileOf(places, wallet.name)
  const names = walletNames(places)
  if (names.includes(wallet.name)) throw new AppError('conflict', `Wallet "${wallet.name}" already exists.`)
  if (names.length >= WALLETS_MAX) throw invalidField('name', `at most ${WALLETS_MAX} wallets`)
  const privateKey = wallet.privateKey === undefined ? await newKey() : keyFrom(wallet.privateKey)
  const key =
    wallet.passphrase === undefined
      ? { private_key: privateKey }
      : { encrypted: await encrypt(privateKey, wallet.passphrase) }
  const address = await addressOf(privateKey)
  const known = wallet.wellKnown ? { well_known: true } : {}
  writeJson(file, { name: wallet.name, address, created_at: wallet.createdAt, ...known, ...key })
  if (wallet.active !== false && readSettings(places).wallet === undefined)
    changeSettings(places, { wallet: wallet.name })
  return getWallet(places, wallet.name)
}

export function walletNames(places: Config): readonly string[] {
  const folder = folderOf(places)
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .map((file) => file.slice(0, -'.json'.length))
    .sort()
}

export function listWallets(places: Config): readonly NamedWallet[] {
  return walletNames(places).map((name) => getWallet(places, name))
}

/** Public data of a wallet. @throws AppError `not_found` */
export function getWallet(places: Config, name: string): NamedWallet {
  const { file, content } = load(places, name)
  return {
    name,
    address: checksumAddress(toWallet(content.address)),
    protection: content.encrypted ? 'encrypted' : 'plain',
    created_at: content.created_at,
    file,
    active: readSettings(places).wallet === name,
    ...(content.well_known ? { well_known: true } : {}),
  }
}

/** The wallet with this name, or else the active one, if any. @throws AppError not_found for an unknown name */
export function currentWallet(places: Config, name?: string): NamedWallet | undefined {
  const chosen = name ?? readSettings(places).wallet
  return chosen === undefined ? undefined : getWallet(places, chosen)
}

export function chooseWallet(places: Config, name: string): NamedWallet {
  getWallet(places, name)
  changeSettings(places, { wallet: name })
  return getWallet(places, name)
}

/** Deletes the key file. Without a copy of the key, the wallet's money is lost. */
export function removeWallet(places: Config, name: string): void {
  const { file, active } = getWallet(places, name)
  removeFile(file)
  if (active) changeSettings(places, { wallet: undefined })
}

/**
 * The private key for signing.
 * @param passphrase - asks the user; called only if the key is encrypted
 * @throws AppError `unauthorized` for a wrong passphrase
 */
export async function unlockWallet(places: Config, name: string, passphrase: () => Promise<string>): Promise<Hex> {
  const { content } = load(places, name)
  if (content.encrypted) return decrypt(content.encrypted, await passphrase(), name)
  const key = toBytes32(content.private_key ?? '')
  if (key !== undefined) return key
  throw new TypeError(`wallet ${name} has no key`)
}

function load(places: Config, name: string) {
  const file = fileOf(places, name)
  const content = readJson(file, WalletFile)
  if (content !== undefined) {
    const isOneKey = (content.private_key === undefined) !== (content.encrypted === undefined)
    if (!isOneKey) throw damaged(file, 'it must contain either "private_key" or "encrypted"')
    return { file, content }
  }
  const known = walletNames(places)
  const all = known.length > 0 ? `there are: ${known.join(', ')}` : 'there is none'
  throw new AppError('not_found', `Wallet "${name}" is not known${didYouMean(name, known)}; ${all}.`)
}

async function newKey(): Promise<Hex> {
  const { generatePrivateKey } = await import('viem/accounts')
  return generatePrivateKey()
}

async function addressOf(privateKey: Hex): Promise<Hex> {
  const { privateKeyToAddress } = await import('viem/accounts')
  try {
    return privateKeyToAddress(privateKey)
  } catch (cause) {
    throw new AppError('invalid_request', 'The private key is not a valid secp256k1 key.', { cause })
  }
}

function keyFrom(text: string): Hex {
  const key = text.trim().toLowerCase()
  const whole = toBytes32(key.startsWith('0x') ? key : `0x${key}`)
  if (whole === undefined) throw invalidField('private key', 'must be 64 hex digits')
  return whole
}

async function encrypt(privateKey: Hex, passphrase: string): Promise<Encrypted> {
  if (passphrase.length < PASSPHRASE_CHARS_MIN) {
    throw invalidField('passphrase', `needs at least ${PASSPHRASE_CHARS_MIN} characters`)
  }
  const { createCipheriv, randomBytes } = await import('node:crypto')
  const salt = randomBytes(SALT_BYTES)
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv('aes-256-gcm', await derive(passphrase, { ...SCRYPT, salt }), iv)
  const data = Buffer.concat([cipher.update(privateKey.slice(2), 'hex'), cipher.final(), cipher.getAuthTag()])
  return {
    kdf: 'scrypt',
    ...SCRYPT,
    salt: salt.toString('hex'),
    cipher: 'aes-256-gcm',
    iv: iv.toString('hex'),
    data: data.toString('hex'),
  }
}

async function decrypt(box: Encrypted, passphrase: string, name: string): Promise<Hex> {
  const { createDecipheriv } = await import('node:crypto')
  const key = await derive(passphrase, { n: box.n, r: box.r, p: box.p, salt: Buffer.from(box.salt, 'hex') })
  const data = Buffer.from(box.data, 'hex')
  const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(box.iv, 'hex'))
  decipher.setAuthTag(data.subarray(-TAG_BYTES))
  try {
    return `0x${Buffer.concat([decipher.update(data.subarray(0, -TAG_BYTES)), decipher.final()]).toString('hex')}`
  } catch (cause) {
    throw new AppError('unauthorized', `Wrong passphrase for wallet "${name}".`, { cause })
  }
}

async function derive(passphrase: string, cost: { n: number; r: number; p: number; salt: Buffer }): Promise<Buffer> {
  const { scrypt } = await import('node:crypto')
  return new Promise((resolve, reject) => {
    const options = { N: cost.n, r: cost.r, p: cost.p, maxmem: SCRYPT_MEMORY_BYTES_MAX }
    scrypt(passphrase.normalize('NFKC'), cost.salt, KEY_BYTES, options, (error, key) =>
      error ? reject(error) : resolve(key),
    )
  })
}
