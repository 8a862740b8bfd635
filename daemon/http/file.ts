import type { ServerResponse } from 'node:http'
import { invalidField } from '../../src/core/error.ts'
import type { FileOut } from '../endpoint/exchange.ts'
import { MAX_FILE_NAME_BYTES, STREAM_STALL_MS } from './limits.ts'

/** Control characters, and bidirectional controls that disguise a name. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: - the pattern has to match them
const UNSHOWN = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/
const MEDIA_TYPE = /^[\w!#$&^.+-]{1,64}\/[\w!#$&^.+-]{1,64}$/
const ANY_TYPE = 'application/octet-stream'

/** A plain file name as sent. A bad name is refused, never changed. @throws AppError 400 that names the part */
export function fileName(part: string, sent: string | undefined): string {
  if (sent === undefined || sent === '') throw invalidField(part, 'has no file name')
  if (Buffer.byteLength(sent) > MAX_FILE_NAME_BYTES) {
    throw invalidField(part, `its name must be at most ${MAX_FILE_NAME_BYTES} bytes`)
  }
  if (/[/\\]/.test(sent) || sent === '.' || sent === '..') throw invalidField(part, 'its name must not be a path')
  if (UNSHOWN.test(sent) || !sent.isWellFormed()) throw invalidField(part, 'its name contains control characters')
  return sent
}

/** A media type without parameters; an invalid one becomes `application/octet-stream`. */
export function mediaType(sent: string): string {
  const type = sent.toLowerCase()
  return MEDIA_TYPE.test(type) ? type : ANY_TYPE
}

/** `Content-Disposition` of a download (RFC 6266): an ASCII name, and the full name by RFC 8187. */
function attachment(name: string): string {
  const ascii = name.replace(/[^\x20-\x7e]/g, '_').replace(/["\\%;]/g, '_')
  const encoded = encodeURIComponent(name.toWellFormed()).replace(
    /['()*!]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`
}

/** Content type of every served file, whatever type its owner declared. Files are never displayed inline. */
const DOWNLOAD_TYPE = 'application/octet-stream'

type Span = { readonly start: number; readonly end: number }

/** One byte range. A request for several ranges gets the whole file, as RFC 9110 §14.2 allows. */
const ONE_RANGE = /^bytes=(\d{0,16})-(\d{0,16})$/

/**
 * Sends a stored file: whole, as a range, or as 304; never inline (decisions §9). `Repr-Digest` (RFC 9530) has the hash
 * of the whole file.
 */
export async function sendFile(res: ServerResponse, { file, read }: FileOut): Promise<void> {
  const etag = `"${file.sha256}"`
  const { 'if-none-match': known, range, 'if-range': expected } = res.req.headers
  const headers = { ...fileHeaders(file.name), ETag: etag }
  if (known !== undefined && isAmong(known, etag)) {
    res.writeHead(304, headers).end()
    return
  }
  const described = {
    ...headers,
    'Content-Type': DOWNLOAD_TYPE,
    'Repr-Digest': `sha-256=:${Buffer.from(file.sha256, 'hex').toString('base64')}:`,
  }
  const span = expected === undefined || expected === etag ? spanOf(range, file.size_bytes) : undefined
  if (span === 'unsatisfiable') {
    res.writeHead(416, { ...headers, 'Content-Range': `bytes */${file.size_bytes}`, 'Content-Length': 0 }).end()
    return
  }
  const length = span ? span.end - span.start + 1 : file.size_bytes
  if (span) {
    const part = { 'Content-Range': `bytes ${span.start}-${span.end}/${file.size_bytes}` }
    res.writeHead(206, { ...described, ...part, 'Content-Length': length })
  } else res.writeHead(200, { ...described, 'Content-Length': length })
  if (res.req.method === 'HEAD' || length === 0) res.end()
  else await sendContent(res, read(span))
}

function fileHeaders(name: string): Record<string, string> {
  return {
    'Accept-Ranges': 'bytes',
    'Cache-Control': 'no-store',
    'Content-Disposition': attachment(name),
    'Content-Security-Policy': "default-src 'none'; sandbox",
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
  }
}

/**
 * Sends chunk by chunk at the reader's pace. A reader may disconnect. A stalled reader is disconnected and can resume
 * by range. A read failure closes the connection, so that a part is not mistaken for the whole.
 */
async function sendContent(res: ServerResponse, content: AsyncIterable<Uint8Array>): Promise<void> {
  const gone = new Promise<false>((done) => {
    res.once('close', () => done(false))
  })
  for await (const chunk of content) {
    if (!(await Promise.race([hasLeft(res, chunk), gone]))) return
  }
  res.end()
}

function hasLeft(res: ServerResponse, chunk: Uint8Array): Promise<boolean> {
  return new Promise((done) => {
    const timer = setTimeout(() => res.destroy(), STREAM_STALL_MS)
    res.write(chunk, (error) => {
      clearTimeout(timer)
      done(!error)
    })
  })
}

/** The requested byte range; undefined means the whole file. An invalid range is ignored (RFC 9110 §14.2). */
function spanOf(header: string | undefined, sizeBytes: number): Span | 'unsatisfiable' | undefined {
  const match = ONE_RANGE.exec(header?.replaceAll(' ', '') ?? '')
  if (!match) return undefined
  const [, first = '', last = ''] = match
  if (first === '') return last === '' ? undefined : suffixOf(Number(last), sizeBytes)
  const start = Number(first)
  const end = last === '' ? sizeBytes - 1 : Math.min(Number(last), sizeBytes - 1)
  if (last !== '' && Number(last) < start) return undefined
  return start >= sizeBytes ? 'unsatisfiable' : { start, end }
}

function suffixOf(lengthBytes: number, sizeBytes: number): Span | 'unsatisfiable' {
  if (lengthBytes === 0 || sizeBytes === 0) return 'unsatisfiable'
  return { start: Math.max(0, sizeBytes - lengthBytes), end: sizeBytes - 1 }
}

/** Whether `If-None-Match` matches, by weak comparison. */
export function isAmong(header: string, etag: string): boolean {
  return (
    header.trim() === '*' ||
    header.split(',').some((one) => one.trim().replace(/^W\//, '') === etag.replace(/^W\//, ''))
  )
}
