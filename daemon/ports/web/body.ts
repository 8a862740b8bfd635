import { Readable } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { isKeyOf } from '../../../src/core/record.ts'
import { WebError } from './error.ts'

export type BodyLimit = {
  readonly maxBytes: number
  readonly truncate: boolean
}
export type ReadBody = { readonly bytes: Buffer; readonly truncated: boolean }

/** Accepted content encodings. The daemon requests none, but some servers compress anyway. */
const decoders = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
} as const

/** Reads a body, limiting raw and decoded bytes. @throws WebError `too_large`, `encoding_refused`; stream errors */
export async function readBody(stream: Readable, encoding: string | undefined, limit: BodyLimit): Promise<ReadBody> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of unpacked(stream, encoding, limit)) {
    const room = limit.maxBytes - size
    if (chunk.length > room) {
      if (!limit.truncate) throw tooLarge(limit)
      chunks.push(chunk.subarray(0, room))
      return { bytes: Buffer.concat(chunks), truncated: true }
    }
    chunks.push(chunk)
    size += chunk.length
  }
  return { bytes: Buffer.concat(chunks), truncated: false }
}

function unpacked(stream: Readable, encoding: string | undefined, limit: BodyLimit): AsyncIterable<Buffer> {
  const name = encoding?.trim().toLowerCase() ?? ''
  if (name === '' || name === 'identity') return stream
  const create = isKeyOf(decoders, name) ? decoders[name] : undefined
  if (!create) throw new WebError('encoding_refused', 'The response has an unsupported content encoding.')
  const decoder = create()
  const source = Readable.from(capped(stream, limit))
  source.on('error', (error) => decoder.destroy(error))
  decoder.on('close', () => source.destroy())
  return source.pipe(decoder)
}

/** Limits raw bytes, because an endless stream may decode to nothing. */
async function* capped(stream: AsyncIterable<Buffer>, limit: BodyLimit): AsyncGenerator<Buffer> {
  let size = 0
  for await (const chunk of stream) {
    size += chunk.length
    if (size > limit.maxBytes) throw tooLarge(limit)
    yield chunk
  }
}

function tooLarge({ maxBytes }: BodyLimit): WebError {
  return new WebError('too_large', `The response is larger than ${maxBytes} bytes.`)
}
