import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http'

/** Largest answer that is read whole into memory; bigger ones are read as `chunks`. */
const ANSWER_BYTES_MAX = 64 * 1024 * 1024
export const REQUEST_TIMEOUT_MS = 30_000
/** Longest header value that a debug line shows. */
const DEBUG_VALUE_CHARS_MAX = 60

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'DELETE' | 'PATCH' | 'HEAD' | 'OPTIONS'

export type TransportRequest = {
  readonly method: HttpMethod
  /** Path with its query, as the contract builds it: `/v1/services/catalog?limit=2`. */
  readonly path: string
  /** Names in any case; a name given here replaces the transport's own. */
  readonly headers?: Readonly<Record<string, string>>
  /** A stream is sent as it comes; its `content-length` goes with the headers. */
  readonly body?: string | Uint8Array | AsyncIterable<Uint8Array>
  /** Ends the exchange, body included. */
  readonly signal?: AbortSignal
  /** Longest silence before the answer's head arrives, from the end of a streamed body on; 0 waits for ever. */
  readonly timeoutMs?: number
}

export type TransportResponse = {
  readonly status: number
  /** Lower-case names; repeated headers are joined by a comma. */
  readonly headers: Readonly<Record<string, string>>
  /** Reads the whole body, once. @throws TransportError when it is larger than 64 MiB. */
  bytes(): Promise<Uint8Array>
  text(): Promise<string>
  /** The body as it arrives, for downloads and event streams; once. */
  chunks(): AsyncIterable<Uint8Array>
}

export type Transport = (request: TransportRequest) => Promise<TransportResponse>

export type TransportOptions = {
  /** Origin, with an optional path prefix; no trailing slash needed. */
  readonly baseUrl: string
  /** Sent with every request, credentials among them. */
  readonly headers?: Readonly<Record<string, string>>
  readonly timeoutMs?: number
  /** Receives one redacted line for a request and one for its answer. */
  readonly debug?: (line: string) => void
}

export type TransportFailure = 'refused' | 'timeout' | 'broken' | 'too_large' | 'aborted'

/** No usable answer came: nothing listened, it took too long, or the connection broke. */
export class TransportError extends Error {
  override readonly name = 'TransportError'
  readonly failure: TransportFailure
  readonly url: string
  constructor(failure: TransportFailure, url: string, cause?: unknown) {
    super(`${url}: ${sentences[failure]}`, cause === undefined ? undefined : { cause })
    this.failure = failure
    this.url = url
  }
}

const sentences: Record<TransportFailure, string> = {
  refused: 'nothing listens there',
  timeout: 'no answer in time',
  broken: 'the connection broke',
  too_large: 'the answer is too large',
  aborted: 'the request was ended',
}

/** Sends requests to one instance. Answers of any status resolve; only missing answers throw. */
export function createTransport(options: TransportOptions): Transport {
  const base = new URL(options.baseUrl)
  const prefix = base.pathname.replace(/\/$/, '')
  return async (request) => {
    const url = new URL(prefix + request.path, base)
    const headers = { ...lowerCased(options.headers), ...lowerCased(request.headers) }
    options.debug?.(`> ${request.method} ${url.pathname}${url.search} ${shownHeaders(headers)}`)
    const startedAt = Date.now()
    const message = await exchange(url, { ...request, headers }, request.timeoutMs ?? options.timeoutMs)
    const tookMs = Date.now() - startedAt
    const answer = answerOf(message, url.href)
    options.debug?.(`< ${answer.status} ${tookMs} ms ${shownHeaders(answer.headers)}`)
    return answer
  }
}

// Importing node:http as a module evaluates its lazy WebSocket export and with it all of undici, which costs more
// than the rest of a start; the builtin object itself does not.
function requestOf(url: URL): (url: URL, options: RequestOptions) => ClientRequest {
  return url.protocol === 'https:'
    ? process.getBuiltinModule('node:https').request
    : process.getBuiltinModule('node:http').request
}

function exchange(url: URL, request: TransportRequest, timeoutMs = REQUEST_TIMEOUT_MS): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const outgoing = requestOf(url)(url, {
      method: request.method,
      headers: { ...request.headers, ...lengthOf(request.body) },
      agent: false,
      ...(request.signal ? { signal: request.signal } : {}),
    })
    const failed = (failure: TransportFailure, cause?: unknown) => {
      clearTimeout(timer)
      reject(new TransportError(failure, url.href, cause))
    }
    let timer: NodeJS.Timeout | undefined
    const startWaiting = () => {
      if (timeoutMs > 0) timer = setTimeout(() => outgoing.destroy(new Timeout()), timeoutMs)
    }
    outgoing.once('response', (message) => {
      clearTimeout(timer)
      resolve(message)
    })
    outgoing.on('error', (error) => failed(failureOf(error), error))
    if (isStream(request.body)) {
      feed(outgoing, request.body).then(startWaiting, (error) => {
        reject(error)
        outgoing.destroy()
      })
    } else {
      startWaiting()
      outgoing.end(request.body)
    }
  })
}

function isStream(body: TransportRequest['body']): body is AsyncIterable<Uint8Array> {
  return typeof body === 'object' && Symbol.asyncIterator in body
}

/** Writes a body as fast as it is taken; an answer that comes before its end, a refusal, ends it. */
async function feed(outgoing: ClientRequest, body: AsyncIterable<Uint8Array>): Promise<void> {
  let isAnswered = false
  const answered = new Promise<void>((done) => {
    outgoing.once('response', () => {
      isAnswered = true
      done()
    })
    outgoing.once('close', done)
  })
  for await (const chunk of body) {
    if (isAnswered || outgoing.destroyed) return
    if (!outgoing.write(chunk)) await Promise.race([answered, new Promise((done) => outgoing.once('drain', done))])
  }
  outgoing.end()
}

class Timeout extends Error {}

function failureOf(error: Error): TransportFailure {
  if (error instanceof Timeout) return 'timeout'
  if (error.name === 'AbortError') return 'aborted'
  const code = (error as NodeJS.ErrnoException).code ?? ''
  return ['ECONNREFUSED', 'ENOTFOUND', 'EHOSTUNREACH', 'ENETUNREACH', 'EAI_AGAIN'].includes(code) ? 'refused' : 'broken'
}

function lengthOf(body: TransportRequest['body']): Record<string, string> {
  return body === undefined || isStream(body) ? {} : { 'content-length': String(Buffer.byteLength(body)) }
}

function answerOf(message: IncomingMessage, url: string): TransportResponse {
  const chunks = () => chunksOf(message, url)
  const bytes = () => collect(chunks(), url)
  return {
    status: message.statusCode ?? 0,
    headers: flat(message.headers),
    chunks,
    bytes,
    text: async () => (await bytes()).toString('utf8'),
  }
}

async function* chunksOf(message: IncomingMessage, url: string): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of message) yield chunk as Uint8Array
  } catch (error) {
    if (error instanceof TransportError) throw error
    throw new TransportError(error instanceof Error && error.name === 'AbortError' ? 'aborted' : 'broken', url, error)
  }
}

async function collect(chunks: AsyncIterable<Uint8Array>, url: string): Promise<Buffer> {
  const parts: Uint8Array[] = []
  let total = 0
  for await (const chunk of chunks) {
    total += chunk.byteLength
    if (total > ANSWER_BYTES_MAX) throw new TransportError('too_large', url)
    parts.push(chunk)
  }
  return Buffer.concat(parts)
}

function flat(headers: NodeJS.Dict<string | string[]>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
    ),
  )
}

function lowerCased(headers: Readonly<Record<string, string>> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}

const SECRET_HEADERS = new Set([
  'authorization',
  'x-api-key',
  'x-balance-auth',
  'x-payment',
  'payment-signature',
  'cookie',
  'set-cookie',
])

/** Headers as one debug or dry-run line; credentials and signatures are never shown. */
export function shownHeaders(headers: Readonly<Record<string, string>>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}=${SECRET_HEADERS.has(name.toLowerCase()) ? '‹redacted›' : clipped(value)}`)
    .join(' ')
}

function clipped(value: string): string {
  return value.length > DEBUG_VALUE_CHARS_MAX ? `${value.slice(0, DEBUG_VALUE_CHARS_MAX)}…` : value
}
