import type { z } from 'zod'
import type { ErrorCode } from '../../core/error.ts'
import type { Usdc } from '../../core/money.ts'
import type { StoredFile } from '../../model/service.ts'

/** Areas that the checkout cutover shelves; the first five are the specification's, the sixth is ours (decisions §12). */
export const areas = [
  'digital_products',
  'escrow_jobs',
  'negotiation',
  'prepaid_balance',
  'requests',
  'subscriptions',
] as const
export type Area = (typeof areas)[number]

export type Role = 'provider' | 'poster'
export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'
/** When money moves: `first` before the effect, `last` after a successful run (decisions §4 Order). */
export type Settle = 'first' | 'last'

/** `path`: the parameter `:token`. */
export type TokenPlace = 'header' | 'path' | 'body'

/** Who may call an endpoint, and what it costs. A closed union: gates, health, description and client fold over it. */
export type Access =
  /** `orKey`: a key may come along, and says who asks. */
  | { readonly kind: 'open'; readonly orKey?: true }
  /**
   * `orToken`: a bearer of the thing's own token may come instead of a key; `orAdmin`: the operator, whose visit is
   * logged; `orSignIn`: a wallet that signed in, see `sign-in.ts`; `orLocal`: nobody, where money is made up and only
   * this machine can ask.
   */
  | {
      readonly kind: 'key'
      readonly role?: Role
      readonly orToken?: true
      readonly orAdmin?: true
      readonly orSignIn?: true
      readonly orLocal?: true
    }
  | { readonly kind: 'admin' }
  /** Where the token is that opens one thing; in a body, the handler reads it there. */
  | { readonly kind: 'token'; readonly at: TokenPlace }
  /** `bundled`: a subscription may pay for it, so an API key alone may open it (decisions §9). */
  | {
      readonly kind: 'paid'
      readonly price: Usdc | 'varies'
      readonly role?: Role
      readonly x402Only?: true
      readonly bundled?: true
    }
  | { readonly kind: 'key_or_paid'; readonly price: Usdc; readonly orSignIn?: true }
  | { readonly kind: 'key_or_signed' }

export const open = { kind: 'open' } as const
/** For everyone; who sends a key sees more. */
export const openOrKey = { kind: 'open', orKey: true } as const
export const admin = { kind: 'admin' } as const

export function key(): { readonly kind: 'key' }
export function key<const R extends Role>(role: R): { readonly kind: 'key'; readonly role: R }
export function key(role?: Role) {
  return role ? { kind: 'key' as const, role } : { kind: 'key' as const }
}

/** A key, or the `jt_…` token of the one job that the path names, or that its thread is of (decisions §3). */
export const keyOrToken = { kind: 'key', orToken: true } as const
/** The same, or the admin key: what a ruling may rest on. */
export const keyTokenOrAdmin = { kind: 'key', orToken: true, orAdmin: true } as const

/** A key; none where money is made up and only this machine can ask. */
export const keyOrLocal = { kind: 'key', orLocal: true } as const

/** A key, or a wallet that signs in: it reads what it owns (decisions §3). */
export const keyOrSignIn = { kind: 'key', orSignIn: true } as const

/** A token that opens one thing. `body` endpoints verify it, or a signature, themselves: see `Ctx.signed`. */
export function token<const P extends TokenPlace>(at: P) {
  return { kind: 'token' as const, at }
}

/** A key, or a signature that the handler verifies itself: see `Ctx.signed`. */
export const keyOrSigned = { kind: 'key_or_signed' } as const

type PaidOptions = { readonly role?: Role; readonly x402Only?: true; readonly bundled?: true }

/** Payable by x402 or from the balance; nothing else opens the endpoint. */
export function paid<const P extends Usdc | 'varies', const O extends PaidOptions = object>(price: P, options?: O) {
  return { kind: 'paid' as const, price, ...(options ?? ({} as O)) }
}

export function keyOrPaid<const P extends Usdc, const O extends { readonly orSignIn?: true } = object>(
  price: P,
  options?: O,
) {
  return { kind: 'key_or_paid' as const, price, ...(options ?? ({} as O)) }
}

/** Whether a wallet may sign in to an endpoint instead of showing a key. */
export function takesSignIn({ access }: Endpoint): boolean {
  return 'orSignIn' in access && access.orSignIn === true
}

export type JsonBody<S extends z.ZodType = z.ZodType> = {
  readonly kind: 'json'
  readonly schema: S
  /** Where it is not what all bodies may have, `MAX_BODY_BYTES`. */
  readonly maxBodyBytes?: number
  /** The same members may come as `application/x-www-form-urlencoded`: the schema has to take each as text too. */
  readonly orForm?: true
  /** Read as JSON whatever its `Content-Type` says: pages that are being left send their last words as text. */
  readonly anyMedia?: true
}
/**
 * A form with one file, the part `file`, and text fields before it. The file is in the blob store
 * when the handler runs; an `UploadHandler` refuses before a byte of it is kept.
 */
export type MultipartBody<S extends z.ZodType = z.ZodType, O extends boolean = boolean> = {
  readonly kind: 'multipart'
  /** Members come as text. */
  readonly fields: S
  readonly maxFileBytes: number
  /** A JSON body with the same members and no file is taken too. */
  readonly orJson: O
}
export type Body = JsonBody | MultipartBody

export function jsonBody<S extends z.ZodType>(
  schema: S,
  options: Pick<JsonBody, 'maxBodyBytes' | 'orForm' | 'anyMedia'> = {},
): JsonBody<S> {
  return { kind: 'json', schema, ...options }
}
export function multipart<S extends z.ZodType, const O extends boolean>(
  fields: S,
  options: { maxFileBytes: number; orJson: O },
): MultipartBody<S, O> {
  return { kind: 'multipart', fields, ...options }
}

export type JsonReply<S extends z.ZodType = z.ZodType> = {
  readonly kind: 'json'
  readonly schema: S
  /** Top-level members stored only sealed and shown once (decisions §4 Retry). */
  readonly secrets: readonly string[]
}
/** A list that grows: read page by page as JSON, or followed as server-sent events, as `Accept` asks. */
export type FeedReply<P extends z.ZodType = z.ZodType, E extends z.ZodType = z.ZodType> = {
  readonly kind: 'feed'
  readonly schema: P
  readonly event: E
}
/** JSON, or the page of the same facts for who prefers one: what a form in a browser is answered with. */
export type JsonOrPageReply<S extends z.ZodType = z.ZodType> = { readonly kind: 'json_or_page'; readonly schema: S }
export type Reply =
  | JsonReply
  | JsonOrPageReply
  | FeedReply
  | { readonly kind: 'empty' }
  | { readonly kind: 'bytes'; readonly contentType: string }
  | { readonly kind: 'text'; readonly contentType: string }
  | { readonly kind: 'file' }
  | { readonly kind: 'stream'; readonly contentType: string }
  | { readonly kind: 'html' }
  | { readonly kind: 'events'; readonly schema: z.ZodType }

export function json<S extends z.ZodType>(schema: S, options: { secrets?: readonly string[] } = {}): JsonReply<S> {
  return { kind: 'json', schema, secrets: options.secrets ?? [] }
}
export function jsonOrPage<S extends z.ZodType>(schema: S): JsonOrPageReply<S> {
  return { kind: 'json_or_page', schema }
}
export function bytes<const T extends string>(contentType: T) {
  return { kind: 'bytes', contentType } as const
}
/** Plain text as a handler returns it: guides, metrics. */
export function text<const T extends string = 'text/plain; charset=utf-8'>(contentType?: T) {
  return { kind: 'text', contentType: contentType ?? 'text/plain; charset=utf-8' } as const
}
/** 204. */
export const empty = { kind: 'empty' } as const
/** What is made while it is sent, of any length, as an attachment. */
export function stream<const T extends string>(contentType: T) {
  return { kind: 'stream', contentType } as const
}
/** A stored file, always as an attachment. */
export const file = { kind: 'file' } as const
/** A served page (decisions §6). */
export const html = { kind: 'html' } as const
export function events<S extends z.ZodType>(schema: S) {
  return { kind: 'events', schema } as const
}

/** A `cursor` in the query of such an endpoint may also come as `Last-Event-ID`, as readers of event streams send it. */
export function feed<P extends z.ZodType, E extends z.ZodType>(schema: P, event: E): FeedReply<P, E> {
  return { kind: 'feed', schema, event }
}

/** One endpoint of the contract. Everything that knows about endpoints derives from these members. */
export type Endpoint = {
  readonly method: Method
  readonly path: `/${string}`
  readonly access: Access
  /** Shelved by the cutover: answers 410 while it is on. */
  readonly feature?: Area
  /** Members of the body with which a call of a shelved endpoint is answered all the same. */
  readonly spares?: Readonly<Record<string, string>>
  /** `METHOD /path` of the endpoint that does the job while this one is shelved; none where nothing does. */
  readonly replacement?: `${Method} /${string}`
  /** Built but switched off until the named feature is enabled: 404 (decisions §12). */
  readonly switch?: string
  /** Served only where the daemon was started with it: 404 elsewhere. */
  readonly servedWith?: 'facilitator'
  /** Refused with `terms_required` while acceptance is required and the caller has not accepted (decisions §3). */
  readonly needsTerms?: true
  /** A suspended payer may: what it has begun is ended on the same terms. */
  readonly whileSuspended?: true
  /** Who sends `DNT: 1` or `Sec-GPC: 1` is answered at once, whatever it sent, and nothing is recorded. */
  readonly silentWhenDeclined?: true
  /** Code of a 400 that is about the body, where it is not `invalid_request`. */
  readonly badBody?: 'invalid_event'
  /** Admin endpoints: needs no key on a loopback bind where the operator set this. */
  readonly opensWith?: 'metricsOpen'
  /** The price depends on the body, so it is parsed before the 402. */
  readonly pricedByBody?: true
  readonly query?: z.ZodObject
  readonly body?: Body
  readonly reply: Reply
  readonly errors: readonly ErrorCode[]
  readonly summary: string
  /** Section of the specification, the tag of the description. */
  readonly section: string
  readonly origin?: 'ours'
}

export type PaidAccess = Extract<Access, { kind: 'paid' | 'key_or_paid' }>
export type PaidEndpoint = Endpoint & {
  readonly access: PaidAccess
  readonly reply: JsonReply
  readonly body?: JsonBody
}
export type UploadEndpoint = Endpoint & { readonly body: MultipartBody }

/** Paid endpoints take and reply JSON only: the fingerprint and the stored answer are what makes a retry safe. */
type Sound<E extends Endpoint> = E['access'] extends PaidAccess ? (E extends PaidEndpoint ? E : never) : E

/** Declares an endpoint; a paid endpoint that does not reply JSON, or an unknown member, does not compile. */
export function defineEndpoint<const E extends Endpoint>(endpoint: E & Sound<E>): E {
  return endpoint
}

export function isPaid(endpoint: Endpoint): endpoint is PaidEndpoint {
  return endpoint.access.kind === 'paid' || endpoint.access.kind === 'key_or_paid'
}

/** Whether its JSON is the same for everybody: it is kept by caches, and answers `If-None-Match`. */
export function isShared({ method, access, reply }: Endpoint): boolean {
  return method === 'GET' && reply.kind === 'json' && access.kind === 'open' && access.orKey !== true
}

/** Whether people see the endpoint in a browser: its errors are pages, too, for who prefers one (decisions §2). */
export function hasPages({ reply }: Endpoint): boolean {
  if (reply.kind === 'bytes') return reply.contentType.startsWith('text/html')
  return reply.kind === 'html' || reply.kind === 'json_or_page'
}

type ParamNames<P extends string> = P extends `${infer Head}/${infer Tail}`
  ? ParamNames<Head> | ParamNames<Tail>
  : P extends `:${infer Name}.${string}`
    ? Name
    : P extends `:${infer Name}`
      ? Name
      : never

/** Path parameters, inferred from the path text. */
export type Params<E extends Endpoint> = { readonly [K in ParamNames<E['path']>]: string }

type QueryOf<E extends Endpoint, Side extends 'input' | 'output'> = E extends { query: infer Q extends z.ZodType }
  ? Side extends 'input'
    ? z.input<Q>
    : z.output<Q>
  : undefined

type BodyOf<E extends Endpoint, Side extends 'input' | 'output'> = E extends {
  body: { kind: 'json'; schema: infer S extends z.ZodType }
}
  ? Side extends 'input'
    ? z.input<S>
    : z.output<S>
  : E extends { body: { kind: 'multipart'; fields: infer F extends z.ZodType } }
    ? Side extends 'input'
      ? z.input<F>
      : z.output<F>
    : undefined

/** The file of a form, kept by the time that a handler sees it. */
type FileOf<E extends Endpoint> = E extends { body: { kind: 'multipart'; orJson: infer O } }
  ? O extends true
    ? StoredFile | null
    : StoredFile
  : undefined

/** What a handler receives. */
export type Input<E extends Endpoint> = {
  readonly params: Params<E>
  readonly query: QueryOf<E, 'output'>
  readonly body: BodyOf<E, 'output'>
  readonly file: FileOf<E>
}

type Member<K extends string, T> = undefined extends T
  ? T extends undefined
    ? object
    : { readonly [P in K]?: T }
  : object extends T
    ? { readonly [P in K]?: T }
    : { readonly [P in K]: T }

/** What a caller of the typed client passes: wire forms, as they would be typed into JSON. */
export type Request<E extends Endpoint> = Member<'params', Params<E>> &
  Member<'query', QueryOf<E, 'input'>> &
  Member<'body', BodyOf<E, 'input'>>

/** Answer on the wire, as the typed client hands it over: money is text. */
export type WireAnswer<E extends Endpoint> = E['reply'] extends
  | JsonReply<infer S>
  | JsonOrPageReply<infer S>
  | FeedReply<infer S>
  ? z.input<S>
  : never

/** One event of a stream on the wire. */
export type WireEvent<E extends Endpoint> = E['reply'] extends { kind: 'events'; schema: infer S extends z.ZodType }
  ? z.input<S>
  : never

/** Answer as a handler returns it, in domain form: money is bigint. */
export type Answer<E extends Endpoint> = E['reply'] extends JsonReply<infer S> | JsonOrPageReply<infer S>
  ? z.output<S>
  : never

/** `/v1/jobs/:id` → `/v1/jobs/{id}`, the form of the specification and of OpenAPI. */
export function templatePath(path: string): string {
  return path.replace(/:([A-Za-z]+)/g, '{$1}')
}

/** Names of the path parameters, in order. */
export function paramNames(path: string): readonly string[] {
  return [...path.matchAll(/(?<=:)[A-Za-z]+/g)].map(([name]) => name)
}
