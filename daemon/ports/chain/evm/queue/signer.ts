import { instantiateSecp256k1 } from '@bitauth/libauth'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, concatBytes, hexToBytes } from '@noble/hashes/utils.js'
import { addressOfPublicKey } from '../../../../../src/core/authorization.ts'
import { type Hex, toBytes32, type Wallet } from '../../../../../src/core/hex.ts'

/** What RLP encodes: bytes, and lists of it. */
type Rlp = Uint8Array | readonly Rlp[]

const SHORT_BYTES = 0x80
const SHORT_LIST = 0xc0
/** Longest payload whose length stands in the first byte. */
const MAX_SHORT = 55

/** Recursive-length prefix (Ethereum yellow paper, appendix B). */
function encodeRlp(item: Rlp): Uint8Array {
  if (!(item instanceof Uint8Array)) {
    const payload = concatBytes(...item.map(encodeRlp))
    return concatBytes(prefix(payload.length, SHORT_LIST), payload)
  }
  const [first] = item
  if (item.length === 1 && first !== undefined && first < SHORT_BYTES) return item
  return concatBytes(prefix(item.length, SHORT_BYTES), item)
}

function prefix(length: number, short: number): Uint8Array {
  if (length <= MAX_SHORT) return Uint8Array.of(short + length)
  const size = uintBytes(BigInt(length))
  return concatBytes(Uint8Array.of(short + MAX_SHORT + size.length), size)
}

/** A number as RLP wants it: big endian, without leading zeros, nothing for 0. */
function uintBytes(value: bigint): Uint8Array {
  if (value === 0n) return new Uint8Array()
  const digits = value.toString(16)
  return Uint8Array.from(Buffer.from(digits.padStart(digits.length + (digits.length % 2), '0'), 'hex'))
}

/** An EIP-1559 transaction without a value or an access list: nothing else is sent here. */
export type Unsigned = {
  readonly chainId: number
  readonly nonce: number
  /** Wei for each unit of gas. */
  readonly tip: bigint
  readonly maxFee: bigint
  readonly gas: number
  readonly to: Wallet
  readonly data: Hex
}

export type SignedTx = { readonly raw: Hex; readonly hash: Hex }

/** A key of the operator. It is never told: not in logs, not in errors. */
export type KeySigner = {
  readonly address: Wallet
  transaction(unsigned: Unsigned): SignedTx
  /** Signs 32 bytes as `r ‖ s ‖ v` with a low s, as tokens take it. */
  digest(hash: Uint8Array): Hex
}

const TYPE = Uint8Array.of(2)

/** @param key - 32 bytes as hex, with or without `0x`. @throws RangeError, which does not repeat it. */
export async function openSigner(key: string): Promise<KeySigner> {
  const digits = key.trim()
  const hex = toBytes32(digits.startsWith('0x') ? digits : `0x${digits}`)
  const secp256k1 = await instantiateSecp256k1()
  const secret = hex && hexToBytes(hex.slice(2))
  if (!secret || !secp256k1.validatePrivateKey(secret)) {
    throw new RangeError('a private key is 32 bytes, written as 64 hex digits')
  }
  const publicKey = secp256k1.derivePublicKeyUncompressed(secret)
  if (typeof publicKey === 'string') throw new RangeError('this private key has no public key')

  const sign = (hash: Uint8Array): { r: Uint8Array; s: Uint8Array; parity: number } => {
    const signed = secp256k1.signMessageHashRecoverableCompact(secret, hash)
    if (typeof signed === 'string') throw new Error('the signature could not be made')
    return { r: signed.signature.slice(0, 32), s: signed.signature.slice(32), parity: signed.recoveryId }
  }

  return {
    address: addressOfPublicKey(publicKey),
    transaction: (unsigned) => {
      const fields = fieldsOf(unsigned)
      const { r, s, parity } = sign(keccak_256(concatBytes(TYPE, encodeRlp(fields))))
      const numbers = [BigInt(parity), numberOf(r), numberOf(s)].map(uintBytes)
      const raw = concatBytes(TYPE, encodeRlp([...fields, ...numbers]))
      return { raw: `0x${bytesToHex(raw)}`, hash: `0x${bytesToHex(keccak_256(raw))}` }
    },
    digest: (hash) => {
      const { r, s, parity } = sign(hash)
      return `0x${bytesToHex(concatBytes(r, s, Uint8Array.of(27 + parity)))}`
    },
  }
}

function fieldsOf({ chainId, nonce, tip, maxFee, gas, to, data }: Unsigned): Rlp[] {
  return [
    uintBytes(BigInt(chainId)),
    uintBytes(BigInt(nonce)),
    uintBytes(tip),
    uintBytes(maxFee),
    uintBytes(BigInt(gas)),
    hexToBytes(to.slice(2)),
    uintBytes(0n),
    hexToBytes(data.slice(2)),
    [],
  ]
}

function numberOf(bytes: Uint8Array): bigint {
  return BigInt(`0x${bytesToHex(bytes)}`)
}
