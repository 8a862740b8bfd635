import { isAscii } from 'node:buffer'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import express, {
  type ErrorRequestHandler,
  type Request,
  type RequestHandler,
  type Response,
  type Router,
} from 'express'
import type { Endpoint } from '../../src/api/endpoint/define.ts'
import { x402ExposedHeaders } from '../../src/api/endpoint/x402.ts'
import { api, type EndpointName, endpointNames } from '../../src/api/index.ts'
import { isEnabled } from '../../src/api/status.ts'
import { AppError, invalidField } from '../../src/core/error.ts'
import { costlyPart } from '../../src/core/json-cost.ts'
import { MAX_BODY_BYTES } from '../../src/core/limits.ts'
import { before, keptIn } from '../../src/core/record.ts'
import { participantOfKey } from '../endpoint/caller.ts'
import { checkJson, turnFor } from '../endpoint/json.ts'
import { pageCache, type SharedPage } from '../endpoint/page-cache.ts'
import { notEnabled } from '../endpoint/switched-off.ts'
import { storage } from '../features/backup/storage.ts'
import { FINISHED_PAGE, NO_ENDPOINT } from '../features/operator/metrics.ts'
import { requestLog } from '../features/story/requests.ts'
import { installation } from '../kernel/identity.ts'
import { countRefusal } from '../kernel/refusals.ts'
import { StoreStopped } from '../store/errors.ts'
import { answer, type Pipeline } from './answer.ts'
import { answerBrokenRequest, newRequestId } from './broken.ts'
import type { Connections, Peers } from './connections.ts'
import { readHop } from './hop.ts'
import { openHosts } from './host.ts'
import { BODY_TIMEOUT_MS } from './limits.ts'
import { begin, count, noted, oneAtATime } from './one-at-a-time.ts'
import type { TakenPort } from './port.ts'
import { hasCredential, openRateLimits, type RateLimits } from './rate-limit.ts'
import { exchangeOf } from './read-exchange.ts'
import { answerProbe, pageEndpointOf, sendError, sendPage, sendReply } from './send.ts'

const BYTE_ORDER_MARK = '\uFEFF'
const CHARSET = /;\s*charset\s*=\s*"?([^\s;"]+)/i

/** Whether a body is UTF-8. Express handles bodies in other charsets. */
function isUtf8({ headers }: IncomingMessage): boolean {
  const [, charset = 'utf-8'] = CHARSET.exec(headers['content-type'] ?? '') ?? []
  return /^utf-?8$/i.test(charset)
}

/**
 * Decodes and parses large JSON, yielding between the two.
 * @returns undefined without a body.
 * @throws Error with the `type` that the body parser gives to invalid JSON.
 */
async function parseInTurns(bytes: unknown): Promise<unknown> {
  if (!Buffer.isBuffer(bytes)) return undefined
  await nextTurn()
  // Most bodies are ASCII and need no decoding.
  const text = isAscii(bytes) ? bytes.toString('latin1') : bytes.toString('utf8')
  await nextTurn()
  try {
    return text === '' ? {} : JSON.parse(text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text)
  } catch (error) {
    throw Object.assign(new Error('not JSON', { cause: error }), { type: 'entity.parse.failed' })
  } finally {
    await nextTurn()
  }
}

const NOTHING = Buffer.alloc(0)
const REQUEST_ID = 'X-Request-Id'
/** Key of the endpoint in `res.locals`. */
const ENDPOINT = 'endpoint'
const exposed = [...x402ExposedHeaders, REQUEST_ID, 'Idempotency-Replayed', 'Retry-After', 'ETag'].join(', ')
/** A day, the longest time for which browsers cache a preflight response. */
const PREFLIGHT_SECONDS = 86_400

/** Builds routers from the contract and passes exchanges to the pipeline. The only file that imports express. */
export function createEdge(pipeline: Pipeline, { server, peers, connections, handOver }: TakenPort): void {
  const { ctx } = pipeline
  const serve = oneAtATime(listenerOf(pipeline, peers, connections))
  const { frontSecret } = installation.of(ctx)
  handOver((req, res) => {
    readHop(frontSecret, req, res)
    if (!answerProbe(req, res, { away: awayOf(ctx) })) serve(req, res)
  })
  server.on('clientError', answerBrokenRequest(ctx.entropy, connections.isAnswering, requestLog.of(ctx)))
}

/** Handles request id, host and CORS first (decisions §3), then cached pages, then endpoints. */
function listenerOf(pipeline: Pipeline, peers: Peers, connections: Connections): RequestListener {
  const { ctx } = pipeline
  const { config } = ctx
  const { adminKeyHash } = installation.of(ctx)
  const holderOf = async (key: string) => (await participantOfKey(ctx, key))?.id
  const rateLimits = openRateLimits({ config, adminKeyHash, holderOf }, peers)
  const endpoints = endpointsApp({ ...pipeline, rateLimits, peers })
  const hostFault = openHosts(config, installation.of(ctx).port)
  /** The `Vary` header of each cached page. It depends on the page's address only. */
  const varies = new WeakMap<SharedPage, string>()
  return (req, res) => {
    connections.began(req, res)
    const requestId = newRequestId(ctx)
    begin(ctx, requestId, req)
    const fault = hostFault(req)
    const isLimited = rateLimits.covers(req)
    const { origin } = req.headers
    // This comes before any header is set, because cached pages write their headers in one piece.
    if (!fault && !isLimited && origin === undefined && finished(req, res, requestId)) return
    res.setHeader(REQUEST_ID, requestId)
    res.setHeader('Vary', varying(req))
    if (!fault && origin !== undefined) allowOrigin(req, res)
    if (fault) refuse(res, fault)
    else if (isLimited) void serveLimited(req, res)
    else serve(req, res)
  }

  function serve(req: IncomingMessage, res: ServerResponse): void {
    if (!finished(req, res, String(res.getHeader(REQUEST_ID)))) endpoints(req, res)
  }

  /** Sends the page from the cache. False if the page is not cached, or the request has a credential to check. */
  function finished(req: IncomingMessage, res: ServerResponse, requestId: string): boolean {
    const page = isRead(req) && !hasCredential(req) ? pageCache.of(ctx).get(req.url ?? '/') : undefined
    if (!page) return false
    const vary = keptIn(varies, page, () => varying(req))
    sendPage(res, page, [REQUEST_ID, requestId, 'Vary', vary])
    count(ctx, res, { endpoint: FINISHED_PAGE, requestId })
    return true
  }

  async function serveLimited(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const refusal = await rateLimits.refusal(req, res)
    if (refusal) refuse(res, refusal)
    else serve(req, res)
  }

  function refuse(res: ServerResponse, error: AppError): void {
    countRefusal(ctx, error.code)
    sendError(res, error, { requestId: String(res.getHeader(REQUEST_ID)) })
    count(ctx, res, { endpoint: NO_ENDPOINT, code: error.code })
  }
}

function awayOf(ctx: Pipeline['ctx']): string | undefined {
  if (ctx.stopping.aborted) return 'The daemon is stopping.'
  return storage.of(ctx).isAway?.() ? 'The database does not answer.' : undefined
}

/** Paths that other origins may read: the API and its descriptions (decisions §2). */
const openPrefixes = ['/v1/', '/discovery/', '/.well-known/']
const openPaths = new Set(['/health', '/openapi.json', '/llms.txt'])

function isOpenToAnyOrigin({ url = '/' }: IncomingMessage): boolean {
  return openPrefixes.some((prefix) => url.startsWith(prefix)) || openPaths.has(before(url, '?'))
}

/** The `Vary` header: names of request headers on which the response depends. */
function varying(req: IncomingMessage): string {
  const first = pageEndpointOf(req) ? 'Accept, Accept-Encoding' : 'Accept-Encoding'
  return isOpenToAnyOrigin(req) ? `Origin, ${first}` : first
}

function allowOrigin(req: IncomingMessage, res: ServerResponse): void {
  if (!isOpenToAnyOrigin(req)) return
  res.setHeader('Access-Control-Allow-Origin', '*')
  res.setHeader('Access-Control-Expose-Headers', exposed)
  if (req.method === 'OPTIONS') {
    res.setHeader('Access-Control-Allow-Headers', req.headers['access-control-request-headers'] ?? '*')
    res.setHeader('Access-Control-Allow-Methods', 'GET, HEAD, POST, PUT, DELETE')
    res.setHeader('Access-Control-Max-Age', PREFLIGHT_SECONDS)
  }
}

function isRead({ method }: IncomingMessage): boolean {
  return method === 'GET' || method === 'HEAD'
}

type Edge = Pipeline & { readonly rateLimits: RateLimits; readonly peers: Peers }

function endpointsApp(pipeline: Edge): RequestListener {
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.set('query parser', false)
  const routers = new Map(
    [...Map.groupBy(endpointNames, (name) => prefixOf(api[name].path))].map(([prefix, names]) => [
      prefix,
      routerOf(pipeline, names),
    ]),
  )
  app.use((req, res, next) => {
    const router = routers.get(prefixOf(req.path))
    if (router) router(req, res, next)
    else next()
  })
  app.use((req: Request) => {
    throw new AppError('not_found', `No such endpoint: ${req.method} ${req.path}.`)
  })
  app.use(onError(pipeline))
  return app
}

/** The literal prefix of a path. Express tries routes one by one, so grouping by prefix shortens the search. */
function prefixOf(path: string): string {
  const [, first = '', second = ''] = path.split('/', 3)
  return first === 'v1' || first === 'dashboard' ? `${first}/${second}` : first
}

function routerOf(pipeline: Edge, names: readonly EndpointName[]): Router {
  const router = express.Router({ caseSensitive: true })
  for (const [path, endpoints] of Map.groupBy(names, (name) => api[name].path)) {
    const route = router.route(path)
    for (const name of endpoints) {
      route[api[name].method.toLowerCase() as 'get' | 'post' | 'put' | 'delete'](endpointHandler(pipeline, name)) // Method, lower-cased
    }
    route.all(wrongMethod(pipeline, endpoints))
  }
  return router
}

function endpointHandler(pipeline: Edge, name: EndpointName): RequestHandler<Record<string, string>> {
  const endpoint: Endpoint = api[name]
  const maxBytes = (endpoint.body?.kind === 'json' ? endpoint.body.maxBodyBytes : undefined) ?? MAX_BODY_BYTES
  const timeoutMs = pipeline.ctx.config.requestTimeoutMs ?? BODY_TIMEOUT_MS
  const orForm = endpoint.body?.kind === 'json' && endpoint.body.orForm === true
  const anyMedia = endpoint.body?.kind === 'json' && endpoint.body.anyMedia === true
  const rawBodies = new WeakMap<IncomingMessage, Buffer>()
  const options: NonNullable<Parameters<typeof express.raw>[0]> = {
    limit: maxBytes,
    type: () => true,
    verify: (req, _res, bytes) => {
      const part = costlyPart(bytes)
      if (part !== undefined) throw Object.assign(new Error(part), { type: COSTLY_JSON })
      // Handlers of these endpoints verify a signature over the raw body.
      if (endpoint.access.kind === 'key_or_signed' || endpoint.access.kind === 'token') rawBodies.set(req, bytes)
    },
  }
  const [parseJson, takeBytes] = [express.json({ ...options, strict: false }), express.raw(options)]
  return async (req, res) => {
    res.locals[ENDPOINT] = name
    const facts = noted(pipeline.ctx, res, name)
    const turnIfLong = () => turnFor((name) => req.headers[name]?.toString())
    const readJson = async () => {
      const isParted = maxBytes > MAX_BODY_BYTES && isUtf8(req)
      try {
        await taken(isParted ? takeBytes : parseJson, req, res)
        const body: unknown = isParted ? await parseInTurns(req.body) : req.body
        await turnIfLong()
        checkJson(body)
        await turnIfLong()
        return body
      } catch (error) {
        throw refusalOf(error) ?? error
      }
    }
    const raw = () => rawBodies.get(req) ?? NOTHING
    const { peers } = pipeline
    const exchange = exchangeOf(req, res, { readJson, raw, maxBytes, timeoutMs, orForm, anyMedia, peers, facts })
    const reply = await answer(pipeline, name, exchange)
    // A read may have seen data that is not durable yet, so wait until it is.
    if (req.method === 'GET') await pipeline.ctx.store.durable()
    await sendReply(res, reply, pipeline.ctx.stopping)
    count(pipeline.ctx, res, { endpoint: name })
  }
}

/** Runs a body parser of Express. @throws the error that the parser reports */
function taken(parser: RequestHandler, req: Request, res: Response): Promise<void> {
  return new Promise((done, fail) => {
    void parser(req, res, (error?: unknown) => (error ? fail(error) : done()))
  })
}

function wrongMethod({ ctx }: Edge, endpoints: readonly EndpointName[]): RequestHandler {
  const allowed = endpoints.map((name) => api[name].method)
  const list = [...allowed, ...(allowed.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ')
  return (req, res) => {
    const switches = ctx.switches.now()
    if (!endpoints.some((name) => isEnabled(api[name], switches))) throw notEnabled()
    res.setHeader('Allow', list)
    if (req.method === 'OPTIONS') {
      res.writeHead(204).end()
      count(ctx, res, { endpoint: NO_ENDPOINT })
      return
    }
    throw new AppError('method_not_allowed', `${req.method} is not allowed here: use ${allowed.join(' or ')}.`)
  }
}

/** The only error handler. Every error gets the common form, but only internal faults are logged with their cause. */
function onError({ ctx, rateLimits }: Edge): ErrorRequestHandler {
  // Express recognises an error middleware by its four parameters.
  // biome-ignore lint/complexity/useMaxParams: - the arity is express's contract for error middlewares
  return (error, req, res, _next) => {
    const requestId = String(res.getHeader(REQUEST_ID) ?? newRequestId(ctx))
    const refusal = refusalOf(error)
    if (!refusal) {
      const stack = error instanceof Error ? error.stack : String(error)
      ctx.log.error({ source: 'http', request_id: requestId, method: req.method, path: req.path, stack }, 'failed')
    }
    if (refusal?.code === 'unauthorized') rateLimits.failed(req)
    const shown = refusal ?? new AppError('internal', 'Internal error; it was logged.')
    countRefusal(ctx, shown.code)
    sendError(res, shown, { requestId, isNowhere: res.locals[ENDPOINT] === undefined && shown.code === 'not_found' })
    count(ctx, res, { endpoint: String(res.locals[ENDPOINT] ?? NO_ENDPOINT), code: shown.code })
  }
}

/** `type` of the error for costly JSON. Errors of the body parser have a `type`, too. */
const COSTLY_JSON = 'json.costly'

/** Converters for errors of body parser and router, by error type. */
const known: Readonly<Record<string, (said: string) => AppError>> = {
  [COSTLY_JSON]: (part) => invalidField('body', part),
  'entity.parse.failed': () => new AppError('invalid_request', 'The body is not valid JSON.'),
  'entity.too.large': () => new AppError('too_large', `The body is larger than ${MAX_BODY_BYTES} bytes.`),
  'encoding.unsupported': () => new AppError('unsupported_media_type', 'The content encoding is not supported.'),
  'charset.unsupported': () => new AppError('unsupported_media_type', 'The charset is not supported: use UTF-8.'),
  'request.size.invalid': () => new AppError('invalid_request', 'The body length differs from Content-Length.'),
  'request.aborted': () => new AppError('invalid_request', 'The request was aborted.'),
}

/** Converts any thrown value into a public error; undefined for an internal fault. */
function refusalOf(error: unknown): AppError | undefined {
  if (error instanceof AppError) return error
  if (error instanceof StoreStopped)
    return new AppError('unavailable', 'The store stopped; the daemon is shutting down.')
  if (error instanceof URIError)
    return new AppError('invalid_request', 'The path contains an invalid percent-encoding.')
  const type = typeof error === 'object' && error !== null && 'type' in error ? String(error.type) : ''
  const make = known[type]
  if (make) return make(error instanceof Error ? error.message : '')
  const status = typeof error === 'object' && error !== null && 'status' in error ? Number(error.status) : 500
  return status >= 400 && status < 500 ? new AppError('invalid_request', 'The request is malformed.') : undefined
}
