import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import type { Hex } from './hex.ts'

/** keccak-256 of bytes, or of the UTF-8 form of a text. */
export function keccak256(content: Uint8Array | string): Hex {
  return `0x${bytesToHex(keccak_256(typeof content === 'string' ? utf8ToBytes(content) : content))}`
}
