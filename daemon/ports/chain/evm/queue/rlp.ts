import { concatBytes } from '@noble/hashes/utils.js'

/** What RLP encodes: bytes, and lists of it. */
export type Rlp = Uint8Array | readonly Rlp[]

const SHORT_BYTES = 0x80
const SHORT_LIST = 0xc0
/** Longest payload whose length stands in the first byte. */
const MAX_SHORT = 55

/** Recursive-length prefix (Ethereum yellow paper, appendix B). */
export function encodeRlp(item: Rlp): Uint8Array {
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
export function uintBytes(value: bigint): Uint8Array {
  if (value === 0n) return new Uint8Array()
  const digits = value.toString(16)
  return Uint8Array.from(Buffer.from(digits.padStart(digits.length + (digits.length % 2), '0'), 'hex'))
}
