import type { IncomingMessage, ServerResponse } from 'node:http'
import { finished } from 'node:stream/promises'
import { AppError, invalidField } from '../../src/core/error.ts'
import type { Exchange, RequestFacts } from '../endpoint/exchange.ts'
import type { Peers } from './connections.ts'
import { UPLOAD_IDLE_MS } from './limits.ts'
import { readUpload } from './upload.ts'

const MAX_MEMBERS = 50
const FORM_MEDIA = /^application\/x-www-form-urlencoded\s*(?:;|$)/i
const JSON_MEDIA = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i

export type RoutedRequest = IncomingMessage & { readonly params: Record<string, string> }

export type BodyReader = {
  readonly readJson: () => Promise<unknown>
  readonly raw: () => Buffer
  readonly maxBytes: number
  readonly timeoutMs: number
  /** Whether a plain HTML form with the same members is accepted. */
  readonly orForm: boolean
  /** Whether to parse the body as JSON whatever its Content-Type. */
  readonly anyMedia: boolean
  readonly peers: Peers
  readonly facts: RequestFacts
}

/** Builds the pipeline's view of a request. Costly parts are computed on demand. */
export function exchangeOf(req: RoutedRequest, res: ServerResponse, reader: BodyReader): Exchange {
  const url = (req as { originalUrl?: string }).originalUrl ?? req.url ?? '/'
  const mark = url.indexOf('?')
  const rawQuery = mark < 0 ? '' : url.slice(mark + 1)
  let query: Record<string, string> | undefined
  let body: Promise<unknown> | undefined
  let abort: AbortController | undefined
  return {
    requestId: res.getHeader('X-Request-Id') as string, // set by the guard before any endpoint
    facts: reader.facts,
    method: req.method ?? 'GET',
    url,
    path: mark < 0 ? url : url.slice(0, mark),
    params: req.params,
    rawQuery,
    query: () => {
      query ??= parseMembers(rawQuery)
      return query
    },
    header: (name) => {
      const value = req.headers[name.toLowerCase()]
      return Array.isArray(value) ? value.join(', ') : value
    },
    body: () => {
      body ??= hasBody(req) ? readBody(req, reader) : Promise.resolve(undefined)
      return body
    },
    rawBody: reader.raw,
    upload: (receiving) => readUpload(req, receiving, Math.min(reader.timeoutMs, UPLOAD_IDLE_MS)),
    signal: () => {
      if (!abort) {
        const controller = new AbortController()
        abort = controller
        res.once('close', () => {
          if (!res.writableFinished) controller.abort() // an answered client is not gone, and an abort costs an exception
        })
        if (res.closed && !res.writableFinished) controller.abort()
      }
      return abort.signal
    },
    sent: () =>
      new Promise((done) => {
        const over = () => done(res.writableFinished)
        if (res.closed) over()
        else res.once('close', over)
      }),
    visitor: () => ({
      address: reader.peers.addressOf(req),
      declines: req.headers.dnt === '1' || req.headers['sec-gpc'] === '1',
    }),
    isConfidential: () => reader.peers.isConfidential(req),
    isForwarded: () => reader.peers.isForwarded(req),
  }
}

export function hasBody(req: IncomingMessage): boolean {
  return req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length'] ?? 0) > 0
}

async function readBody(req: IncomingMessage, reader: BodyReader): Promise<unknown> {
  const type = req.headers['content-type']
  const isForm = reader.orForm && type !== undefined && FORM_MEDIA.test(type)
  if (type !== undefined && !isForm && !reader.anyMedia && !JSON_MEDIA.test(type)) {
    throw new AppError('unsupported_media_type', `Send the body as application/json, not ${type.slice(0, 80)}.`)
  }
  const late = req.complete ? undefined : deadline(reader.timeoutMs)
  try {
    const reading = isForm ? readForm(req, reader.maxBytes) : reader.readJson()
    return await Promise.race([reading, refuseLarge(req, reader.maxBytes), ...(late ? [late.passed] : [])])
  } finally {
    late?.cancel()
  }
}

function deadline(timeoutMs: number): { passed: Promise<never>; cancel: () => void } {
  let timer: NodeJS.Timeout | undefined
  const passed = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new AppError('request_timeout', 'The body was not received in time.')), timeoutMs)
  })
  return { passed, cancel: () => clearTimeout(timer) }
}

/** `application/x-www-form-urlencoded`. */
async function readForm(req: IncomingMessage, maxBytes: number): Promise<Record<string, string>> {
  const chunks: Buffer[] = []
  let read = 0
  req.on('data', (chunk: Buffer) => {
    read += chunk.length
    if (read <= maxBytes) chunks.push(chunk) // what is more is refused by now
  })
  await finished(req, { writable: false })
  return parseMembers(Buffer.concat(chunks).toString('utf8'))
}

/** Refuses a body as soon as it exceeds the limit. The parser alone would first read all of it. */
function refuseLarge(req: IncomingMessage, maxBytes: number): Promise<never> {
  return new Promise((_, reject) => {
    const refuse = () => reject(new AppError('too_large', `The body is larger than ${maxBytes} bytes.`))
    if (Number(req.headers['content-length'] ?? 0) > maxBytes) refuse()
    let read = 0
    req.on('data', (chunk: Buffer) => {
      read += chunk.length
      if (read > maxBytes) refuse()
    })
  })
}

function parseMembers(raw: string): Record<string, string> {
  const members: Record<string, string> = Object.create(null)
  let count = 0
  for (const [name, value] of new URLSearchParams(raw)) {
    if (name in members) throw invalidField(name, 'given twice')
    count += 1
    if (count > MAX_MEMBERS) throw new AppError('invalid_request', 'There are too many fields.')
    members[name] = value
  }
  return { ...members }
}
