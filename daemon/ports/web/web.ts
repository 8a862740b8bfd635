import type { Socket } from 'node:net'
import { Client } from 'undici'
import { compact } from '../../../src/core/record.ts'
import { type BodyLimit, readBody } from './body.ts'
import {
  type ConnectionGuard,
  guardedConnector,
  type Resolve,
  type ResolvedAddress,
  resolveChecked,
  systemResolve,
} from './connect.ts'
import { asWebError, WebError } from './error.ts'
import type { AskRequest, GetOptions, PostRequest, WebResponse } from './exchange.ts'
import { openRobots, ROBOTS_AGENT } from './robots.ts'
import { redirectTarget, targetOf, type WebPolicy, type WebRules, type WebTarget } from './target.ts'

const MAX_REDIRECTS = 5
const MAX_HEADER_BYTES = 32 * 1024
const DEFAULT_TIMEOUT_MS = 15_000
export const DEFAULT_MAX_BYTES = 1024 * 1024
export const USER_AGENT = `${ROBOTS_AGENT}/1 (agent services marketplace)`
const redirectStatuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/** The web for first-party services: public reading only. */
export type PublicWeb = {
  /** Fetches a public page. @throws WebError */
  readonly get: (url: string, options?: GetOptions) => Promise<WebResponse>
  /** Checks a URL without requests: scheme, credentials, port, literal address. @throws WebError */
  readonly check: (url: string) => void
  /** Public addresses of a host, for other protocols. @throws WebError */
  readonly resolve: (host: string) => Promise<readonly ResolvedAddress[]>
}

export type Web = PublicWeb & {
  /** Posts to a participant's endpoint; redirects are returned, not followed. @throws WebError */
  readonly post: (request: PostRequest) => Promise<WebResponse>
  /** Requests an API of the operator; redirects are returned, not followed. @throws WebError */
  readonly ask: (request: AskRequest) => Promise<WebResponse>
  /** Connects to a public URL for the browser proxy. @throws WebError */
  readonly dial: (url: string, signal: AbortSignal) => Promise<Socket>
  /** Whether robots.txt allows a page. @throws WebError */
  readonly mayRead: (url: string, signal: AbortSignal) => Promise<void>
}

export type WebOptions = WebRules & {
  readonly wall: () => number
  readonly resolve?: Resolve
  /** Connector, as in `connect.ts`. */
  readonly build?: ConnectionGuard['build']
}

/** All requests to addresses that others choose; `targetOf` has the rules. */
export function openWeb(options: WebOptions): Web {
  const fetchPage = (url: string, request: GetOptions) =>
    withinTime(request, (signal) => follow(options, url, { ...request, signal }))
  const robots = openRobots({ get: fetchPage, wall: options.wall })

  async function get(url: string, request: GetOptions = {}): Promise<WebResponse> {
    return withinTime(request, (signal) =>
      follow(options, url, {
        ...request,
        signal,
        ...(request.ignoreRobots ? {} : { before: (target) => robots.check(target, signal) }),
      }),
    )
  }

  async function post(request: PostRequest): Promise<WebResponse> {
    return withinTime(request, async (signal) => {
      const target = targetOf(request.url, 'webhook', options)
      const { headers, body, maxBytes } = request
      return exchange(options, target, { method: 'POST', headers, body, maxBytes, truncate: false, signal })
    })
  }

  async function ask(request: AskRequest): Promise<WebResponse> {
    return withinTime(request, async (signal) => {
      const target = targetOf(request.url, 'operator', options)
      const { headers, body, maxBytes } = request
      const method = body === undefined ? 'GET' : 'POST'
      const sent = { method, headers, ...compact({ body }) } as const
      return exchange(options, target, { ...sent, maxBytes, truncate: false, signal })
    })
  }

  async function resolve(host: string): Promise<readonly ResolvedAddress[]> {
    const target = targetOf(`https://${host}/`, 'public', options)
    return resolveChecked(target, options.resolve ?? systemResolve)
  }

  function check(url: string): void {
    targetOf(url, 'public', options)
  }

  async function dial(url: string, signal: AbortSignal): Promise<Socket> {
    const target = targetOf(url, 'public', options)
    return withinTime({ signal }, (bounds) => dialled(target, options, bounds))
  }

  async function mayRead(url: string, signal: AbortSignal): Promise<void> {
    const target = targetOf(url, 'public', options)
    return withinTime({ signal }, (bounds) => robots.check(target, bounds))
  }

  return { get, post, ask, resolve, check, dial, mayRead }
}

/** Plain TCP: the browser does TLS itself. */
function dialled(target: WebTarget, options: WebOptions, signal: AbortSignal): Promise<Socket> {
  const { resolve = systemResolve, build } = options
  const connect = guardedConnector({ target, resolve, onConnected: () => undefined, ...compact({ build }) })
  const { host: hostname, port } = target
  return new Promise((resolved, reject) => {
    connect({ hostname, port: String(port), protocol: 'http:' }, (error, socket) => {
      if (socket && signal.aborted) socket.destroy()
      else if (socket) resolved(socket)
      else reject(asWebError(error, { connected: false, isTls: false }))
    })
  })
}

/** Runs a request under time limit and caller's signal, and reports which one ended it. */
async function withinTime<T>(
  limits: { readonly timeoutMs?: number; readonly signal?: AbortSignal },
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const timeout = AbortSignal.timeout(limits.timeoutMs ?? DEFAULT_TIMEOUT_MS)
  const signal = limits.signal ? AbortSignal.any([limits.signal, timeout]) : timeout
  try {
    signal.throwIfAborted()
    return await Promise.race([run(signal), rejectOnAbort(signal)])
  } catch (error) {
    if (limits.signal?.aborted) throw new WebError('aborted', 'The request was given up.', { cause: error })
    if (timeout.aborted) throw new WebError('timeout', 'There was no answer in time.', { cause: error })
    throw error
  }
}

function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}

type Follow = GetOptions & { readonly signal: AbortSignal; readonly before?: (target: WebTarget) => Promise<void> }

/** Each hop is checked again and carries only our own headers. */
async function follow(options: WebOptions, url: string, request: Follow): Promise<WebResponse> {
  const check = (text: string) => targetOf(text, 'public' satisfies WebPolicy, options)
  const redirects: { status: number; to: string }[] = []
  let target = check(url)
  for (;;) {
    await request.before?.(target)
    const answer = await exchange(options, target, {
      method: 'GET',
      headers: { accept: request.accept ?? '*/*' },
      maxBytes: request.maxBytes ?? DEFAULT_MAX_BYTES,
      truncate: request.truncate ?? false,
      signal: request.signal,
    })
    const location = redirectStatuses.has(answer.status) ? answer.headers['location'] : undefined
    if (location === undefined) return { ...answer, redirects }
    if (redirects.length === MAX_REDIRECTS) {
      throw new WebError('too_many_redirects', `The page redirects more than ${MAX_REDIRECTS} times.`)
    }
    target = redirectTarget(target, location, check)
    redirects.push({ status: answer.status, to: target.url.href })
  }
}

type Exchange = BodyLimit & {
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly signal: AbortSignal
}

/** One request on its own connection, so that the checked address is used. */
async function exchange(options: WebOptions, target: WebTarget, request: Exchange): Promise<WebResponse> {
  let connected = false
  const connect = guardedConnector({
    target,
    resolve: options.resolve ?? systemResolve,
    onConnected: () => {
      connected = true
    },
    ...compact({ build: options.build }),
  })
  const client = new Client(target.url.origin, { connect, maxHeaderSize: MAX_HEADER_BYTES, pipelining: 1 })
  try {
    const answer = await client.request({
      method: request.method,
      path: `${target.url.pathname}${target.url.search}`,
      headers: { 'user-agent': USER_AGENT, 'accept-encoding': 'identity', ...request.headers },
      body: request.body ?? null,
      signal: request.signal,
      reset: true,
    })
    const headers = joined(answer.headers)
    const { bytes, truncated } = await readBody(answer.body, headers['content-encoding'], request)
    const { href } = target.url
    return {
      url: href,
      status: answer.statusCode,
      headers,
      body: bytes,
      truncated,
      redirects: [],
      at: options.wall(),
    }
  } catch (error) {
    throw asWebError(error, { connected, isTls: target.url.protocol === 'https:' })
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
