import { Readable } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { Client } from 'undici'
import { isKeyOf } from '../../../src/core/record.ts'
import { guardedConnector, type Hop } from './connect.ts'
import { asWebError, WebError } from './error.ts'
import type { WebResponse } from './exchange.ts'
import { ROBOTS_AGENT } from './robots.ts'

type BodyLimit = { readonly maxBytes: number; readonly truncate: boolean }
/** Accepted content encodings. The daemon requests none, but some servers compress anyway. */
const decoders = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
} as const

/** Reads a body, limiting raw and decoded bytes. @throws WebError `too_large`, `encoding_refused`; stream errors */
async function readBody(stream: Readable, encoding: string | undefined, limit: BodyLimit) {
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

const MAX_HEADER_BYTES = 32 * 1024
export const USER_AGENT = `${ROBOTS_AGENT}/1 (agent services marketplace)`

/** One request, as it is copied to a worker thread. */
export type HopRequest = Hop &
  BodyLimit & {
    readonly url: string
    readonly method: 'GET' | 'POST'
    readonly headers: Readonly<Record<string, string>>
    readonly body?: string
  }

export type HopResponse = Pick<WebResponse, 'status' | 'headers' | 'body' | 'truncated'>

/** Sends one request on its own connection, so that the checked address is used. @throws WebError */
export async function requestOnce(request: HopRequest, signal: AbortSignal): Promise<HopResponse> {
  const { origin, pathname, search, protocol } = new URL(request.url)
  let connected = false
  const connect = guardedConnector(request, () => {
    connected = true
  })
  const client = new Client(origin, { connect, maxHeaderSize: MAX_HEADER_BYTES, pipelining: 1 })
  try {
    const answer = await client.request({
      method: request.method,
      path: `${pathname}${search}`,
      headers: { 'user-agent': USER_AGENT, 'accept-encoding': 'identity', ...request.headers },
      body: request.body ?? null,
      signal,
      reset: true,
    })
    const headers = joined(answer.headers)
    const { bytes, truncated } = await readBody(answer.body, headers['content-encoding'], request)
    return { status: answer.statusCode, headers, body: bytes, truncated }
  } catch (error) {
    throw asWebError(error, { connected, isTls: protocol === 'https:' })
  } finally {
    // The connection is no longer needed.
    client.destroy().catch(() => undefined)
  }
}

function joined(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const entries = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name.toLowerCase(), Array.isArray(value) ? value.join(', ') : value] as const],
  )
  return Object.fromEntries(entries)
}
