import type { z } from 'zod'
import {
  type Access,
  type Endpoint,
  type FeedReply,
  isShared,
  type JsonOrPageReply,
  type MultipartBody,
  type PaidEndpoint,
} from '../../src/api/endpoint/define.ts'
import { api, type EndpointName } from '../../src/api/index.ts'
import type { StoredFile } from '../../src/core/codecs.ts'
import { identify, readApiKey } from '../endpoint/caller.ts'
import { EVENT_STREAM_TYPE, type Exchange, JSON_TYPE, type ReplyOut } from '../endpoint/exchange.ts'
import { fingerprintOf, idempotencyKeyOf, idempotencyScope } from '../endpoint/fingerprint.ts'
import {
  type Call,
  type CallerOf,
  type EventIn,
  encodeChunks,
  encodedReply,
  encodeEvents,
  encodeJson,
  encodePage,
  encodeText,
  isEncoded,
  pageHeaders,
  type Retry,
  type ShownAnswer,
  type Signed,
  type Streamed,
} from '../endpoint/handler.ts'
import type { Html } from '../endpoint/html.ts'
import { isKnownQuery, parseBody, parseInput, parseParams, parseQuery } from '../endpoint/input.ts'
import { pageCache, sharedPage } from '../endpoint/page-cache.ts'
import { refuseSwitchedOff } from '../endpoint/switched-off.ts'
import { refuseUnaccepted } from '../features/participants/terms.ts'
import { charge } from '../features/payments/charge.ts'
import { type HandlerTable, type PaidRequest, sellerOf } from '../features/payments/seller.ts'
import { type Context, paused } from '../kernel/context.ts'
import type { ParticipantRow } from '../kernel/rows.ts'

const PAGE = 'text/html'
const documents = ['application/json', 'application/problem+json']
const WILD = ['application/*', '*/*']

/**
 * Whether an `Accept` header prefers a page over JSON (RFC 9110 section 12.5.1). The header must give `text/html` a
 * higher weight than every JSON type that it names. If it names none, the weight of a wildcard is enough.
 */
export function prefersPage(accept: string | undefined): boolean {
  if (accept === undefined) return false
  const weights = weightsOf(accept)
  const page = weights.get(PAGE) ?? 0
  if (page === 0) return false
  const named = documents.flatMap((type) => weights.get(type) ?? [])
  if (named.length > 0) return page > Math.max(...named)
  const wild = WILD.flatMap((type) => weights.get(type) ?? []).slice(0, 1)
  return page >= Math.max(0, ...wild)
}

/** Whether an `Accept` header names this type, with at least the weight of `application/json`. */
export function prefers(accept: string | undefined, type: string): boolean {
  if (accept === undefined) return false
  const weights = weightsOf(accept)
  const weight = weights.get(type) ?? 0
  return weight > 0 && weight >= (weights.get('application/json') ?? 0)
}

/** Whether an `Accept-Encoding` allows gzip (RFC 9110 section 12.5.3). */
export function takesGzip(header: string | undefined): boolean {
  if (header === undefined) return false
  const weights = weightsOf(header)
  return (weights.get('gzip') ?? weights.get('x-gzip') ?? weights.get('*') ?? 0) > 0
}

/** Media ranges with their weights; a malformed weight counts as 0. */
function weightsOf(accept: string): Map<string, number> {
  const ranges = accept.split(',').map((range): [string, number] => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    const weight = Number(parameters.find((one) => one.startsWith('q='))?.slice(2) ?? 1)
    return [type, weight >= 0 && weight <= 1 ? weight : 0]
  })
  return new Map(ranges)
}

type AnyUploadHandler = {
  readonly check: (input: unknown, call: Call) => Promise<void>
  readonly run: (input: unknown, call: Call) => Promise<unknown>
}

type Upload = {
  readonly ctx: Context
  readonly endpoint: Endpoint & { readonly body: MultipartBody }
  readonly exchange: Exchange
  readonly handler: AnyUploadHandler
  readonly call: Call
}

/** Receives a file. `check` refuses what it can before the file is stored. */
async function answerUpload({ ctx, endpoint, exchange, handler, call }: Upload): Promise<unknown> {
  const place = { params: parseParams(exchange), query: parseQuery(endpoint, exchange) }
  const { fields, maxFileBytes, orJson } = endpoint.body
  if (orJson && !exchange.header('content-type')?.toLowerCase().startsWith('multipart/')) {
    const body = parseBody(fields, (await exchange.body()) ?? {})
    await handler.check({ ...place, body, hasFile: false }, call)
    return handler.run({ ...place, body, file: null }, call)
  }
  let body: unknown
  const file = await exchange.upload({
    maxFileBytes,
    accept: async (members) => {
      body = parseBody(fields, members)
      await handler.check({ ...place, body, hasFile: true }, call)
    },
    keep: ctx.blobs.put,
  })
  return handler.run({ ...place, body, file }, call)
}

export type Pipeline = { readonly ctx: Context; readonly handlers: HandlerTable }

type AnyFreeHandler = (input: unknown, call: Call) => Promise<unknown>

/** Response to HEAD of a one-time link. Link previews must not use up the token. */
const NO_PAGE: ReplyOut = { kind: 'bytes', status: 200, headers: pageHeaders, body: '' }

/** Valid id of a client session. */
const SITTING = /^[\w-]{1,64}$/

/**
 * Handles one request in this order: replay? > enabled > deferred > paused > caller > parse > quote > 402 > reserve >
 * settle | run > reply. `charge` does this for paid endpoints.
 */
export async function answer(pipeline: Pipeline, name: EndpointName, exchange: Exchange): Promise<ReplyOut> {
  const { ctx, handlers } = pipeline
  const endpoint: Endpoint = api[name]
  const base = {
    ctx,
    now: ctx.clock.now(),
    wall: ctx.clock.wall(),
    requestId: exchange.requestId,
    sitting: SITTING.exec(exchange.header('souk-sitting') ?? '')?.[0],
    isGlance: exchange.header('souk-glance') === '1',
    signal: exchange.signal,
    sent: exchange.sent,
    visitor: exchange.visitor,
  }
  readApiKey(exchange) // 400 on every endpoint where two keys differ
  const seller = sellerOf(handlers, name)
  if (seller) {
    const request = { ctx, seller, exchange, base }
    return charge(request, () => admit(request))
  }
  await refuseSwitchedOff(ctx, endpoint, exchange)
  if (endpoint.silentWhenDeclined && exchange.visitor().declines) return encodeReply(ctx, endpoint, undefined)
  const caller = await identify(ctx, endpoint, exchange)
  if (exchange.method === 'HEAD' && endpoint.access.kind === 'token') return NO_PAGE
  refuseWithoutTerms(ctx, endpoint, caller)
  const call = {
    ...base,
    caller,
    signed: signedOf(endpoint, exchange),
    retry: await retryOf(endpoint, caller, exchange),
  } as Call // as the endpoint's access says
  const version = pageCache.of(ctx).version()
  const value = await run({ ctx, endpoint, exchange, handler: handlers[name], call })
  if (isEncoded(value) && value.shared && isKnownQuery(endpoint, exchange)) {
    pageCache.of(ctx).set(exchange.url, sharedPage(value.bytes), version)
  }
  if (endpoint.reply.kind === 'feed') return encodeFeed(endpoint.reply, value as AnyFeed, exchange) // the handler's type
  if (endpoint.reply.kind === 'events') return encodeStream(endpoint.reply.schema, value as AnyStream, exchange) // the handler's type
  if (endpoint.reply.kind === 'json_or_page')
    return encodeShown(endpoint.reply, value as ShownAnswer<unknown>, exchange) // the handler's type
  return encodeReply(ctx, endpoint, value)
}

/**
 * Checks the switches of a paid endpoint. A key-or-paid endpoint may serve holders of a key or token for free, but
 * refuses payments while paused.
 * @returns the free response; undefined when the caller must pay.
 */
async function admit({ ctx, seller, exchange, base }: PaidRequest): Promise<ReplyOut | undefined> {
  const { endpoint, handler } = seller
  await refuseSwitchedOff(ctx, endpoint, exchange)
  if (endpoint.access.kind !== 'key_or_paid' || !handler.free) return undefined
  const caller = await identify<PaidEndpoint['access']>(ctx, endpoint, exchange)
  if (caller) {
    const call = { ...base, caller, signed: undefined, retry: undefined } as Call // as the endpoint's access says
    const answer = await handler.free(await parseInput(endpoint, exchange), call)
    if (answer !== undefined) return encodeJson(endpoint.reply.schema, answer, { private: true })
  }
  const switched = ctx.switches.now()
  if (switched.paused) throw paused(switched)
  return undefined
}

type Handling = {
  readonly ctx: Context
  readonly endpoint: Endpoint
  readonly exchange: Exchange
  readonly handler: unknown
  readonly call: Call
}

async function run({ ctx, endpoint, exchange, handler, call }: Handling): Promise<unknown> {
  const { body } = endpoint
  // The casts are safe: the type of the handler table gives each endpoint a handler of its kind.
  if (body?.kind === 'multipart') {
    return answerUpload({ ctx, endpoint: { ...endpoint, body }, exchange, handler: handler as AnyUploadHandler, call })
  }
  return (handler as AnyFreeHandler)(await parseInput(endpoint, exchange), call)
}

function signedOf({ access }: Endpoint, exchange: Exchange): Signed | undefined {
  if (access.kind !== 'key_or_signed' && access.kind !== 'token') return undefined
  return { header: exchange.header, body: exchange.rawBody }
}

/** Retry data of a POST by a participant or the admin. Undefined for uploads and without an `Idempotency-Key`. */
async function retryOf(
  { access, method, body }: Endpoint,
  caller: CallerOf<Access>,
  exchange: Exchange,
): Promise<Retry | undefined> {
  const isKept = (access.kind === 'admin' || access.kind === 'key') && body?.kind !== 'multipart'
  if (!isKept || method !== 'POST') return undefined
  const key = idempotencyKeyOf(exchange)
  if (key === undefined) return undefined
  const holder = caller !== null && typeof caller === 'object' && 'id' in caller ? caller.id : null
  const id = idempotencyScope(exchange, holder ?? 'admin', key)
  return { id, fingerprint: await fingerprintOf(exchange, holder) }
}

type AnyStream = { readonly follow: () => AsyncIterable<EventIn> }
type AnyFeed = AnyStream & { readonly page: () => Promise<unknown> }

/** HEAD starts no stream, because the client would not read it. */
function encodeStream(schema: z.ZodType, { follow }: AnyStream, { method }: Exchange): ReplyOut {
  if (method !== 'HEAD') return encodeEvents(schema, follow())
  return { kind: 'bytes', status: 200, headers: { 'Content-Type': EVENT_STREAM_TYPE }, body: '' }
}

function encodeShown(
  { schema }: JsonOrPageReply,
  { answer, page }: ShownAnswer<unknown>,
  exchange: Exchange,
): ReplyOut {
  return prefersPage(exchange.header('Accept')) ? encodePage(page()) : encodeJson(schema, answer, { private: true })
}

async function encodeFeed(reply: FeedReply, feed: AnyFeed, exchange: Exchange): Promise<ReplyOut> {
  if (prefers(exchange.header('Accept'), EVENT_STREAM_TYPE)) return encodeStream(reply.event, feed, exchange)
  return encodeJson(reply.schema, await feed.page(), { private: true })
}

async function encodeReply(ctx: Context, endpoint: Endpoint, value: unknown): Promise<ReplyOut> {
  const { reply } = endpoint
  if (isEncoded(value)) return encodedReply(value, reply.kind === 'bytes' ? reply.contentType : JSON_TYPE)
  switch (reply.kind) {
    case 'json':
      return encodeJson(reply.schema, value, {
        private: endpoint.access.kind !== 'open' || endpoint.access.orKey === true,
        validator: isShared(endpoint),
      })
    case 'empty':
      return { kind: 'bytes', status: 204, headers: {}, body: '' }
    case 'text':
      return encodeText(value as string, reply.contentType) // the handler's type
    case 'html':
      return encodePage(value as Html) // the handler's type
    case 'stream':
      return encodeChunks(value as Streamed, reply.contentType) // the handler's type
    case 'file':
      return fileReply(ctx, value as StoredFile) // the handler's type
    case 'events':
    case 'feed':
    case 'json_or_page':
    case 'bytes':
      throw new Error(`${endpoint.path} must answer with bytes`)
  }
}

/** The stored file that a response sends. @throws Error when the file is missing or has the wrong size */
async function fileReply(ctx: Context, file: StoredFile): Promise<ReplyOut> {
  const blob = await ctx.blobs.stat(file.sha256)
  if (blob?.sizeBytes !== file.size_bytes) throw new Error(`the stored file ${file.sha256} is damaged or missing`)
  return { kind: 'file', file, read: (range) => ctx.blobs.read(file.sha256, range) }
}

/**
 * Refuses a caller that has not accepted the terms, on endpoints that require this (decisions §3).
 * @throws AppError terms_required with `terms_version` and `terms_url`.
 */
function refuseWithoutTerms(ctx: Context, endpoint: Endpoint, caller: unknown): void {
  if (!endpoint.needsTerms || endpoint.access.kind !== 'key') return
  refuseUnaccepted(ctx, (caller as ParticipantRow).terms_version) // key endpoints have a participant for caller
}
