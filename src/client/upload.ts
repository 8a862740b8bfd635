import { createHash, randomBytes } from 'node:crypto'
import { createReadStream, statSync } from 'node:fs'
import { basename } from 'node:path'
import { AppError } from '../core/error.ts'

const BOUNDARY_BYTES = 16
const READ_BYTES = 256 * 1024
const MEDIA_TYPE = 'application/octet-stream'

export type SentFile = { readonly path: string; readonly onBytes?: (sent: number, total: number) => void }

/** A form streamed from disk. */
export type Form = ReturnType<typeof formOf>

/** multipart/form-data with fields first. @throws AppError invalid_request for an unreadable file or invalid name */
export function formOf(fields: Readonly<Record<string, string>>, file: SentFile) {
  const sizeBytes = sizeOf(file.path)
  const boundary = `souk-${randomBytes(BOUNDARY_BYTES).toString('hex')}`
  const head = Buffer.from(
    Object.entries(fields)
      .map(([name, value]) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`)
      .join('') +
      `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${quoted(basename(file.path))}"\r\n` +
      `Content-Type: ${MEDIA_TYPE}\r\n\r\n`,
  )
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`)
  const hash = createHash('sha256')
  async function* body(): AsyncGenerator<Uint8Array> {
    yield head
    let sent = 0
    for await (const chunk of contentOf(file.path, sizeBytes)) {
      hash.update(chunk)
      yield chunk
      sent += chunk.byteLength
      file.onBytes?.(sent, sizeBytes)
    }
    if (sent !== sizeBytes || sizeOf(file.path) !== sizeBytes)
      throw new AppError('conflict', `${file.path} changed while it was sent.`)
    yield tail
  }
  return {
    headers: {
      'content-type': `multipart/form-data; boundary=${boundary}`,
      'content-length': String(head.length + sizeBytes + tail.length),
    },
    body: body(),
    /** Hash of the sent file; to be called after sending. */
    sha256: () => hash.copy().digest('hex'),
  }
}

/** Reads the file up to the size that was announced, even if the file has grown. */
function contentOf(path: string, sizeBytes: number): AsyncIterable<Uint8Array> | readonly never[] {
  return sizeBytes === 0 ? [] : createReadStream(path, { highWaterMark: READ_BYTES, end: sizeBytes - 1 })
}

function sizeOf(path: string): number {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found?.isFile()) return found.size
  throw new AppError('invalid_request', `There is no file ${path}.`)
}

/** A file name quoted for the header (RFC 2183). */
function quoted(name: string): string {
  if (/[\r\n\0]/.test(name))
    throw new AppError('invalid_request', 'A file with a line break in its name cannot be sent.')
  return name.replace(/["\\]/g, '\\$&')
}
