import { instantiateSecp256k1 } from '@bitauth/libauth'
import { bytesToHex } from '@noble/hashes/utils.js'
import {
  type Authorization,
  addressOfPublicKey,
  authorizationDigest,
  splitSignature,
} from '../../../src/core/authorization.ts'
import type { Hex, Wallet } from '../../../src/core/hex.ts'
import { dropOldest } from '../../../src/core/record.ts'
import { openNativeRecovery, type RecoverKey } from './native-recovery.ts'

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

function keep<T>(memo: Map<string, T>, key: string, value: T): void {
  if (memo.size >= MEMO_ENTRIES) dropOldest(memo)
  memo.set(key, value)
}
