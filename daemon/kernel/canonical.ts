import canonicalize from 'canonicalize'
import type { Hex } from '../../src/core/hex.ts'
import { keccak256 } from '../../src/core/keccak.ts'

/** RFC 8785 text of a document, and the keccak-256 of its UTF-8 bytes. */
export type Digest = { readonly text: string; readonly hash: Hex }

/** @throws Error on values that JSON cannot represent. */
export function digestOf(document: object): Digest {
  const text = canonicalize(document)
  if (text === undefined) throw new Error('not a JSON document')
  return { text, hash: keccak256(text) }
}
