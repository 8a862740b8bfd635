import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gzip, gzipSync } from 'node:zlib'
import { hasPages } from '../../src/api/endpoint/define.ts'
import { api, type EndpointName, endpointNames } from '../../src/api/index.ts'
import type { AppError } from '../../src/core/error.ts'
import { before } from '../../src/core/record.ts'
import { errorDocument, problemDocument } from '../endpoint/error-document.ts'
import { EVENT_STREAM_TYPE, type EventOut, JSON_TYPE, type ReplyOut } from '../endpoint/exchange.ts'
import { pageHeaders } from '../endpoint/handler.ts'
import { MIN_GZIP_BYTES, type SharedPage } from '../endpoint/page-cache.ts'
import { prefers, prefersPage, takesGzip } from './answer.ts'
import { errorPage } from './error-page.ts'
import { isAmong, sendFile } from './file.ts'
import { HEARTBEAT_MS, LINGER_MS, RETRY_AFTER_S, STREAM_END_MS, STREAM_STALL_MS } from './limits.ts'
import { hasBody } from './read-exchange.ts'

const addresses = endpointNames
  .filter((name) => hasPages(api[name]))
  .map((name) => ({ name, pattern: patternOf(api[name].path) }))

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll('.', '\\.').replace(/:[A-Za-z]+/g, '[^/]+')}/?$`)
}

/** The page endpoint at the address of a request, for any method. */
export function pageEndpointOf(req: IncomingMessage): EndpointName | undefined {
  const path = pathOf(req)
  return addresses.find(({ pattern }) => pattern.test(path))?.name
}

/** Path without the query. Express changes `url` for routers, and keeps the original in `originalUrl`. */
function pathOf(req: IncomingMessage & { readonly originalUrl?: string }): string {
  return before(req.originalUrl ?? req.url ?? '/', '?')
}

/**
 * Sends the body of a response. If the request is not fully received, closing the connection would lose the response.
 * The rest of the request is therefore read and discarded, for a limited time, before the connection ends.
 */
function endAnswer(res: ServerResponse, body: string | Buffer): void {
  const { req } = res
  if (req.complete || !hasBody(req)) {
    res.end(body)
    return
  }
  res.write(body)
  const timer = setTimeout(() => {
    res.end()
    req.socket.destroySoon()
  }, LINGER_MS)
  req.once('close', () => clearTimeout(timer))
  req.once('end', () => {
    clearTimeout(timer)
    res.end()
  })
  req.resume()
}

/** Writes a reply, or 304 if `If-None-Match` matches. */
export async function sendReply(res: ServerResponse, reply: ReplyOut, stopping: AbortSignal): Promise<void> {
  if (res.headersSent || res.destroyed) return
  if (stopping.aborted) res.setHeader('Connection', 'close') // a stop waits for every connection
  if (reply.kind === 'events') return sendEvents(res, reply, stopping)
  if (reply.kind === 'file') return sendFile(res, reply)
  if (reply.kind === 'stream') return sendChunks(res, reply)
  const { headers, body } = reply
  const known = res.req.headers['if-none-match']
  if (headers.ETag !== undefined && known !== undefined && isAmong(known, headers.ETag)) {
    res.writeHead(304, { ETag: headers.ETag }).end()
    return
  }
  if (reply.status === 204) {
    res.writeHead(204, headers).end()
    return
  }
  const length = Buffer.byteLength(body)
  if (length >= MIN_GZIP_BYTES && isText(headers['Content-Type']) && takesGzip(acceptedEncoding(res))) {
    const packed = await compressed(body, length)
    res.writeHead(reply.status, { ...headers, 'Content-Encoding': 'gzip', 'Content-Length': packed.length })
    endAnswer(res, packed)
    return
  }
  res.writeHead(reply.status, { ...headers, 'Content-Length': length })
  endAnswer(res, body)
}

/** Up to this size, gzip runs inline in about 1 ms. In a busy thread pool it would take many times as long. */
const MAX_INLINE_GZIP_BYTES = 128 * 1_024
const compress = promisify<string | Buffer, Buffer>(gzip)

function compressed(body: string | Buffer, length: number): Buffer | Promise<Buffer> {
  return length <= MAX_INLINE_GZIP_BYTES ? gzipSync(body) : compress(body)
}

/** Compressible types: JSON, pages, text. */
function isText(type: string | undefined): boolean {
  return type !== undefined && /^(text\/|application\/([\w.+-]+\+)?json)/.test(type)
}

function acceptedEncoding({ req }: ServerResponse): string | undefined {
  return req.headers['accept-encoding']?.toString()
}

/** Writes a cached page, with all headers in one call. @param head - additional headers */
export function sendPage(res: ServerResponse, page: SharedPage, head: readonly string[]): void {
  const { headers } = res.req
  const known = headers['if-none-match']
  if (known !== undefined && isAmong(known, page.etag)) {
    res.writeHead(304, [...head, 'ETag', page.etag]).end()
    return
  }
  const form = takesGzip(acceptedEncoding(res)) ? page.gzip() : page.plain
  res.writeHead(200, [...head, ...form.head]).end(form.body)
}

/** Why a daemon serves no requests now, if it serves none; what it says else. */
type Probed = { readonly away?: string | undefined; readonly well?: string }

/**
 * Answers `/live` and `/ready`, by which proxies and supervisors choose a daemon.
 * @returns false for any other path
 */
export function answerProbe(
  { url = '' }: IncomingMessage,
  res: ServerResponse,
  { away, well = 'ok' }: Probed,
): boolean {
  const path = before(url, '?')
  if (path !== '/live' && path !== '/ready') return false
  const isWell = path === '/live' || away === undefined
  const headers = { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-store' }
  res.writeHead(isWell ? 200 : 503, { ...headers, ...(isWell ? {} : { 'Retry-After': RETRY_AFTER_S }) })
  res.end(`${isWell ? well : away}\n`)
  return true
}

type Failed = {
  readonly requestId: string
  /** Whether no endpoint has this address. */
  readonly isNowhere?: boolean
}

/** Sends an error in the requested form. Pages are sent only at addresses that people open (decisions §2). */
export function sendError(res: ServerResponse, error: AppError, failed: Failed): void {
  const { headers, body } = errorForm(res.req, error, failed)
  if (error.retryAfter !== undefined) headers['Retry-After'] = String(error.retryAfter)
  if (res.headersSent || res.destroyed) {
    res.destroy()
    return
  }
  res.writeHead(error.status, { ...headers, 'Content-Length': Buffer.byteLength(body) })
  endAnswer(res, body)
}

type ErrorForm = { readonly headers: Record<string, string>; readonly body: string }

function errorForm(req: IncomingMessage, error: AppError, { requestId, isNowhere = false }: Failed): ErrorForm {
  const endpoint = pageEndpointOf(req)
  // Errors of the API are always JSON.
  if ((endpoint || (isNowhere && !pathOf(req).startsWith('/v1/'))) && prefersPage(req.headers.accept)) {
    return { headers: { ...pageHeaders, Vary: 'Accept' }, body: errorPage({ error, requestId, endpoint }).markup }
  }
  const problem = prefers(req.headers.accept, 'application/problem+json')
  const document = problem ? problemDocument(error, requestId) : errorDocument(error, requestId)
  return {
    headers: { 'Content-Type': problem ? 'application/problem+json' : JSON_TYPE, 'Cache-Control': 'no-store' },
    body: JSON.stringify(document),
  }
}

type Stream = Extract<ReplyOut, { kind: 'events' }>

/**
 * Sends server-sent events with a heartbeat until the daemon stops. Fetches the next event only when the reader has
 * kept up. A stalled reader is disconnected and can resume by cursor.
 */
async function sendEvents(res: ServerResponse, reply: Stream, stopping: AbortSignal): Promise<void> {
  res.writeHead(200, { ...reply.headers, 'Content-Type': EVENT_STREAM_TYPE, 'X-Accel-Buffering': 'no' })
  res.write('event: connected\ndata: {}\n\n')
  const ended = new AbortController()
  res.once('close', () => ended.abort())
  // Ends the stream, then the connection, because a stalled reader never reads the end of the stream.
  const leave = () => {
    res.end()
    setTimeout(() => res.destroy(), STREAM_END_MS).unref()
  }
  stopping.addEventListener('abort', leave)
  const beat = heartbeat(res, ended.signal)
  try {
    for await (const event of reply.events) {
      if (res.destroyed) break
      if (!res.write(frame(event)) && !(await drained(res, ended.signal))) break
    }
  } finally {
    stopping.removeEventListener('abort', leave)
    ended.abort()
    await beat
    res.end()
  }
}

async function drained(res: ServerResponse, ended: AbortSignal): Promise<boolean> {
  const signal = AbortSignal.any([ended, AbortSignal.timeout(STREAM_STALL_MS)])
  const [taken] = await Promise.allSettled([once(res, 'drain', { signal })])
  return taken.status === 'fulfilled'
}

function frame({ id, event, data }: EventOut): string {
  return `id: ${id}\nevent: ${event}\ndata: ${data}\n\n`
}

async function heartbeat(res: ServerResponse, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await sleep(HEARTBEAT_MS, undefined, { signal, ref: false }).catch(() => undefined) // ends with the stream
    if (!signal.aborted) res.write(': beat\n\n')
  }
}

type Chunks = Extract<ReplyOut, { kind: 'stream' }>

/** Sends generated chunks at the reader's pace. For HEAD, nothing is generated. */
async function sendChunks(res: ServerResponse, { headers, chunks }: Chunks): Promise<void> {
  res.writeHead(200, headers)
  if (res.req.method === 'HEAD') res.end()
  else await stream(res, Readable.from(chunks()))
}

/**
 * Sends a stream. It is no error if the reader disconnects. If the stream itself fails, the connection is ended, so
 * that a part is not mistaken for the whole.
 */
async function stream(res: ServerResponse, content: NodeJS.ReadableStream): Promise<void> {
  try {
    await pipeline(content, res)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE')) throw error
  }
}
