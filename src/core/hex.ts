import { keccak_256 } from '@noble/hashes/sha3.js'

/** Reads random bytes. */
export type Entropy = (bytes: number) => Buffer

export type Hex = `0x${string}`
declare const form: unique symbol
/** An address: lower case internally, EIP-55 outside (decisions §3). */
export type Wallet = Hex & { readonly [form]: 'lower-case address' }

export const ADDRESS_SHAPE = /^0x[0-9a-fA-F]{40}$/
export const BYTES32_SHAPE = /^0x[0-9a-fA-F]{64}$/
const SIGNATURE_SHAPE = /^0x[0-9a-fA-F]{130}$/

export function isAddress(text: string): text is Hex {
  return ADDRESS_SHAPE.test(text)
}

/** 65 bytes: r, s, v. */
export function isSignature(text: string): text is Hex {
  return SIGNATURE_SHAPE.test(text)
}

/** 32 bytes, lower case; undefined if invalid. */
export function toBytes32(text: string): Hex | undefined {
  return BYTES32_SHAPE.test(text) ? `0x${text.slice(2).toLowerCase()}` : undefined
}

/** @param address - any case @throws RangeError if invalid, so check external input with `isAddress` first */
export function toWallet(address: string): Wallet {
  if (!isAddress(address)) throw new RangeError(`${address} is not an address`)
  return address.toLowerCase() as Wallet
}

/** Largest number of cached checksums. The same few addresses repeat, and each checksum costs a keccak-256. */
const MEMO_ENTRIES = 4_096
const checksummed = new Map<Hex, Hex>()

/** EIP-55: upper-cases letters where the hash nibble is 8 or more. */
export function checksumAddress(address: Hex): Hex {
  const known = checksummed.get(address)
  if (known !== undefined) return known
  if (checksummed.size >= MEMO_ENTRIES) checksummed.clear()
  const fresh = checksum(address)
  checksummed.set(address, fresh)
  return fresh
}

function checksum(address: Hex): Hex {
  const digits = address.slice(2).toLowerCase()
  const hash = keccak_256(new TextEncoder().encode(digits))
  const cased = [...digits].map((digit, i) => {
    const nibble = ((hash[i >> 1] ?? 0) >> (i % 2 === 0 ? 4 : 0)) & 0xf
    return nibble >= 8 ? digit.toUpperCase() : digit
  })
  return `0x${cased.join('')}`
}
