import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import busboy from 'busboy'
import { AppError, invalidField } from '../../src/core/error.ts'
import type { Exchange, Receiving } from '../endpoint/exchange.ts'
import { fileName, mediaType } from './file.ts'
import { MAX_FORM_BYTES, MAX_FORM_FIELD_BYTES, MAX_FORM_FIELD_NAME_BYTES, MAX_FORM_FIELDS } from './limits.ts'

const FILE_PART = 'file'
const MULTIPART = /^multipart\/form-data\s*(?:;|$)/i
/** Transfer encodings that leave the bytes unchanged. RFC 7578 deprecates all others. */
const PLAIN_ENCODINGS: ReadonlySet<string> = new Set(['7bit', '8bit', 'binary'])

type FilePart = { readonly stream: Readable; readonly name: string | undefined; readonly type: string }
/** Size limit of the form, and how long it may stall. */
type Bounds = { readonly maxBytes: number; readonly idleMs: number }
type Form = {
  readonly parser: busboy.Busboy
  readonly fields: Map<string, string>
  /** Resolves when the file part begins. */
  readonly opened: Promise<FilePart>
  /** Resolves after the whole form. Rejects with the form's first fault. */
  readonly ended: Promise<void>
}

/**
 * Reads a form with one file and streams the file to storage. Fields come before the file, so that a refusal costs no
 * upload.
 * @throws AppError 400, 408, 413, 415 that names the part. Nothing stays stored then.
 */
export async function readUpload(
  req: IncomingMessage,
  receiving: Receiving,
  idleMs: number,
): ReturnType<Exchange['upload']> {
  const maxBytes = receiving.maxFileBytes + MAX_FORM_BYTES
  refuseByHead(req, maxBytes)
  const form = openForm(req, { maxBytes, idleMs })
  try {
    const part = await Promise.race([form.opened, form.ended.then(refuseWithoutFile)])
    await receiving.accept(Object.fromEntries(form.fields))
    const name = fileName(FILE_PART, part.name)
    const blob = await receiving.keep(wholeForm(part, form, receiving.maxFileBytes), receiving.maxFileBytes)
    return { sha256: blob.sha256, size_bytes: blob.sizeBytes, name, content_type: mediaType(part.type) }
  } catch (error) {
    req.unpipe(form.parser)
    form.parser.destroy(error as Error)
    await form.ended.catch(refuse) // the first fault, where this one only follows from it
    throw error
  } finally {
    req.setTimeout(0)
  }
}

function refuseByHead(req: IncomingMessage, maxBytes: number): void {
  const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = req.headers
  if (!MULTIPART.test(type)) {
    throw new AppError(
      'unsupported_media_type',
      `Send the file as multipart/form-data, not ${type.slice(0, 80) || 'with an empty Content-Type'}.`,
    )
  }
  if (encoding !== 'identity') {
    throw new AppError('unsupported_media_type', 'Send the form without a Content-Encoding.')
  }
  if (Number(req.headers['content-length'] ?? 0) > maxBytes) throw tooLarge('the whole form', maxBytes)
}

function tooLarge(what: string, maxBytes: number): AppError {
  const message = `${what} must be at most ${maxBytes} bytes`
  return new AppError('too_large', `${FILE_PART}: ${message}`, { details: [{ path: FILE_PART, message }] })
}

function openForm(req: IncomingMessage, bounds: Bounds): Form {
  const parser = parserFor(req)
  const ended = finished(parser)
  ended.catch(() => undefined) // whoever waits for it hears of it
  const fields = new Map<string, string>()
  const opened = new Promise<FilePart>((open) => {
    let hasFile = false
    parser.on('file', (name, stream, { filename, encoding, mimeType }) => {
      stream.on('error', () => undefined) // the form ends with the same fault
      const fault = faultOfFile({ name, encoding, hasFile })
      hasFile = true
      if (fault) parser.destroy(fault)
      else open({ stream, name: filename, type: mimeType })
    })
    parser.on('field', (name, value, { valueTruncated }) => {
      const fault = faultOfField({ name, hasFile, isTwice: fields.has(name), valueTruncated })
      if (fault) parser.destroy(fault)
      else fields.set(name, value)
    })
  })
  parser.on('fieldsLimit', () =>
    parser.destroy(new AppError('invalid_request', `A form can have at most ${MAX_FORM_FIELDS} fields.`)),
  )
  parser.on('filesLimit', () => parser.destroy(invalidField(FILE_PART, 'is given twice')))
  parser.on('partsLimit', () => parser.destroy(new AppError('invalid_request', 'The form has too many parts.')))
  feed(req, parser, bounds)
  return { parser, fields, opened, ended }
}

function parserFor(req: IncomingMessage): busboy.Busboy {
  try {
    return busboy({
      headers: req.headers,
      preservePath: true, // a path in a name is refused, not quietly cut
      defParamCharset: 'utf8',
      limits: {
        fieldSize: MAX_FORM_FIELD_BYTES + 1,
        fields: MAX_FORM_FIELDS,
        files: 1,
        parts: MAX_FORM_FIELDS + 3, // one past the limits above, and the part behind the last boundary
      },
    })
  } catch {
    // The parser's constructor throws only if the boundary is missing.
    throw new AppError('invalid_request', 'The Content-Type has no boundary.')
  }
}

function feed(req: IncomingMessage, parser: busboy.Busboy, { maxBytes, idleMs }: Bounds): void {
  let read = 0
  req.on('data', (chunk: Buffer) => {
    read += chunk.length
    if (read > maxBytes) parser.destroy(tooLarge('the whole form', maxBytes))
  })
  req.once('error', () => parser.destroy(new AppError('invalid_request', 'The request was aborted.')))
  req.once('close', () => {
    if (!req.complete) parser.destroy(new AppError('invalid_request', 'The request was aborted.'))
  })
  req.setTimeout(idleMs, () => {
    parser.destroy(new AppError('request_timeout', `No data was received for ${idleMs} ms.`))
  })
  req.pipe(parser)
}

function faultOfFile(part: { name: string | undefined; encoding: string; hasFile: boolean }): AppError | undefined {
  if (part.hasFile) return invalidField(FILE_PART, 'is given twice')
  if (part.name !== FILE_PART)
    return invalidField(part.name?.slice(0, 80) || 'body', `is a file; only "${FILE_PART}" can be a file`)
  if (!PLAIN_ENCODINGS.has(part.encoding)) {
    return new AppError(
      'unsupported_media_type',
      `${FILE_PART}: send its bytes as they are, not as ${part.encoding.slice(0, 80)}`,
      { details: [{ path: FILE_PART, message: 'must have no Content-Transfer-Encoding' }] },
    )
  }
  return undefined
}

function faultOfField(field: {
  name: string | undefined
  hasFile: boolean
  isTwice: boolean
  valueTruncated: boolean
}): AppError | undefined {
  const { name } = field
  if (name === undefined) return new AppError('invalid_request', 'A part of the form has no name.')
  if (Buffer.byteLength(name) > MAX_FORM_FIELD_NAME_BYTES) {
    return new AppError('invalid_request', `Field names must be at most ${MAX_FORM_FIELD_NAME_BYTES} bytes.`)
  }
  if (name === FILE_PART) return invalidField(name, 'must be a file: give it a filename')
  if (field.hasFile) return invalidField(name, 'comes after the file: send the fields first')
  if (field.isTwice) return invalidField(name, 'is given twice')
  if (field.valueTruncated) return invalidField(name, `must be at most ${MAX_FORM_FIELD_BYTES} bytes`)
  return undefined
}

/** The file's bytes. Fails at the end if the form was invalid, so that no broken file is stored. */
async function* wholeForm({ stream }: FilePart, { ended }: Form, maxBytes: number): AsyncGenerator<Uint8Array> {
  let read = 0
  for await (const chunk of stream) {
    read += (chunk as Uint8Array).byteLength
    if (read > maxBytes) throw tooLarge('the file', maxBytes)
    yield chunk as Uint8Array
    free(chunk as Uint8Array)
  }
  await ended
  if (read === 0) throw invalidField(FILE_PART, 'is empty')
}

/**
 * Frees the memory of a written chunk. Otherwise V8 would let the buffers of an upload grow to 64 MiB before it
 * collects them. A buffer that other data shares is kept.
 */
function free({ buffer, byteOffset, byteLength }: Uint8Array): void {
  if (byteOffset === 0 && byteLength === buffer.byteLength && buffer instanceof ArrayBuffer) buffer.transfer(0)
}

function refuseWithoutFile(): never {
  throw invalidField(FILE_PART, 'is missing')
}

/** Throws an AppError. An error of the parser becomes a 400, because the sender's form is invalid. */
function refuse(fault: unknown): never {
  if (fault instanceof AppError) throw fault
  const message = fault instanceof Error ? fault.message : ''
  throw new AppError(
    'invalid_request',
    message.startsWith('Unexpected end') ? 'The form ends before its last boundary.' : 'The form is malformed.',
  )
}
