import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import type { Hex } from './hex.ts'

export function keccak256(content: Uint8Array | string): Hex {
  return `0x${bytesToHex(keccak_256(typeof content === 'string' ? utf8ToBytes(content) : content))}`
}

/** EIP-191 digest (`personal_sign`). */
export function personalDigest(text: string): Uint8Array {
  const message = utf8ToBytes(text)
  return keccak_256(Buffer.concat([utf8ToBytes(`\u0019Ethereum Signed Message:\n${message.length}`), message]))
}
