import type { Socket } from 'node:net'
import { compact } from '../../../src/core/record.ts'
import { openNetThreads, type TaskOutcome } from '../net-threads.ts'
import { ThreadError, type ThreadPool } from '../threads.ts'
import {
  guardedConnector,
  type Hop,
  hopTo,
  type Resolve,
  type ResolvedAddress,
  resolveChecked,
  systemResolve,
} from './connect.ts'
import { asWebError, WebError, type WebFailure } from './error.ts'
import type { AskRequest, GetOptions, PostRequest, WebResponse } from './exchange.ts'
import { type HopRequest, type HopResponse, requestOnce } from './request.ts'
import { openRobots } from './robots.ts'
import { redirectTarget, targetOf, type WebPolicy, type WebRules, type WebTarget } from './target.ts'

const MAX_REDIRECTS = 5
const DEFAULT_TIMEOUT_MS = 15_000
export const DEFAULT_MAX_BYTES = 1024 * 1024
const redirectStatuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/** Web access for first-party services, which may only read public pages. */
export type PublicWeb = {
  /** Fetches a public page. @throws WebError */
  readonly get: (url: string, options?: GetOptions) => Promise<WebResponse>
  /** Checks a URL without requests: scheme, credentials, port, literal address. @throws WebError */
  readonly check: (url: string) => void
  /** Public addresses of a host, for protocols other than HTTP. @throws WebError */
  readonly resolve: (host: string) => Promise<readonly ResolvedAddress[]>
}

export type Web = PublicWeb & {
  /** Posts to a participant's endpoint; redirects are returned, not followed. @throws WebError */
  readonly post: (request: PostRequest) => Promise<WebResponse>
  /** Requests an API of the operator; redirects are returned, not followed. @throws WebError */
  readonly ask: (request: AskRequest) => Promise<WebResponse>
  /** Connects to a public URL for the browser proxy. @throws WebError */
  readonly dial: (url: string, signal: AbortSignal) => Promise<Socket>
  /** Checks that robots.txt allows a page. @throws WebError if it does not */
  readonly mayRead: (url: string, signal: AbortSignal) => Promise<void>
  readonly close: () => Promise<void>
}

export type WebOptions = WebRules & {
  readonly wall: () => number
  readonly resolve?: Resolve
  /** Maps a URL's port to the port to connect to; for tests. */
  readonly dialled?: (port: number) => number
  /** Trusted root certificates (default: Node's). */
  readonly ca?: string
}

type Means = WebOptions & { readonly threads: ThreadPool }

/** Sends the requests whose addresses users or the operator choose, by the rules of `targetOf`. */
export function openWeb(given: WebOptions): Web {
  const options: Means = { ...given, threads: openNetThreads() }
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

  return { get, post, ask, resolve, check, dial, mayRead, close: options.threads.close }
}

/** Opens a plain TCP connection, because the browser does TLS itself. */
async function dialled(target: WebTarget, options: WebOptions, signal: AbortSignal): Promise<Socket> {
  const connect = guardedConnector(await hopOf(target, options), () => undefined)
  const { host: hostname, port } = target
  return new Promise((resolved, reject) => {
    connect({ hostname, port: String(port), protocol: 'http:' }, (error, socket) => {
      if (socket && signal.aborted) socket.destroy()
      else if (socket) resolved(socket)
      else reject(asWebError(error, { connected: false, isTls: false }))
    })
  })
}

async function hopOf(target: WebTarget, { resolve = systemResolve, dialled, ca }: WebOptions): Promise<Hop> {
  const hop = await hopTo(target, resolve)
  return { ...hop, port: dialled?.(hop.port) ?? hop.port, ca }
}

/** Runs a request with a time limit and the caller's signal. The error tells which of the two ended the request. */
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
    if (limits.signal?.aborted) throw new WebError('aborted', 'The request was cancelled.', { cause: error })
    if (timeout.aborted) throw new WebError('timeout', 'The server did not respond in time.', { cause: error })
    throw error
  }
}

export function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}

type Follow = GetOptions & { readonly signal: AbortSignal; readonly before?: (target: WebTarget) => Promise<void> }

/** Follows redirects. Each hop is checked like the first URL, and carries only our own headers. */
async function follow(options: Means, url: string, request: Follow): Promise<WebResponse> {
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

type Exchange = Omit<HopRequest, keyof Hop | 'url'> & { readonly signal: AbortSignal }

async function exchange(options: Means, target: WebTarget, { signal, ...said }: Exchange): Promise<WebResponse> {
  const { href: url, protocol } = target.url
  const request: HopRequest = { ...(await hopOf(target, options)), ...said, url }
  const answer =
    protocol === 'https:' ? await onThread(options.threads, request, signal) : await requestOnce(request, signal)
  return { ...answer, url, redirects: [], at: options.wall() }
}

/** Sends a request from another thread: an untrusted certificate can take long to verify. @throws WebError */
async function onThread(threads: ThreadPool, request: HopRequest, signal: AbortSignal): Promise<HopResponse> {
  const task = { name: 'request', args: [request], who: request.host, signal }
  const answer = (await threads.run(task).catch(throwLost)) as TaskOutcome<HopResponse, WebFailure> // of that task
  if ('failure' in answer) throw new WebError(answer.failure, answer.message)
  return { ...answer, body: Buffer.from(answer.body.buffer) }
}

/** Throws a WebError for a failed task. A task that never started sent nothing; any other may have sent the request. */
function throwLost(error: unknown): never {
  const connected = !(error instanceof ThreadError && error.failure === 'busy')
  throw asWebError(error, { connected, isTls: false })
}
