import type { Endpoint } from '../../../src/api/endpoint/define.ts'
import { api, type EndpointName, endpointNames } from '../../../src/api/index.ts'
import { AppError } from '../../../src/core/error.ts'
import { noFacts, type RequestFacts } from '../../endpoint/exchange.ts'
import { defineResource } from '../../kernel/resource.ts'

/** Requests that are remembered, oldest let go first: with their texts a few megabytes. */
export const REQUESTS_KEPT = 4_096
/** Readers that follow the log at once. */
export const MAX_FOLLOWERS = 16
/** Those that have begun and not ended; connections bound them, this only keeps a fault elsewhere from growing it. */
const MAX_UNDER_WAY = 8_192
const MAX_PATH_CHARS = 200
const TRY_AGAIN_SECONDS = 5
/** What the operator looks at leaves no line: a cockpit asks again and again, and would push out what others did. */
const LOOKS: ReadonlySet<string> = new Set(endpointNames.filter(isLook))

function isLook(name: EndpointName): boolean {
  const { method, access }: Endpoint = api[name]
  return name === 'getHealth' || (method === 'GET' && access.kind === 'admin')
}

/** What begins like a key, token or secret of ours, or is longer than any id or name in a path. */
const SECRET_SEGMENT = /^(?:sk|adm|jt|whsec|souk)_|^.{65,}$/

/** One request as it is remembered: what it was, who asked and what became of it; no header, no query, no body. */
export type LoggedRequest = RequestFacts & {
  readonly id: string
  /** Wall time. */
  readonly at: number
  readonly method: string
  path: string
  /** Place among those that ended, null while it is under way. */
  seq: number | null
  /** Row of the contract; null where none took it. */
  row: string | null
  status: number | null
  tookMs: number | null
  /** Its Idempotency-Key, which goes with every attempt of one purchase; shown to nobody. */
  readonly attempt: string | null
  /** Made anew from the store: it came before the last start. */
  readonly remade?: true
}

/** The path of a request without what might be secret in it. */
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
  /** Finished or under way. */
  readonly find: (id: string) => LoggedRequest | undefined
  /** Those that ended behind a place, oldest first. */
  readonly after: (seq: number) => readonly LoggedRequest[]
  readonly underWay: () => readonly LoggedRequest[]
  /** Place of the newest. */
  readonly last: () => number
  /** Resolves when something ended behind a place, or with the signal. @throws AppError rate_limited */
  readonly wait: (seq: number, signal: AbortSignal) => Promise<void>
}

export const requestLog = defineResource<RequestLog>('request-log')

/** A ring in memory; an entry costs one small object, and is only looked at when somebody asks. */
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
        throw new AppError('rate_limited', `${MAX_FOLLOWERS} readers follow the requests already: leave one first.`, {
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
