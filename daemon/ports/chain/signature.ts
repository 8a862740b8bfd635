import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { instantiateSecp256k1 } from '@bitauth/libauth'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import {
  type Authorization,
  addressOfPublicKey,
  authorizationDigest,
  splitSignature,
} from '../../../src/core/authorization.ts'
import type { Hex, Wallet } from '../../../src/core/hex.ts'
import { dropOldest } from '../../../src/core/record.ts'

/** Public key from a 65-byte signature; undefined if invalid. */
export type RecoverKey = (compact: Uint8Array, parity: 0 | 1, digest: Uint8Array) => Uint8Array | undefined

/** The native add-on of `secp256k1`. It is loaded directly, because the package silently falls back to slow code. */
type Addon = { readonly Secp256k1: new () => Curve }
type Curve = {
  /** @returns 0 on success */
  ecdsaRecover(key: Uint8Array, compact: Uint8Array, parity: number, digest: Uint8Array): number
}

const KEY_BYTES = 65
const COMPACT_BYTES = 64
const DIGEST_BYTES = 32
/** Linux builds differ by C library. A build for another C library does not load. */
const kinds = process.platform === 'linux' ? ['.glibc', '.musl'] : ['']

/** Loads the native add-on; undefined if none loads on this platform. */
export function openNativeRecovery(): RecoverKey | undefined {
  const require = createRequire(import.meta.url)
  for (const file of files(require)) {
    try {
      const { Secp256k1 } = require(file) as Addon
      return recoverBy(new Secp256k1())
    } catch {
      // wrong C library, or the file cannot be unpacked: try the next file, or else use WebAssembly
    }
  }
  return undefined
}

/** Wraps the add-on. Checks lengths first, because the add-on reads past short buffers. */
function recoverBy(curve: Curve): RecoverKey {
  return (compact, parity, digest) => {
    if (!holds(compact, COMPACT_BYTES) || !holds(digest, DIGEST_BYTES) || (parity !== 0 && parity !== 1))
      return undefined
    const key = new Uint8Array(KEY_BYTES)
    return curve.ecdsaRecover(key, compact, parity, digest) === 0 ? key : undefined
  }
}

function holds(bytes: Uint8Array, length: number): boolean {
  return bytes instanceof Uint8Array && bytes.length === length
}

/** Possible paths of the add-on: in the bundle's folder, or else in the package. */
function files(require: NodeJS.Require): string[] {
  const platform = `${process.platform}-${process.arch}`
  const beside = kinds.map((kind) => fileURLToPath(new URL(`./secp256k1-${platform}${kind}.node`, import.meta.url)))
  return [...beside, ...inPackage(require, platform)].filter((file) => existsSync(file))
}

function inPackage({ resolve }: NodeJS.Require, platform: string): string[] {
  try {
    const folder = join(dirname(resolve('secp256k1/package.json')), 'prebuilds', platform)
    return kinds.map((kind) => join(folder, `secp256k1${kind}.node`))
  } catch {
    return [] // a bundle has no packages
  }
}

/**
 * Recovers the signer of a 65-byte signature over a 32-byte digest; undefined if the signature is invalid or not in
 * strict form (decisions §4).
 */
export type Recover = {
  (digest: Uint8Array, signature: Hex): Wallet | undefined
  readonly engine: RecoveryEngine
  /** Number of signers recovered so far, without those from the cache. */
  readonly made: () => number
}

/** How signatures are recovered: by a native add-on, or more slowly by WebAssembly. */
type RecoveryEngine = 'native' | 'wasm'

/** Number of entries in each cache. Verification and settlement of a payment need the same digest and recovery. */
const MEMO_ENTRIES = 1_024

/**
 * Loads secp256k1 once; the returned function is synchronous (about 0.1 ms per recovery, 0.25 ms by WebAssembly).
 * @param native - null forces WebAssembly
 */
export async function openRecover(native: RecoverKey | null = openNativeRecovery() ?? null): Promise<Recover> {
  const recoverKey = native ?? (await openWasmRecovery())
  const memo = new Map<string, Wallet | undefined>()
  let made = 0
  const recover = (digest: Uint8Array, signature: Hex) => {
    const key = `${bytesToHex(digest)}${signature}`
    if (memo.has(key)) return memo.get(key)
    const split = splitSignature(signature)
    if (!split.ok) return undefined
    const { compact, parity } = split.signature
    made += 1
    const publicKey = recoverKey(compact, parity, digest)
    const wallet = publicKey && addressOfPublicKey(publicKey)
    keep(memo, key, wallet)
    return wallet
  }
  return Object.assign(recover, { engine: native ? 'native' : 'wasm', made: () => made } as const)
}

export async function openWasmRecovery(): Promise<RecoverKey> {
  const secp256k1 = await instantiateSecp256k1()
  return (compact, parity, digest) => {
    const key = secp256k1.recoverPublicKeyUncompressed(compact, parity, digest)
    return typeof key === 'string' ? undefined : key
  }
}

/** Returns a function that computes the digest of an authorization under a domain separator. */
export function openDigests(separator: Uint8Array): (authorization: Authorization) => Uint8Array {
  const memo = new Map<string, Uint8Array>()
  return (authorization) => {
    const { from, to, value, validAfter, validBefore, nonce } = authorization
    const key = `${from}${to}${nonce}${value},${validAfter},${validBefore}`
    const known = memo.get(key)
    if (known) return known
    const digest = authorizationDigest(separator, authorization)
    keep(memo, key, digest)
    return digest
  }
}

/** Nonce of a payout. The token accepts it once in all, even if two daemons send the payout. */
export function payoutNonce(id: string): Hex {
  return `0x${bytesToHex(keccak_256(utf8ToBytes(`souk payout\n${id}`)))}`
}

const WORD = /^0x[0-9a-f]{64}$/

/** Id of a job in the escrow contract. A job that only the contract knows is named by this id. */
export function escrowId(job: string): Hex {
  return WORD.test(job) ? (job as Hex) : `0x${bytesToHex(keccak_256(utf8ToBytes(`job:${job}`)))}`
}

function keep<T>(memo: Map<string, T>, key: string, value: T): void {
  if (memo.size >= MEMO_ENTRIES) dropOldest(memo)
  memo.set(key, value)
}
