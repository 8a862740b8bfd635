import { instantiateSecp256k1 } from '@bitauth/libauth'
import { bytesToHex, concatBytes, hexToBytes } from '@noble/hashes/utils.js'
import { addressOfPublicKey } from '../../../src/core/authorization.ts'
import { type Hex, toBytes32, type Wallet } from '../../../src/core/hex.ts'

/** A private key that signs digests; never logged or shown. */
export type SigningKey = {
  readonly address: Wallet
  sign(hash: Uint8Array): { readonly r: Uint8Array; readonly s: Uint8Array; readonly parity: number }
  /** Signs 32 bytes as `r ‖ s ‖ v` with low s, as tokens require. */
  digest(hash: Uint8Array): Hex
}

/** @param key - 32 bytes hex, with or without `0x`. @throws RangeError, whose message does not contain the key */
export async function openKey(key: string): Promise<SigningKey> {
  const digits = key.trim()
  const hex = toBytes32(digits.startsWith('0x') ? digits : `0x${digits}`)
  const secp256k1 = await instantiateSecp256k1()
  const secret = hex && hexToBytes(hex.slice(2))
  if (!secret || !secp256k1.validatePrivateKey(secret)) {
    throw new RangeError('a private key is 32 bytes, written as 64 hex digits')
  }
  const publicKey = secp256k1.derivePublicKeyUncompressed(secret)
  if (typeof publicKey === 'string') throw new RangeError('this is not a valid private key')

  const sign: SigningKey['sign'] = (hash) => {
    const signed = secp256k1.signMessageHashRecoverableCompact(secret, hash)
    if (typeof signed === 'string') throw new Error('the signature could not be made')
    return { r: signed.signature.slice(0, 32), s: signed.signature.slice(32), parity: signed.recoveryId }
  }
  return {
    address: addressOfPublicKey(publicKey),
    sign,
    digest: (hash) => {
      const { r, s, parity } = sign(hash)
      return `0x${bytesToHex(concatBytes(r, s, Uint8Array.of(27 + parity)))}`
    },
  }
}
