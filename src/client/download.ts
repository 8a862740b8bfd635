import { createHash } from 'node:crypto'
import { AppError, attempt } from '../core/error.ts'
import { MAX_PRODUCT_BYTES } from '../core/limits.ts'
import type { TransportResponse } from './transport.ts'
import { writeWhole } from './whole-file.ts'

const MAX_NAME_BYTES = 200
// Characters unsafe in file names or on terminals; `:` and similar are special on Windows.
// biome-ignore lint/suspicious/noControlCharactersInRegex: - these are what has to be found
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069/\\:*?"<>|]/g
const WINDOWS_DEVICE = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i

export type KeptFile = { readonly sizeBytes: number; readonly sha256: string }
export type ChunkSink = (chunk: Uint8Array) => Promise<void> | void
export type ProgressWatch = (received: number, total: number | undefined) => void

/** Safe local name of a download. */
export function downloadName(response: Pick<TransportResponse, 'headers'>, otherwise: string): string {
  const header = response.headers['content-disposition'] ?? ''
  const extended = /filename\*=utf-8''([^;]+)/i.exec(header)?.[1]
  const plain = /filename="((?:[^"\\]|\\.)*)"/.exec(header)?.[1]?.replace(/\\(.)/g, '$1')
  return localName(decoded(extended) ?? plain ?? '', otherwise)
}

/** Makes a safe file name from `sent`. Returns `otherwise` if nothing safe is left. */
export function localName(sent: string, otherwise: string): string {
  const name = safeName(sent)
  return name === '' ? otherwise : name
}

function decoded(text: string | undefined): string | undefined {
  // If the encoding is invalid, the plain `filename` is used.
  return text && attempt(() => decodeURIComponent(text))
}

function safeName(sent: string): string {
  const name = sent.replace(UNSAFE, '_').replace(/^[.\s]+|[.\s]+$/g, '')
  if (WINDOWS_DEVICE.test(name)) return `_${name}`
  return Buffer.byteLength(name) > MAX_NAME_BYTES ? '' : name
}

/**
 * Receives a download and checks hash and length.
 * @throws AppError `internal` on a mismatch, TransportError when too large or too slow
 */
export async function receive(response: TransportResponse, sink: ChunkSink, watch?: ProgressWatch): Promise<KeptFile> {
  const expected = digestOf(response.headers['repr-digest'])
  const length = response.headers['content-length']
  const total = length === undefined ? undefined : Number(length)
  const hash = createHash('sha256')
  let sizeBytes = 0
  for await (const chunk of response.file(MAX_PRODUCT_BYTES)) {
    hash.update(chunk)
    await sink(chunk)
    sizeBytes += chunk.byteLength
    watch?.(sizeBytes, total)
  }
  const sha256 = hash.digest('hex')
  if (total !== undefined && sizeBytes !== total) throw damaged(`${sizeBytes} of ${total} bytes arrived`)
  if (expected === undefined) throw damaged('the response has no hash')
  if (sha256 !== expected) throw damaged(`its SHA-256 is ${sha256}, not ${expected}`)
  return { sizeBytes, sha256 }
}

/** The hex SHA-256 in a `Repr-Digest` header (RFC 9530); undefined without one. */
function digestOf(header: string | undefined): string | undefined {
  const base64 = /(?:^|,\s*)sha-256=:([A-Za-z0-9+/=]+):/.exec(header ?? '')?.[1]
  return base64 === undefined ? undefined : Buffer.from(base64, 'base64').toString('hex')
}

function damaged(why: string): AppError {
  return new AppError('internal', `The download is damaged: ${why}; the file was deleted.`)
}

/** Writes a download to a file, which appears only when the download is complete and checked. */
export function receiveFile(response: TransportResponse, path: string, watch?: ProgressWatch): Promise<KeptFile> {
  return writeWhole(path, (append) => receive(response, append, watch))
}
