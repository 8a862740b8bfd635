import type { Endpoint } from '../../../src/api/endpoint/define.ts'
import { api, type EndpointName, endpointNames } from '../../../src/api/index.ts'
import { AppError } from '../../../src/core/error.ts'
import { noFacts, type RequestFacts } from '../../endpoint/exchange.ts'
import { defineResource } from '../../kernel/resource.ts'

/** Maximum requests kept, a few megabytes. The oldest request is dropped first. */
export const REQUESTS_KEPT = 4_096
/** Maximum concurrent followers of the log. */
export const MAX_FOLLOWERS = 16
/** Maximum unfinished requests; normally, the limit of connections is reached first. */
const MAX_UNDER_WAY = 8_192
const MAX_PATH_CHARS = 200
const TRY_AGAIN_SECONDS = 5
/** Endpoints that are not logged: the operator's reads. A polling cockpit would displace all other requests. */
const LOOKS: ReadonlySet<string> = new Set(endpointNames.filter(isLook))

function isLook(name: EndpointName): boolean {
  const { method, access }: Endpoint = api[name]
  return name === 'getHealth' || (method === 'GET' && access.kind === 'admin')
}

/** Path segments that look like one of our keys, tokens or secrets, or are longer than any id or name. */
const SECRET_SEGMENT = /^(?:sk|adm|jt|whsec|souk)_|^.{65,}$/

/** A logged request: method, path, caller and result, without headers, query or body. */
export type LoggedRequest = RequestFacts & {
  readonly id: string
  /** Wall time. */
  readonly at: number
  readonly method: string
  path: string
  /** Number of a finished request, in order of finishing; null while in progress. */
  seq: number | null
  /** Name of the endpoint; null if the path has none. */
  row: string | null
  status: number | null
  tookMs: number | null
  /** `Idempotency-Key` of the request, the same for all attempts of a purchase; never shown. */
  readonly attempt: string | null
  /** Reconstructed from the store after a restart. */
  readonly remade?: true
}

/** The path with possible secrets masked. */
export function shownPath(path: string): string {
  const clipped = path.length > MAX_PATH_CHARS ? `${path.slice(0, MAX_PATH_CHARS)}…` : path
  return clipped
    .split('/')
    .map((segment) => (SECRET_SEGMENT.test(segment) ? '…' : segment))
    .join('/')
}

export type RequestLog = {
  readonly begin: (request: Pick<LoggedRequest, 'id' | 'method' | 'path' | 'attempt'>) => LoggedRequest
  readonly end: (request: LoggedRequest, status: number) => void
  /** Finds a request, finished or in progress. */
  readonly find: (id: string) => LoggedRequest | undefined
  /** Requests that finished after the one with this number, oldest first. */
  readonly after: (seq: number) => readonly LoggedRequest[]
  readonly underWay: () => readonly LoggedRequest[]
  /** Newest number. */
  readonly last: () => number
  /** Resolves when a request with a higher number has finished, or on abort. @throws AppError `rate_limited` */
  readonly wait: (seq: number, signal: AbortSignal) => Promise<void>
}

export const requestLog = defineResource<RequestLog>('request-log')

export function openRequestLog(wall: () => number): RequestLog {
  const ring: (LoggedRequest | undefined)[] = new Array(REQUESTS_KEPT).fill(undefined)
  const open = new Map<string, LoggedRequest>()
  const followers = new Set<() => void>()
  let last = 0

  function after(seq: number): readonly LoggedRequest[] {
    const found: LoggedRequest[] = []
    for (let at = Math.max(seq, last - REQUESTS_KEPT) + 1; at <= last; at += 1) {
      const entry = ring[at % REQUESTS_KEPT]
      if (entry) found.push(entry)
    }
    return found
  }

  return {
    begin(request) {
      const entry: LoggedRequest = {
        ...request,
        at: wall(),
        seq: null,
        row: null,
        status: null,
        tookMs: null,
        ...noFacts(),
      }
      if (open.size >= MAX_UNDER_WAY) open.delete(open.keys().next().value ?? '')
      open.set(entry.id, entry)
      return entry
    },
    end(entry, status) {
      if (!open.delete(entry.id)) return
      if (status < 400 && entry.row !== null && LOOKS.has(entry.row)) return
      last += 1
      entry.seq = last
      entry.status = status
      entry.tookMs = Math.max(0, wall() - entry.at)
      ring[last % REQUESTS_KEPT] = entry
      for (const wake of followers) wake()
    },
    find: (id) => open.get(id) ?? ring.find((entry) => entry?.id === id),
    after,
    underWay: () => [...open.values()],
    last: () => last,
    async wait(seq, signal) {
      if (last > seq || signal.aborted) return
      if (followers.size >= MAX_FOLLOWERS) {
        throw new AppError('rate_limited', `${MAX_FOLLOWERS} clients follow the request log already: close one.`, {
          retryAfter: TRY_AGAIN_SECONDS,
        })
      }
      const { promise, resolve } = Promise.withResolvers<void>()
      followers.add(resolve)
      signal.addEventListener('abort', () => resolve(), { once: true })
      await promise
      followers.delete(resolve)
    },
  }
}
