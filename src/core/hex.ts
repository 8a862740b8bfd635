import { keccak_256 } from '@noble/hashes/sha3.js'

/** Draws bytes from a CSPRNG. */
export type Entropy = (bytes: number) => Buffer

export type Hex = `0x${string}`
declare const form: unique symbol
/** An address as it is kept and compared: lower-case inside, EIP-55 checksummed outside (decisions §3). */
export type Wallet = Hex & { readonly [form]: 'lower-case address' }

export const ADDRESS_SHAPE = /^0x[0-9a-fA-F]{40}$/
export const BYTES32_SHAPE = /^0x[0-9a-fA-F]{64}$/
const SIGNATURE_SHAPE = /^0x[0-9a-fA-F]{130}$/

export function isAddress(text: string): text is Hex {
  return ADDRESS_SHAPE.test(text)
}

/** 65 bytes: r, s and v. */
export function isSignature(text: string): text is Hex {
  return SIGNATURE_SHAPE.test(text)
}

/** 32 bytes, in lower case; undefined for what is none. */
export function toBytes32(text: string): Hex | undefined {
  return BYTES32_SHAPE.test(text) ? `0x${text.slice(2).toLowerCase()}` : undefined
}

/** @param address - in any case. @throws RangeError when it is none: look at what strangers sent with `isAddress`. */
export function toWallet(address: string): Wallet {
  if (!isAddress(address)) throw new RangeError(`${address} is no address`)
  return address.toLowerCase() as Wallet
}

/** Checksummed addresses kept: the same few stand in every 402 and answer, and a checksum costs a keccak-256. */
const MEMO_ENTRIES = 4_096
const checksummed = new Map<Hex, Hex>()

/** EIP-55: upper-cases a hex letter where the keccak-256 of the lower-case address has a nibble of 8 or more. */
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
