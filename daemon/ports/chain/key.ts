import { instantiateSecp256k1 } from '@bitauth/libauth'
import { bytesToHex, concatBytes, hexToBytes } from '@noble/hashes/utils.js'
import { addressOfPublicKey } from '../../../src/core/authorization.ts'
import { type Hex, toBytes32, type Wallet } from '../../../src/core/hex.ts'

/**
 * Signs digests with one key of the operator. Where the key lies is said where its signer is opened, and nowhere else:
 * whatever signs takes this.
 */
export type Signer = {
  readonly address: Wallet
  /** Signs 32 bytes as `r ‖ s ‖ v` with low s, as tokens require. @throws SignerUnavailableError */
  readonly sign: (digest: Uint8Array) => Promise<Hex>
  /** Of a key outside of this program: what is wrong with its signer, in one sentence. */
  readonly fault?: () => string | undefined
  /** Asks it for a signature, to see whether it works; the result is `fault`. */
  readonly check?: () => Promise<void>
}

/** No signature now; a later attempt may have one. */
export class SignerUnavailableError extends Error {
  override readonly name = 'SignerUnavailableError'
}

/** @param key - 32 bytes hex, with or without `0x`. @throws RangeError, whose message does not contain the key */
export async function openKey(key: string): Promise<Signer & { readonly publicKey: Uint8Array }> {
  const digits = key.trim()
  const hex = toBytes32(digits.startsWith('0x') ? digits : `0x${digits}`)
  const secp256k1 = await instantiateSecp256k1()
  const secret = hex && hexToBytes(hex.slice(2))
  if (!secret || !secp256k1.validatePrivateKey(secret)) {
    throw new RangeError('a private key is 32 bytes, written as 64 hex digits')
  }
  const publicKey = secp256k1.derivePublicKeyUncompressed(secret)
  if (typeof publicKey === 'string') throw new RangeError('this is not a valid private key')

  return {
    publicKey,
    address: addressOfPublicKey(publicKey),
    sign: async (digest) => {
      const signed = secp256k1.signMessageHashRecoverableCompact(secret, digest)
      if (typeof signed === 'string') throw new Error('the signature could not be made')
      return `0x${bytesToHex(concatBytes(signed.signature, Uint8Array.of(27 + signed.recoveryId)))}`
    },
  }
}
