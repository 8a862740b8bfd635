import type { IncomingMessage, ServerResponse } from 'node:http'
import { TLSSocket } from 'node:tls'
import { AppError, invalidField } from '../../src/core/error.ts'
import type { Exchange } from '../exchange.ts'
import { isLoopback } from './host.ts'

const MAX_QUERY_MEMBERS = 50
const JSON_MEDIA = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i

export type RoutedRequest = IncomingMessage & { readonly params: Record<string, string> }

export type BodyReader = { readonly readJson: () => Promise<unknown>; readonly maxBytes: number }

/** Makes the pipeline's view of a request; what is costly is made when it is asked for. */
export function exchangeOf(req: RoutedRequest, res: ServerResponse, reader: BodyReader): Exchange {
  const url = (req as { originalUrl?: string }).originalUrl ?? req.url ?? '/'
  const mark = url.indexOf('?')
  const rawQuery = mark < 0 ? '' : url.slice(mark + 1)
  let query: Record<string, string> | undefined
  let body: Promise<unknown> | undefined
  let abort: AbortController | undefined
  return {
    requestId: res.getHeader('X-Request-Id') as string, // set by the guard before any row
    method: req.method ?? 'GET',
    url,
    path: mark < 0 ? url : url.slice(0, mark),
    params: req.params,
    rawQuery,
    query: () => {
      query ??= parseQuery(rawQuery)
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
    get signal() {
      if (!abort) {
        const controller = new AbortController()
        abort = controller
        res.once('close', () => {
          if (!res.writableFinished) controller.abort() // an answered client is not gone, and an abort costs an exception
        })
      }
      return abort.signal
    },
    confidential: req.socket instanceof TLSSocket || isLoopback(req.socket.remoteAddress ?? ''),
  }
}

export function hasBody(req: IncomingMessage): boolean {
  return req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length'] ?? 0) > 0
}

async function readBody(req: IncomingMessage, { readJson, maxBytes }: BodyReader): Promise<unknown> {
  const type = req.headers['content-type']
  if (type !== undefined && !JSON_MEDIA.test(type)) {
    throw new AppError('unsupported_media_type', `Send the body as application/json, not ${type.slice(0, 80)}.`)
  }
  return Promise.race([readJson(), refuseLarge(req, maxBytes)])
}

/** Ends the wait as soon as a body is over the bound: the parser would read all of it before saying so. */
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

function parseQuery(raw: string): Record<string, string> {
  const members: Record<string, string> = Object.create(null)
  let count = 0
  for (const [name, value] of new URLSearchParams(raw)) {
    if (name in members) throw invalidField(name, 'is given twice')
    count += 1
    if (count > MAX_QUERY_MEMBERS) throw new AppError('invalid_request', 'The query has too many members.')
    members[name] = value
  }
  return { ...members }
}
