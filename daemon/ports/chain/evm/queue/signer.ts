import { instantiateSecp256k1 } from '@bitauth/libauth'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, concatBytes, hexToBytes } from '@noble/hashes/utils.js'
import { serializeTransaction } from 'viem'
import { addressOfPublicKey } from '../../../../../src/core/authorization.ts'
import { type Hex, toBytes32, type Wallet } from '../../../../../src/core/hex.ts'

/** An EIP-1559 transaction without value and access list. */
export type Unsigned = {
  readonly chainId: number
  readonly nonce: number
  /** Wei per gas. */
  readonly tip: bigint
  readonly maxFee: bigint
  readonly gas: number
  readonly to: Wallet
  readonly data: Hex
}

export type SignedTx = { readonly raw: Hex; readonly hash: Hex }

/** An operator key; never logged or shown. */
export type KeySigner = {
  readonly address: Wallet
  transaction(unsigned: Unsigned): SignedTx
  /** Signs 32 bytes as `r ‖ s ‖ v` with low s, as tokens require. */
  digest(hash: Uint8Array): Hex
}

/** @param key - 32 bytes hex, with or without `0x`. @throws RangeError, whose message does not contain the key */
export async function openSigner(key: string): Promise<KeySigner> {
  const digits = key.trim()
  const hex = toBytes32(digits.startsWith('0x') ? digits : `0x${digits}`)
  const secp256k1 = await instantiateSecp256k1()
  const secret = hex && hexToBytes(hex.slice(2))
  if (!secret || !secp256k1.validatePrivateKey(secret)) {
    throw new RangeError('a private key is 32 bytes, written as 64 hex digits')
  }
  const publicKey = secp256k1.derivePublicKeyUncompressed(secret)
  if (typeof publicKey === 'string') throw new RangeError('this is not a valid private key')

  const sign = (hash: Uint8Array): { r: Uint8Array; s: Uint8Array; parity: number } => {
    const signed = secp256k1.signMessageHashRecoverableCompact(secret, hash)
    if (typeof signed === 'string') throw new Error('the signature could not be made')
    return { r: signed.signature.slice(0, 32), s: signed.signature.slice(32), parity: signed.recoveryId }
  }

  return {
    address: addressOfPublicKey(publicKey),
    transaction: ({ tip, maxFee, gas, ...rest }) => {
      const fees = { maxPriorityFeePerGas: tip, maxFeePerGas: maxFee }
      const unsigned = { ...rest, ...fees, gas: BigInt(gas), type: 'eip1559' } as const
      const { r, s, parity } = sign(keccak_256(hexToBytes(serializeTransaction(unsigned).slice(2))))
      const raw = serializeTransaction(unsigned, { r: `0x${bytesToHex(r)}`, s: `0x${bytesToHex(s)}`, yParity: parity })
      return { raw, hash: `0x${bytesToHex(keccak_256(hexToBytes(raw.slice(2))))}` }
    },
    digest: (hash) => {
      const { r, s, parity } = sign(hash)
      return `0x${bytesToHex(concatBytes(r, s, Uint8Array.of(27 + parity)))}`
    },
  }
}
