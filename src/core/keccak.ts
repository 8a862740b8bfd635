import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'

export function keccak256(content: Uint8Array | string): `0x${string}` {
  return `0x${bytesToHex(keccak_256(typeof content === 'string' ? utf8ToBytes(content) : content))}`
}

/** EIP-191 digest (`personal_sign`). */
export function personalDigest(text: string): Uint8Array {
  const message = utf8ToBytes(text)
  return keccak_256(Buffer.concat([utf8ToBytes(`\u0019Ethereum Signed Message:\n${message.length}`), message]))
}

/** The EIP-712 digest of a struct under a domain. */
export function typedDigest(separator: Uint8Array, structHash: Uint8Array): Uint8Array {
  return keccak_256(Buffer.concat([Uint8Array.of(0x19, 0x01), separator, structHash]))
}
