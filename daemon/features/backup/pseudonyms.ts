import { createHash, createHmac } from 'node:crypto'
import type { StoredFile } from '../../../src/model/stored-file.ts'

/** Ids, hex of wallets and hashes with and without its `0x`, and what tells installations apart. */
const NAMES =
  /\b[a-z]+_[0-9a-f]{16,}\b|0x[0-9a-fA-F]{16,}|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b[0-9a-f]{32,}\b/g
const HEX = /[0-9a-f]/g
const WORD_CHARS = 8
const SECRET_BYTES = 32

/** What lies in the place of every file. */
export const STUB = Buffer.from('This file was left out of an anonymised copy.\n')
const STUB_SHA256 = createHash('sha256').update(STUB).digest('hex')
const STUB_FILE: StoredFile = {
  sha256: STUB_SHA256,
  size_bytes: STUB.byteLength,
  name: 'left-out.txt',
  content_type: 'text/plain',
}

/** Other names for everything, the same for the same; without the salt nobody gets from one to the other. */
export type Pseudonyms = {
  /** A text of ours with the names in it changed, each to one of its form. */
  readonly names: (text: string) => string
  readonly words: (text: string) => string
  readonly url: (text: string) => string
  readonly secret: (text: string) => string
  /** A file, or the SHA-256 of one. */
  readonly file: (value: unknown) => unknown
}

export function createPseudonyms(salt: Uint8Array): Pseudonyms {
  const digest = (text: string, bytes: number): Buffer => {
    const blocks: Buffer[] = []
    for (let n = 0; n * 32 < bytes; n += 1) blocks.push(createHmac('sha256', salt).update(`${n}:${text}`).digest())
    return Buffer.concat(blocks).subarray(0, bytes)
  }
  const short = (text: string) => digest(text, WORD_CHARS / 2).toString('hex')
  return {
    names: (text) => text.replace(NAMES, (name) => renamed(name, digest)),
    words: (text) => (text === '' ? '' : `text-${short(text)}`),
    url: (text) => `https://${short(text)}.invalid/`,
    secret: (text) => `whsec_${digest(text, SECRET_BYTES).toString('base64')}`,
    file: (value) => (typeof value === 'string' ? STUB_SHA256 : STUB_FILE),
  }
}

/** Only the digits change: prefix, dashes and length stay. A wallet is the same one in upper and lower case. */
function renamed(name: string, digest: (text: string, bytes: number) => Buffer): string {
  const start = /^(?:0x|[a-z]+_)/.exec(name)?.[0] ?? ''
  const rest = name.slice(start.length).toLowerCase()
  const digits = digest(start + rest, Math.ceil(rest.length / 2)).toString('hex')
  let at = 0
  return start + rest.replace(HEX, () => digits[at++] ?? '0')
}
