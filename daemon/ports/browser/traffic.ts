import { z } from 'zod'
import { WebError } from '../web/error.ts'
import type { Web } from '../web/web.ts'
import { type Cdp, type CdpParams, Nothing } from './cdp.ts'
import { BrowserError } from './error.ts'

export type PageResource = {
  readonly url: string
  /** DevTools resource type, such as `Document` or `Script`. */
  readonly type: string
  readonly isMain: boolean
  readonly startedAt: number
  endedAt: number | undefined
  status: number | undefined
  protocol: string
  headers: Readonly<Record<string, string>>
  /** Bytes received, before decompression and including headers. */
  bytes: number
  decodedBytes: number
}

export type PageTraffic = {
  readonly resources: () => readonly PageResource[]
  readonly missing: () => number
  /** True when all needed responses have arrived, and no request has started or ended for `QUIET_MS`. */
  readonly isQuiet: () => boolean
  /** Time since the last network activity. */
  readonly silentMs: () => number
  readonly blocked: () => number
  /** Redirects of the main frame. */
  readonly redirects: () => readonly { readonly status: number; readonly to: string }[]
  /** Why the page's address was refused. */
  readonly refusal: () => WebError | undefined
  /** Restricts the requests of a target. @throws CdpError on failure, after which the target must not run */
  readonly guard: (session: string, isWorker: boolean) => Promise<void>
  /** Blocks all traffic of a target. */
  readonly shut: (session: string) => void
  /** Clears all records for the next load. */
  readonly clear: () => void
}

export type TrafficOptions = {
  readonly cdp: Cdp
  readonly web: Pick<Web, 'mayRead'>
  readonly mainFrame: () => string | undefined
  readonly signal: AbortSignal
  readonly onExceeded: (what: BrowserError) => void
}

export const MAX_REQUESTS = 300
/** Limits of decoded bytes, because a small compressed response can unpack to gigabytes. */
export const MAX_DOCUMENT_BYTES = 8 * 1024 * 1024
export const MAX_DECODED_BYTES = 30 * 1024 * 1024
const MAX_MAIN_DOCUMENTS = 6
/** Once no request has started or ended for this long, no more requests are expected. */
const QUIET_MS = 500
/** Script requests that stay open this long count as long polls, which do not delay a page. */
const LONG_POLL_MS = 5_000
const MAX_LONG_POLLS = 2
/** Resource types that affect the page's look. */
const partTypes: ReadonlySet<string> = new Set(['Document', 'Stylesheet', 'Script', 'Image', 'Font'])
const scriptTypes: ReadonlySet<string> = new Set(['Fetch', 'XHR'])
const MS = 1_000

const readingMethods: ReadonlySet<string> = new Set(['GET', 'HEAD'])

const Paused = z.object({
  requestId: z.string(),
  frameId: z.string().optional(),
  resourceType: z.string(),
  redirectedRequestId: z.string().optional(),
  request: z.object({ url: z.string(), method: z.string() }),
})
const Headers = z.record(z.string(), z.string())
const Response = z.object({ status: z.number(), headers: Headers, protocol: z.string().optional() })
const WillBeSent = z.object({
  requestId: z.string(),
  frameId: z.string().optional(),
  type: z.string().optional(),
  timestamp: z.number(),
  request: z.object({ url: z.string() }),
  redirectResponse: Response.optional(),
})
const Received = z.object({ requestId: z.string(), response: Response })
const Data = z.object({ requestId: z.string(), dataLength: z.number() })
const Finished = z.object({ requestId: z.string(), timestamp: z.number(), encodedDataLength: z.number() })
const Failed = z.object({ requestId: z.string(), timestamp: z.number() })

/**
 * Lets a page send only GET and HEAD requests. Each request is checked here, because the proxy cannot see methods
 * within TLS. Counts decoded bytes. Call `guard` for every target before it runs.
 */
export function watchTraffic(options: TrafficOptions): PageTraffic {
  const { cdp } = options
  const state: State = {
    log: new Map(),
    finished: [],
    changedAt: performance.now(),
    movedAt: performance.now(),
    asked: 0,
    blocked: 0,
    decoded: 0,
    redirects: [],
    documents: [],
    shut: new Set(),
  }
  listen(options, state)
  return {
    resources: () => [...state.finished, ...state.log.values()],
    missing: () => missing(state),
    silentMs: () => performance.now() - Math.max(state.changedAt, state.movedAt),
    isQuiet: () => {
      const sinceMs = performance.now() - state.changedAt
      return sinceMs >= QUIET_MS && missing(state) + (sinceMs < LONG_POLL_MS ? openQuestions(state) : 0) === 0
    },
    blocked: () => state.blocked,
    redirects: () => state.redirects,
    refusal: () => state.refusal,
    clear: () => {
      state.log.clear()
      Object.assign(state, {
        finished: [],
        redirects: [],
        documents: [],
        asked: 0,
        refusal: undefined,
        movedAt: performance.now(),
      })
    },
    shut: (session) => state.shut.add(session),
    guard: async (session, isWorker) => {
      await cdp.send({ method: 'Network.enable', session, answer: Nothing })
      // A worker's requests are checked together with its frame's.
      if (isWorker) return
      await cdp.send({ method: 'Fetch.enable', params: { patterns: [{ urlPattern: '*' }] }, session, answer: Nothing })
    },
  }
}

type State = {
  readonly log: Map<string, PageResource>
  /** Finished redirects, kept apart because they have the same request id as the final request. */
  finished: PageResource[]
  /** Time when a request last started or ended (`performance.now`). */
  changedAt: number
  /** Time when data last arrived (`performance.now`). */
  movedAt: number
  asked: number
  blocked: number
  decoded: number
  redirects: { status: number; to: string }[]
  /** Addresses requested by the main frame. */
  documents: string[]
  readonly shut: Set<string | undefined>
  refusal?: WebError | undefined
}

function listen(options: TrafficOptions, state: State): void {
  const { cdp, onExceeded } = options
  cdp.on('Fetch.requestPaused', (params, session) => {
    decide(options, state, { params, session }).catch(() =>
      onExceeded(new BrowserError('page', 'A request of the page could not be checked')),
    )
  })
  cdp.on('Network.requestWillBeSent', (params) => begun(state, options, WillBeSent.parse(params)))
  cdp.on('Network.responseReceived', (params) => answered(state, Received.parse(params)))
  cdp.on('Network.dataReceived', (params) => {
    state.movedAt = performance.now()
    const why = arrived(state, Data.parse(params))
    if (why) onExceeded(new BrowserError('page', why))
  })
  cdp.on('Network.loadingFinished', (params) => {
    const { requestId, timestamp, encodedDataLength } = Finished.parse(params)
    ended(state, requestId, { endedAt: timestamp * MS, bytes: encodedDataLength })
  })
  cdp.on('Network.loadingFailed', (params) => {
    const { requestId, timestamp } = Failed.parse(params)
    ended(state, requestId, { endedAt: timestamp * MS })
  })
}

async function decide(
  options: TrafficOptions,
  state: State,
  paused: { params: CdpParams; session: string | undefined },
) {
  const asked = Paused.parse(paused.params)
  const { requestId, resourceType, frameId } = asked
  const isMain = resourceType === 'Document' && frameId === options.mainFrame()
  const isAllowed = !state.shut.has(paused.session) && (await mayGo(options, state, { ...asked, isMain }))
  if (!isAllowed) state.blocked += 1
  const refused = isMain ? stay : { method: 'Fetch.failRequest', params: { errorReason: 'BlockedByClient' } }
  const { method, params } = isAllowed ? { method: 'Fetch.continueRequest', params: {} } : refused
  const { session } = paused
  // The requesting frame or worker may be gone.
  await options.cdp.send({ method, params: { requestId, ...params }, session, answer: Nothing }).catch(() => undefined)
}

/** Status 204 keeps the current page; a failed request would show an error page. */
const stay = { method: 'Fetch.fulfillRequest', params: { responseCode: 204 } }

type PausedRequest = z.output<typeof Paused> & { readonly isMain: boolean }

async function mayGo(options: TrafficOptions, state: State, asked: PausedRequest): Promise<boolean> {
  const { url, method } = asked.request
  state.asked += 1
  if (state.asked > MAX_REQUESTS || !readingMethods.has(method)) return false
  if (!asked.isMain) return true
  try {
    await mayBecomePage(options, state, { url, isRedirect: asked.redirectedRequestId !== undefined })
    return true
  } catch (error) {
    if (!(error instanceof WebError)) throw error
    state.refusal = error
    return false
  }
}

/** Applies the rules for fetched pages to the main frame: robots.txt, few redirects, none from https to http. */
async function mayBecomePage(
  { web, signal }: TrafficOptions,
  { documents }: State,
  { url, isRedirect }: { url: string; isRedirect: boolean },
): Promise<void> {
  const from = documents.at(-1)
  documents.push(url)
  if (documents.length > MAX_MAIN_DOCUMENTS) {
    throw new WebError('too_many_redirects', `The page redirects more than ${MAX_MAIN_DOCUMENTS - 1} times.`)
  }
  if (isRedirect && from?.startsWith('https:') && url.startsWith('http:')) {
    throw new WebError('downgrade_refused', 'The page redirects from https to http.')
  }
  await web.mayRead(url, signal)
}

function begun(state: State, { mainFrame }: TrafficOptions, sent: z.output<typeof WillBeSent>): void {
  const { requestId, redirectResponse, request, timestamp, type = 'Other', frameId } = sent
  const isMain = type === 'Document' && frameId !== undefined && frameId === mainFrame()
  const before = state.log.get(requestId)
  if (before && redirectResponse) {
    Object.assign(before, { status: redirectResponse.status, endedAt: timestamp * MS })
    if (state.finished.length < MAX_REQUESTS) state.finished.push(before)
    if (isMain) state.redirects.push({ status: redirectResponse.status, to: request.url })
  }
  state.changedAt = performance.now()
  if (state.log.size >= MAX_REQUESTS && !before) return
  state.log.set(requestId, {
    url: request.url,
    type,
    isMain,
    startedAt: timestamp * MS,
    endedAt: undefined,
    status: undefined,
    protocol: '',
    headers: {},
    bytes: 0,
    decodedBytes: 0,
  })
}

function answered({ log }: State, { requestId, response }: z.output<typeof Received>): void {
  const { status, protocol = '', headers } = response
  const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
  const resource = log.get(requestId)
  if (resource) Object.assign(resource, { status, protocol, headers: lower })
}

function ended(state: State, requestId: string, facts: Pick<PageResource, 'endedAt'> & Partial<PageResource>): void {
  const resource = state.log.get(requestId)
  if (resource) Object.assign(resource, facts)
  state.changedAt = performance.now()
}

function missing(state: State): number {
  const parts = [...state.log.values()].filter(({ type, endedAt }) => endedAt === undefined && partTypes.has(type))
  const questions = openQuestions(state)
  return parts.length + (questions > MAX_LONG_POLLS ? questions : 0)
}

function openQuestions({ log }: State): number {
  return [...log.values()].filter(({ type, endedAt }) => endedAt === undefined && scriptTypes.has(type)).length
}

/** @returns the exceeded limit */
function arrived(state: State, { requestId, dataLength }: z.output<typeof Data>): string | undefined {
  const resource = state.log.get(requestId)
  state.decoded += dataLength
  if (resource) resource.decodedBytes += dataLength
  if (resource?.isMain && resource.decodedBytes > MAX_DOCUMENT_BYTES) {
    return `The page itself is larger than ${MAX_DOCUMENT_BYTES} bytes`
  }
  return state.decoded > MAX_DECODED_BYTES
    ? `The decompressed page is larger than ${MAX_DECODED_BYTES} bytes`
    : undefined
}
