import type { Agent, ClientRequest, IncomingMessage, RequestOptions } from 'node:http'
import { AppError, errnoOf } from '../core/error.ts'
import { staysHere } from '../core/loopback.ts'
import { HandshakeTimeout, PinMismatch, pinnedSocket } from './pin.ts'

/** Largest answer that is read whole into memory; bigger ones are read as `chunks`. */
const ANSWER_BYTES_MAX = 64 * 1024 * 1024
export const REQUEST_TIMEOUT_MS = 30_000
/** A body that is read whole has to be there in so many times the longest silence: no trickle keeps a caller for ever. */
const WHOLE_BODY_TIMES = 10
/** Most of a file that no endpoint bounds: a backup, an export. */
const FILE_BYTES_MAX = 64 * 1024 ** 3
/** A file has as long as a body that is read whole, and from then on has to keep up this pace from its beginning. */
const SLOWEST_BYTES_PER_S = 1_024
const S_MS = 1_000
/** Longest header value that is shown. */
const SHOWN_VALUE_CHARS_MAX = 60

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
  /**
   * Longest silence before the answer's head arrives, from the end of a streamed body on, and then between two parts
   * of it; 0 waits for ever.
   */
  readonly timeoutMs?: number
}

export type TransportResponse = {
  readonly status: number
  /** Lower-case names; repeated headers are joined by a comma. */
  readonly headers: Readonly<Record<string, string>>
  /** Reads the whole body, once. @throws TransportError when it is larger than 64 MiB. */
  bytes(): Promise<Uint8Array>
  text(): Promise<string>
  /** The body as it arrives, for event streams, which have no end; once. */
  chunks(): AsyncIterable<Uint8Array>
  /**
   * The same of a body that has an end, once.
   * @throws TransportError when it is larger, or when it trickles: time that is spent on what was read does not count.
   */
  file(maxBytes?: number): AsyncIterable<Uint8Array>
}

export type Transport = (request: TransportRequest) => Promise<TransportResponse>

export type TransportOptions = {
  /** Origin, with an optional path prefix; no trailing slash needed. */
  readonly baseUrl: string
  /** Sent with every request, credentials among them. */
  readonly headers?: Readonly<Record<string, string>>
  readonly timeoutMs?: number
  /** SHA-256 of the one certificate that may be shown, as `fingerprintOf` writes it; else authorities decide. */
  readonly fingerprint?: string | undefined
  /**
   * What may go over plain HTTP to another machine: without it no credential and no payment. `credentials` where
   * somebody trusts the way there; `everything` where it never leaves this machine.
   */
  readonly inTheClear?: InTheClear | undefined
  /** Where connections are kept between reads, for whoever asks again and again; each has one of its own unless given. */
  readonly connections?: KeptConnections | undefined
}

/** The agent of an address, by its protocol. */
export type KeptConnections = (url: URL) => Agent

/** Connections that stay open while they are used, and keep no process alive. */
export function keepConnections(): KeptConnections {
  const kept = new Map<string, Agent>()
  return ({ protocol }) => {
    const known = kept.get(protocol)
    if (known) return known
    const { Agent: Kept } = process.getBuiltinModule(protocol === 'https:' ? 'node:https' : 'node:http')
    const agent = new Kept({ keepAlive: true })
    kept.set(protocol, agent)
    return agent
  }
}

export type InTheClear = 'credentials' | 'everything'

export type TransportFailure = 'refused' | 'untrusted' | 'in_the_clear' | 'timeout' | 'broken' | 'too_large' | 'aborted'

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
  untrusted: 'its certificate is not trusted',
  in_the_clear: 'a credential is not sent over plain HTTP to another machine',
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
    const url = urlOf(base, prefix, request.path)
    const headers = { ...lowerCased(options.headers), ...lowerCased(request.headers) }
    if (readOnTheWay(url, Object.keys(headers), options.inTheClear)) throw new TransportError('in_the_clear', url.href)
    const timeoutMs = request.timeoutMs ?? options.timeoutMs ?? REQUEST_TIMEOUT_MS
    const message = await exchange(
      url,
      { ...request, headers },
      {
        timeoutMs,
        fingerprint: options.fingerprint,
        connections: options.connections,
      },
    )
    return answerOf(message, { url: url.href, timeoutMs })
  }
}

/** Anything but a plain path: what a URL parser would take for a host, an escape, or white space to drop. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: - control characters are among what has to be refused
const NOT_A_PATH = /^(?!\/)|^\/\/|[\\#\u0000-\u0020\u007F]/
/** Parts that lead up, also as an escape. */
const DOTS = /^(\.|%2e){1,2}$/i

/** Whether a text is a path of an instance, with or without a query, and leads nowhere else. */
export function isPlainPath(path: string): boolean {
  return !NOT_A_PATH.test(path) && !(path.split('?')[0] ?? '').split('/').some((part) => DOTS.test(part))
}

/**
 * The address of a path at this instance, and at no other: credentials go with it.
 * @throws AppError invalid_request for a path that leads to another host, or not where it says.
 */
function urlOf(base: URL, prefix: string, path: string): URL {
  const url = isPlainPath(path) ? URL.parse(base.origin + prefix + path) : null
  if (url?.origin === base.origin && url.username === '') return url
  throw new AppError('invalid_request', `${JSON.stringify(path)} is not a path of this instance.`, {
    details: [
      { path: 'path', message: 'must begin with one /, without . or .. as a part, a backslash, # or white space' },
    ],
  })
}

// Importing node:http as a module evaluates its lazy WebSocket export and with it all of undici, which costs more
// than the rest of a start; the builtin object itself does not.
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
  // What changes something is never sent into a connection that the other side may be closing.
  const agent = request.method === 'GET' ? connections?.(url) : undefined
  if (fingerprint === undefined) return converse(url, request, { timeoutMs, open: requestOf(url), agent })
  if (url.protocol !== 'https:') throw new TransportError('untrusted', url.href)
  try {
    const socket = await pinnedSocket(url, fingerprint, { timeoutMs, signal: request.signal })
    const { request: start } = process.getBuiltinModule('node:http')
    const { hostname, port, pathname, search, host } = url
    // An agent, even one of its own, would open a connection of its own.
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
      // A kept connection may have been closed from there meanwhile: that says nothing about the instance.
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

/** What a check of certificates says. */
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
  // Only the server is timed: a slow reader of these may take as long as it likes.
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
    // A reader that had enough: the rest is not waited for.
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

/** Whether a header holds a credential or a signature. */
export function isSecretHeader(name: string): boolean {
  return PAYMENT_HEADERS.has(name.toLowerCase()) || CREDENTIAL_HEADERS.has(name.toLowerCase())
}

/** Whether anybody between here and there would read a secret among such headers. */
export function readOnTheWay(url: string | URL, names: readonly string[], allowed: InTheClear | undefined): boolean {
  if (allowed === 'everything' || new URL(url).protocol === 'https:' || staysHere(url)) return false
  const kept = allowed === 'credentials' ? names.filter((name) => PAYMENT_HEADERS.has(name.toLowerCase())) : names
  return kept.some(isSecretHeader)
}

/** Headers as one line for a dry run; credentials and signatures are never shown. */
export function shownHeaders(headers: Readonly<Record<string, string>>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}=${isSecretHeader(name) ? '‹redacted›' : clipped(value)}`)
    .join(' ')
}

function clipped(value: string): string {
  return value.length > SHOWN_VALUE_CHARS_MAX ? `${value.slice(0, SHOWN_VALUE_CHARS_MAX)}…` : value
}
