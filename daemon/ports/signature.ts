import { instantiateSecp256k1 } from '@bitauth/libauth'
import { bytesToHex } from '@noble/hashes/utils.js'
import { addressOfPublicKey, splitSignature } from '../../src/core/authorization.ts'
import type { Hex, Wallet } from '../../src/core/hex.ts'

/**
 * The wallet whose key made a 65-byte signature over a 32-byte digest, or undefined where there is none or the
 * signature is not strict (decisions §4). Pure, so that callers may ask again freely.
 */
export type Recover = (digest: Uint8Array, signature: Hex) => Wallet | undefined

/** Recoveries kept: verification and sandbox settlement of one payment ask for the same one. */
const MEMO_ENTRIES = 1_024

/** Loads the WebAssembly secp256k1 once; the returned function is synchronous (about 0.25 ms a recovery). */
export async function openRecover(): Promise<Recover> {
  const secp256k1 = await instantiateSecp256k1()
  const memo = new Map<string, Wallet | undefined>()
  return (digest, signature) => {
    const key = `${bytesToHex(digest)}${signature}`
    if (memo.has(key)) return memo.get(key)
    const split = splitSignature(signature)
    if (!split.ok) return undefined
    const { compact, parity } = split.signature
    const publicKey = secp256k1.recoverPublicKeyUncompressed(compact, parity, digest)
    const wallet = typeof publicKey === 'string' ? undefined : addressOfPublicKey(publicKey)
    if (memo.size >= MEMO_ENTRIES) memo.delete(memo.keys().next().value as string)
    memo.set(key, wallet)
    return wallet
  }
}
