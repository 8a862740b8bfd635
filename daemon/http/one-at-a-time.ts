import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Endpoint } from '../../src/api/endpoint/define.ts'
import { api, type EndpointName } from '../../src/api/index.ts'
import { SECOND_MS } from '../../src/core/time.ts'
import { noFacts, type RequestFacts } from '../endpoint/exchange.ts'
import { callFigures } from '../features/figures/calls.ts'
import { metrics } from '../features/operator/metrics.ts'
import { requestLog } from '../features/story/requests.ts'
import type { Context } from '../kernel/context.ts'

const REQUEST_ID = 'X-Request-Id'
/** The request log keeps this many characters of an Idempotency-Key. */
const MAX_KEY_CHARS = 64

/** Logs a new request, without its query, which may hold secrets. */
export function begin(ctx: Context, id: string, { method = '', url = '/', headers }: IncomingMessage): void {
  const mark = url.indexOf('?')
  const key = headers['idempotency-key']
  const attempt = typeof key === 'string' && key !== '' ? key.slice(0, MAX_KEY_CHARS) : null
  requestLog.of(ctx).begin({ id, method, path: mark < 0 ? url : url.slice(0, mark), attempt })
}

type LoggedResponse = { readonly endpoint: string; readonly code?: string | null; readonly requestId?: string }

/** Counts and logs a completed request. */
export function count(ctx: Context, res: ServerResponse, answered: LoggedResponse): void {
  const { endpoint, code = null, requestId = String(res.getHeader(REQUEST_ID)) } = answered
  const log = requestLog.of(ctx)
  const entry = log.find(requestId)
  const ms = entry ? Math.max(0, ctx.clock.wall() - entry.at) : 0
  metrics.of(ctx).request(endpoint, res.statusCode, ms / SECOND_MS)
  if (!entry) return
  entry.code ??= code
  log.end(entry, res.statusCode)
  callFigures.of(ctx).add({ endpoint, status: res.statusCode, code: entry.code, ms, requestId })
}

/** Sets a request's endpoint in its log entry, and hides a token in the path. @returns the entry, for more facts */
export function noted(ctx: Context, res: ServerResponse, name: EndpointName): RequestFacts {
  const entry = requestLog.of(ctx).find(String(res.getHeader(REQUEST_ID)))
  if (!entry) return noFacts()
  const endpoint: Endpoint = api[name]
  entry.row = name
  if (endpoint.access.kind === 'token') entry.path = endpoint.path
  return entry
}

type Pending = readonly [req: IncomingMessage, res: ServerResponse]

/**
 * Passes on the requests of a connection one by one. Node parses all pipelined requests at once. Each is passed on in a
 * new event loop turn after the previous response. While requests wait, nothing more is read.
 */
export function oneAtATime(listener: RequestListener): RequestListener {
  /** Waiting requests of each connection. */
  const waiting = new WeakMap<Socket, Pending[]>()

  function begin(socket: Socket, [req, res]: Pending): void {
    res.once('close', () => next(socket))
    void listener(req, res)
  }

  function next(socket: Socket): void {
    const queue = waiting.get(socket) ?? []
    const pending = queue.shift()
    if (pending === undefined) {
      waiting.delete(socket)
      return
    }
    if (queue.length === 0) socket.resume()
    setImmediate(() => {
      if (!socket.destroyed) begin(socket, pending)
    })
  }

  return (req, res) => {
    const queue = waiting.get(req.socket)
    if (queue === undefined) {
      waiting.set(req.socket, [])
      begin(req.socket, [req, res])
      return
    }
    queue.push([req, res])
    req.socket.pause()
  }
}
