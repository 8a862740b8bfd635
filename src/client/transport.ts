import type { Agent, ClientRequest, IncomingMessage, RequestOptions } from 'node:http'
import { AppError, errnoOf } from '../core/error.ts'
import { staysHere } from '../core/loopback.ts'
import { keptIn } from '../core/record.ts'
import { HandshakeTimeout, PinMismatch, pinnedSocket } from './pin.ts'

/** Maximum size of a response that is read into memory. A larger one is read with `chunks` or `file`. */
const ANSWER_BYTES_MAX = 64 * 1024 * 1024
export const REQUEST_TIMEOUT_MS = 30_000
/** Time limit for a whole body, as a multiple of `timeoutMs`. */
const WHOLE_BODY_TIMES = 10
/** Size limit of backups and exports. */
const FILE_BYTES_MAX = 64 * 1024 ** 3
/** Minimum transfer rate of a file, with the time limit for other bodies as a grace period. */
const SLOWEST_BYTES_PER_S = 1_024
const S_MS = 1_000
/** Maximum number of characters shown of a header value. */
const SHOWN_VALUE_CHARS_MAX = 60

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'DELETE' | 'PATCH' | 'HEAD' | 'OPTIONS'

export type TransportRequest = {
  readonly method: HttpMethod
  /** Path with query: `/v1/services/catalog?limit=2`. */
  readonly path: string
  /** Names in any case. A header of the transport with the same name is replaced. */
  readonly headers?: Readonly<Record<string, string>>
  /** A stream needs `content-length` in the headers. */
  readonly body?: string | Uint8Array | AsyncIterable<Uint8Array>
  /** Aborts the exchange, body included. */
  readonly signal?: AbortSignal
  /** Time limit in ms for the response and each of its chunks, after a streamed body is sent. 0 means no limit. */
  readonly timeoutMs?: number
}

export type TransportResponse = {
  readonly status: number
  /** Names in lower case; the values of a repeated header are joined by a comma. */
  readonly headers: Readonly<Record<string, string>>
  /** Reads the whole body; can be called once. @throws TransportError above 64 MiB */
  bytes(): Promise<Uint8Array>
  text(): Promise<string>
  /** Yields the body of an endless stream in chunks. The body can be read once. */
  chunks(): AsyncIterable<Uint8Array>
  /**
   * Yields the body of a file in chunks. The body can be read once.
   * @throws TransportError if it is too large or too slow, not counting the reader's own time
   */
  file(maxBytes?: number): AsyncIterable<Uint8Array>
}

export type Transport = (request: TransportRequest) => Promise<TransportResponse>

export type TransportOptions = {
  /** Origin with an optional path prefix. */
  readonly baseUrl: string
  /** Headers of every request, with credentials. */
  readonly headers?: Readonly<Record<string, string>>
  readonly timeoutMs?: number
  /** Fingerprint of the pinned certificate, from `fingerprintOf` (default: trusted authorities decide). */
  readonly fingerprint?: string | undefined
  /**
   * What may be sent over plain HTTP to another machine (default: no credentials, no payments). `credentials`:
   * credentials, on a trusted network. `everything`: payments too.
   */
  readonly inTheClear?: InTheClear | undefined
  /** Connections that are kept for further reads (default: each request opens a new connection). */
  readonly connections?: KeptConnections | undefined
}

export type KeptConnections = (url: URL) => Agent

/** Makes connections that stay open for further requests, but do not keep the process alive. */
export function keepConnections(): KeptConnections {
  const kept = new Map<string, Agent>()
  return ({ protocol }) => {
    const { Agent: Kept } = process.getBuiltinModule(protocol === 'https:' ? 'node:https' : 'node:http')
    return keptIn(kept, protocol, () => new Kept({ keepAlive: true }))
  }
}

export type InTheClear = 'credentials' | 'everything'

export type TransportFailure = 'refused' | 'untrusted' | 'in_the_clear' | 'timeout' | 'broken' | 'too_large' | 'aborted'

/** Thrown if there is no usable response: nothing listens, a timeout, or a broken connection. */
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
  untrusted: 'its certificate is not trusted',
  in_the_clear: 'a credential is not sent over plain HTTP to another machine',
  timeout: 'no response in time',
  broken: 'the connection was lost',
  too_large: 'the response is too large',
  aborted: 'the request was cancelled',
}

/** Sends requests to an instance, and returns any response. @throws TransportError if there is no response */
export function createTransport(options: TransportOptions): Transport {
  const base = new URL(options.baseUrl)
  const prefix = base.pathname.replace(/\/$/, '')
  return async (request) => {
    const url = urlOf(base, prefix, request.path)
    const headers = { ...lowerCased(options.headers), ...lowerCased(request.headers) }
    if (readOnTheWay(url, Object.keys(headers), options.inTheClear)) throw new TransportError('in_the_clear', url.href)
    const timeoutMs = request.timeoutMs ?? options.timeoutMs ?? REQUEST_TIMEOUT_MS
    const message = await exchange(
      url,
      { ...request, headers },
      { timeoutMs, fingerprint: options.fingerprint, connections: options.connections },
    )
    return answerOf(message, { url: url.href, timeoutMs })
  }
}

/** Matches text that is no plain path. A URL parser would find a host or an escape in it, or drop its whitespace. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: - control characters are among what has to be refused
const NOT_A_PATH = /^(?!\/)|^\/\/|[\\#\u0000-\u0020\u007F]/
/** Path segments `.` and `..`, also percent-encoded. */
const DOTS = /^(\.|%2e){1,2}$/i

/** Whether a text is a path on the instance, with optional query. */
export function isPlainPath(path: string): boolean {
  return !NOT_A_PATH.test(path) && !(path.split('?')[0] ?? '').split('/').some((part) => DOTS.test(part))
}

/**
 * The URL for a path at this instance. Other targets are refused, since credentials are sent.
 * @throws AppError invalid_request
 */
function urlOf(base: URL, prefix: string, path: string): URL {
  const url = isPlainPath(path) ? URL.parse(base.origin + prefix + path) : null
  if (url?.origin === base.origin && url.username === '') return url
  throw new AppError('invalid_request', `${JSON.stringify(path)} is not a path of this instance.`, {
    details: [
      { path: 'path', message: 'must begin with one /, and have no . or .. segment, backslash, # or white space' },
    ],
  })
}

// Importing `node:http` would also load undici, and loading undici would take most of a start. The module that
// `process` returns does not load it.
function requestOf(url: URL): (url: URL, options: RequestOptions) => ClientRequest {
  return url.protocol === 'https:'
    ? process.getBuiltinModule('node:https').request
    : process.getBuiltinModule('node:http').request
}

type Terms = Pick<TransportOptions, 'connections'> & {
  readonly timeoutMs: number
  readonly fingerprint: string | undefined
}

async function exchange(url: URL, request: TransportRequest, terms: Terms): Promise<IncomingMessage> {
  const { timeoutMs, fingerprint, connections } = terms
  // Only reads reuse a connection. If the server is just closing the connection, a read can be repeated.
  const agent = request.method === 'GET' ? connections?.(url) : undefined
  if (fingerprint === undefined) return converse(url, request, { timeoutMs, open: requestOf(url), agent })
  if (url.protocol !== 'https:') throw new TransportError('untrusted', url.href)
  try {
    const socket = await pinnedSocket(url, fingerprint, { timeoutMs, signal: request.signal })
    const { request: start } = process.getBuiltinModule('node:http')
    const { hostname, port, pathname, search, host } = url
    // Uses the checked socket, because an HTTP agent would open another connection.
    const place = { protocol: 'http:', hostname, port, path: pathname + search, createConnection: () => socket }
    return await converse(url, request, {
      timeoutMs,
      open: (_url, options) =>
        start({ ...withoutAgent(options), ...place, headers: { host, ...(options.headers as object) } }),
    })
  } catch (error) {
    throw error instanceof Error && !(error instanceof TransportError)
      ? new TransportError(failureOf(error), url.href, error)
      : error
  }
}

function withoutAgent({ agent: _, ...options }: RequestOptions): RequestOptions {
  return options
}

type Conversation = {
  readonly timeoutMs: number
  readonly open: ReturnType<typeof requestOf>
  readonly agent?: Agent | undefined
}

function converse(url: URL, request: TransportRequest, conversation: Conversation): Promise<IncomingMessage> {
  const { timeoutMs, open, agent } = conversation
  return new Promise((resolve, reject) => {
    const outgoing = open(url, {
      method: request.method,
      headers: { ...request.headers, ...lengthOf(request.body) },
      agent: agent ?? false,
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
    outgoing.on('error', (error) => {
      // The server has probably closed the kept connection, so repeat the request on a new one.
      if (outgoing.reusedSocket && errnoOf(error) === 'ECONNRESET') {
        clearTimeout(timer)
        resolve(converse(url, request, { timeoutMs, open }))
      } else failed(failureOf(error), error)
    })
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

/** Writes a body as fast as the server accepts it; stops when a response arrives early. */
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

/** Certificate error codes. */
const UNTRUSTED = /^(CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_(GET|VERIFY)|ERR_TLS_CERT)/

function failureOf(error: Error): TransportFailure {
  if (error instanceof Timeout || error instanceof HandshakeTimeout) return 'timeout'
  if (error instanceof PinMismatch) return 'untrusted'
  if (error.name === 'AbortError') return 'aborted'
  const code = errnoOf(error) ?? ''
  if (UNTRUSTED.test(code)) return 'untrusted'
  return ['ECONNREFUSED', 'ENOTFOUND', 'EHOSTUNREACH', 'ENETUNREACH', 'EAI_AGAIN'].includes(code) ? 'refused' : 'broken'
}

function lengthOf(body: TransportRequest['body']): Record<string, string> {
  return body === undefined || isStream(body) ? {} : { 'content-length': String(Buffer.byteLength(body)) }
}

type Reading = { readonly url: string; readonly timeoutMs: number }

function answerOf(message: IncomingMessage, reading: Reading): TransportResponse {
  const chunks = () => chunksOf(message, reading)
  const bytes = () => collect(message, reading)
  return {
    status: message.statusCode ?? 0,
    headers: flat(message.headers),
    chunks,
    bytes,
    file: (maxBytes = FILE_BYTES_MAX) => fileOf(message, { ...reading, maxBytes }),
    text: async () => (await bytes()).toString('utf8'),
  }
}

async function* chunksOf(message: IncomingMessage, { url, timeoutMs }: Reading): AsyncGenerator<Uint8Array> {
  const parts: AsyncIterator<Uint8Array> = message[Symbol.asyncIterator]()
  // The timer runs only while the server is awaited, not while the caller works on a chunk.
  const next = async () => {
    const timer = timeoutMs > 0 ? setTimeout(() => message.destroy(new Timeout()), timeoutMs) : undefined
    return parts.next().finally(() => clearTimeout(timer))
  }
  try {
    for (let part = await next(); part.done !== true; part = await next()) yield part.value
  } catch (error) {
    if (error instanceof TransportError) throw error
    throw new TransportError(error instanceof Error ? failureOf(error) : 'broken', url, error)
  } finally {
    // Needed if the caller stops reading before the end.
    message.destroy()
  }
}

async function* fileOf(
  message: IncomingMessage,
  { maxBytes, ...reading }: Reading & { readonly maxBytes: number },
): AsyncGenerator<Uint8Array> {
  const { url, timeoutMs } = reading
  if (Number(message.headers['content-length'] ?? 0) > maxBytes) {
    message.destroy()
    throw new TransportError('too_large', url)
  }
  let [total, waitedMs, since] = [0, 0, performance.now()]
  for await (const chunk of chunksOf(message, reading)) {
    waitedMs += performance.now() - since
    total += chunk.byteLength
    if (total > maxBytes) throw new TransportError('too_large', url)
    const paceMs = timeoutMs * WHOLE_BODY_TIMES + (total / SLOWEST_BYTES_PER_S) * S_MS
    if (timeoutMs > 0 && waitedMs > paceMs) throw new TransportError('timeout', url)
    yield chunk
    since = performance.now()
  }
}

async function collect(message: IncomingMessage, reading: Reading): Promise<Buffer> {
  const { url, timeoutMs } = reading
  const parts: Uint8Array[] = []
  let total = 0
  const wholeMs = timeoutMs * WHOLE_BODY_TIMES
  const timer = wholeMs > 0 ? setTimeout(() => message.destroy(new Timeout()), wholeMs) : undefined
  try {
    for await (const chunk of chunksOf(message, reading)) {
      total += chunk.byteLength
      if (total > ANSWER_BYTES_MAX) throw new TransportError('too_large', url)
      parts.push(chunk)
    }
  } finally {
    clearTimeout(timer)
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

const PAYMENT_HEADERS = new Set(['x-balance-auth', 'x-payment', 'payment-signature'])
const CREDENTIAL_HEADERS = new Set(['authorization', 'x-api-key', 'sign-in-with-x', 'cookie', 'set-cookie'])

export function isSecretHeader(name: string): boolean {
  return PAYMENT_HEADERS.has(name.toLowerCase()) || CREDENTIAL_HEADERS.has(name.toLowerCase())
}

/** Whether others on the network could read a secret in these headers, and `allowed` does not permit that. */
export function readOnTheWay(url: string | URL, names: readonly string[], allowed: InTheClear | undefined): boolean {
  if (allowed === 'everything' || new URL(url).protocol === 'https:' || staysHere(url)) return false
  const kept = allowed === 'credentials' ? names.filter((name) => PAYMENT_HEADERS.has(name.toLowerCase())) : names
  return kept.some(isSecretHeader)
}

/** The headers in one line; secret values are redacted. */
export function shownHeaders(headers: Readonly<Record<string, string>>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}=${isSecretHeader(name) ? '‹redacted›' : clipped(value)}`)
    .join(' ')
}

function clipped(value: string): string {
  return value.length > SHOWN_VALUE_CHARS_MAX ? `${value.slice(0, SHOWN_VALUE_CHARS_MAX)}…` : value
}
