import { z } from 'zod'
import { namedObject, type StoredFile } from '../../core/codecs.ts'
import type { ErrorCode } from '../../core/error.ts'
import type { Usdc } from '../../core/money.ts'

/** Areas that the cutover defers (decisions §12). */
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
/** When money moves: `first`, before the handler; `last`, after the handler has succeeded (decisions §4 Order). */
export type Settle = 'first' | 'last'

/** `path`: the parameter `:token`. */
export type TokenPlace = 'header' | 'path' | 'body'

/** Who may call an endpoint, and its price. A closed union, on which gates, health, description and client depend. */
export type Access =
  /** `orKey`: an optional key identifies the caller. */
  | { readonly kind: 'open'; readonly orKey?: true }
  /**
   * `orToken`: the object's own token; `orAdmin`: the operator, whose call is logged; `orSignIn`: a signed-in wallet,
   * see `sign-in.ts`; `orLocal`: anyone, with test money on a marketplace that only this machine reaches.
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
  /** An access token for one object. `at` says where it is sent; a token in the body is read by the handler. */
  | { readonly kind: 'token'; readonly at: TokenPlace }
  /** `bundled`: a subscription may include the service. Subscribers then need only an API key (decisions §9). */
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
/** Open to everybody; a caller with a key sees more. */
export const openOrKey = { kind: 'open', orKey: true } as const
export const admin = { kind: 'admin' } as const

export function key(): { readonly kind: 'key' }
export function key<const R extends Role>(role: R): { readonly kind: 'key'; readonly role: R }
export function key(role?: Role) {
  return role ? { kind: 'key' as const, role } : { kind: 'key' as const }
}

/** A key, or the `jt_…` token of the job in the path, or of its thread (decisions §3). */
export const keyOrToken = { kind: 'key', orToken: true } as const
/** A key, the job's token, or the admin key (for rulings). */
export const keyTokenOrAdmin = { kind: 'key', orToken: true, orAdmin: true } as const

/** A key, which is not needed with test money on a marketplace that only this machine reaches. */
export const keyOrLocal = { kind: 'key', orLocal: true } as const

/** A key, or a signed-in wallet. For endpoints that read the caller's own objects (decisions §3). */
export const keyOrSignIn = { kind: 'key', orSignIn: true } as const

/** A key, a signed-in wallet, or the admin key. For objects that their parties and the operator may read. */
export const keySignInOrAdmin = { kind: 'key', orSignIn: true, orAdmin: true } as const

/** Access with one object's token. The handler verifies a token in the body, or a signature (see `Call.signed`). */
export function token<const P extends TokenPlace>(at: P) {
  return { kind: 'token' as const, at }
}

/** A key, or a signature that the handler verifies: see `Call.signed`. */
export const keyOrSigned = { kind: 'key_or_signed' } as const

type PaidOptions = { readonly role?: Role; readonly x402Only?: true; readonly bundled?: true }

/** Access by payment only: by x402 or, unless `x402Only`, from the balance. */
export function paid<const P extends Usdc | 'varies', const O extends PaidOptions = object>(price: P, options?: O) {
  return { kind: 'paid' as const, price, ...(options ?? ({} as O)) }
}

export function keyOrPaid<const P extends Usdc, const O extends { readonly orSignIn?: true } = object>(
  price: P,
  options?: O,
) {
  return { kind: 'key_or_paid' as const, price, ...(options ?? ({} as O)) }
}

/** Whether wallets may sign in instead of using a key. */
export function takesSignIn({ access }: Endpoint): boolean {
  return 'orSignIn' in access && access.orSignIn === true
}

export type JsonBody<S extends z.ZodType = z.ZodType> = {
  readonly kind: 'json'
  readonly schema: S
  /** (default: `MAX_BODY_BYTES`) */
  readonly maxBodyBytes?: number
  /** Also accepts `application/x-www-form-urlencoded`, so the schema must accept text members. */
  readonly orForm?: true
  /** Parsed as JSON whatever the `Content-Type`, because `navigator.sendBeacon` sends text. */
  readonly anyMedia?: true
}
/**
 * A form with text fields, then one file named `file`. The file is stored before the handler runs; an `UploadHandler`
 * can refuse earlier.
 */
export type MultipartBody<S extends z.ZodType = z.ZodType, O extends boolean = boolean> = {
  readonly kind: 'multipart'
  /** Text members. */
  readonly fields: S
  readonly maxFileBytes: number
  /** Also accepts a JSON body without a file. */
  readonly orJson: O
}
export type Body = JsonBody | MultipartBody

/** Members of an object that has no others. */
type Shape = z.core.$ZodLooseShape
type Strict<M extends Shape> = z.ZodObject<M, z.core.$strict>

function schemaOf(written: z.ZodType | Shape): z.ZodType {
  return written instanceof z.ZodType ? written : z.strictObject(written)
}

type BodyOptions = Pick<JsonBody, 'maxBodyBytes' | 'orForm' | 'anyMedia'>

export function jsonBody<S extends z.ZodType>(schema: S, options?: BodyOptions): JsonBody<S>
export function jsonBody<M extends Shape>(members: M, options?: BodyOptions): JsonBody<Strict<M>>
export function jsonBody(written: z.ZodType | Shape, options: BodyOptions = {}): JsonBody {
  return { kind: 'json', schema: schemaOf(written), ...options }
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
  /** Top-level members shown once and stored encrypted (decisions §4 Retry). */
  readonly secrets: readonly string[]
}
/** A growing list, sent as JSON pages or as server-sent events. The `Accept` header decides. */
export type FeedReply<P extends z.ZodType = z.ZodType, E extends z.ZodType = z.ZodType> = {
  readonly kind: 'feed'
  readonly schema: P
  readonly event: E
}
/** JSON or an HTML page, as the `Accept` header asks. For endpoints that browser forms post to. */
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

type ReplyOptions = { readonly secrets?: readonly string[] }

export function json<S extends z.ZodType>(schema: S, options?: ReplyOptions): JsonReply<S>
export function json<M extends Shape>(members: M, options?: ReplyOptions): JsonReply<Strict<M>>
export function json(written: z.ZodType | Shape, { secrets = [] }: ReplyOptions = {}): JsonReply {
  return { kind: 'json', schema: schemaOf(written), secrets }
}
/** A JSON reply with a name in the API's description. */
export function namedJson<M extends Shape>(id: string, members: M): JsonReply<Strict<M>> {
  return json(namedObject(id, members))
}
export function jsonOrPage<S extends z.ZodType>(schema: S): JsonOrPageReply<S>
export function jsonOrPage<M extends Shape>(members: M): JsonOrPageReply<Strict<M>>
export function jsonOrPage(written: z.ZodType | Shape): JsonOrPageReply {
  return { kind: 'json_or_page', schema: schemaOf(written) }
}
export function bytes<const T extends string>(contentType: T) {
  return { kind: 'bytes', contentType } as const
}
/** Plain text from the handler: guides, metrics. */
export const text = { kind: 'text', contentType: 'text/plain; charset=utf-8' } as const
/** 204. */
export const empty = { kind: 'empty' } as const
/** A generated attachment of any length. */
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

/** A feed, whose `cursor` may come in the query or as `Last-Event-ID`. */
export function feed<P extends z.ZodType, E extends z.ZodType>(schema: P, event: E): FeedReply<P, E> {
  return { kind: 'feed', schema, event }
}

/** Declares an API endpoint. Everything else about the endpoint derives from this declaration. */
export type Endpoint = {
  readonly method: Method
  readonly path: `/${string}`
  readonly access: Access
  /** The area that the cutover defers: this endpoint returns 410 while the cutover is on. */
  readonly feature?: Area
  /** A deferred endpoint still accepts bodies with these members and values. */
  readonly spares?: Readonly<Record<string, string>>
  /** `METHOD /path` of the replacement while the endpoint is deferred. */
  readonly replacement?: `${Method} /${string}`
  /** Switch of an endpoint that is off by default: 404 until the operator enables it (decisions §12). */
  readonly switch?: string
  /** Only served if the daemon was started with this option; otherwise 404. */
  readonly servedWith?: 'facilitator'
  /** Requires accepted terms while the switch `terms_required` is on (decisions §3). */
  readonly needsTerms?: true
  /** Suspended payers may still call the endpoint, to finish what they started. */
  readonly whileSuspended?: true
  /** With `DNT: 1` or `Sec-GPC: 1`, responds immediately and records nothing. */
  readonly silentWhenDeclined?: true
  /** Code of a 400 about the body (default: `invalid_request`). */
  readonly badBody?: 'invalid_event'
  /** Start option with which an admin endpoint needs no key on a loopback bind. */
  readonly opensWith?: 'metricsOpen'
  /** The price depends on the body, which is parsed before the 402. */
  readonly pricedByBody?: true
  readonly query?: z.ZodObject
  readonly body?: Body
  readonly reply: Reply
  readonly errors: readonly ErrorCode[]
  readonly summary: string
  /** Section of the specification; also the endpoint's tag in the OpenAPI description. */
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

/** Paid endpoints use JSON only, so that retries can be matched and answered. */
type Sound<E extends Endpoint> = E['access'] extends PaidAccess ? (E extends PaidEndpoint ? E : never) : E

/** What most endpoints are; an endpoint may say otherwise. */
type Usual<E> = {
  readonly method: E extends { readonly body: Body } ? 'POST' : 'GET'
  readonly access: { readonly kind: 'key' }
  readonly errors: readonly ('invalid_request' | 'not_found')[]
}

type With<C, E> = E & Omit<C, keyof E> & Omit<Usual<E>, keyof C | keyof E>

/**
 * Declares endpoints that have members in common, such as their section; an endpoint may have its own instead. A paid
 * endpoint that does not reply in JSON does not compile.
 */
export function endpointsWith<const C extends Partial<Endpoint>>(common: C) {
  return <const E extends Partial<Endpoint>>(
    endpoint: E & (With<C, E> extends infer W extends Endpoint ? (W extends Sound<W> ? unknown : never) : Endpoint),
  ) => withUsual(common, endpoint) as With<C, E> // what it does, for any endpoint
}

function withUsual(common: Partial<Endpoint>, endpoint: Partial<Endpoint>): object {
  const { path = '', query, body } = endpoint
  // The usual errors are those of a query or body, and of an id in the path.
  const errors = [...(query || body ? ['invalid_request'] : []), ...(path.includes(':') ? ['not_found'] : [])]
  return { method: body ? 'POST' : 'GET', access: key(), errors, ...common, ...endpoint }
}

export const defineEndpoint = endpointsWith({})
export const adminEndpoint = endpointsWith({ access: admin, origin: 'ours', section: 'Administration' })
/** Declares an endpoint of a participant's own account that the specification does not have. */
export const accountEndpoint = endpointsWith({ origin: 'ours', section: 'Account' })

export function isPaid(endpoint: Endpoint): endpoint is PaidEndpoint {
  return endpoint.access.kind === 'paid' || endpoint.access.kind === 'key_or_paid'
}

/** Whether an endpoint's JSON is the same for every caller. Its response then has an ETag. */
export function isShared({ method, access, reply }: Endpoint): boolean {
  return method === 'GET' && reply.kind === 'json' && access.kind === 'open' && access.orKey !== true
}

/** Whether browsers open the endpoint, so that errors may be pages (decisions §2). */
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

/** The form's file, as the handler receives it; null if JSON was sent instead. */
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

/** What the typed client sends, in wire form. */
export type Request<E extends Endpoint> = Member<'params', Params<E>> &
  Member<'query', QueryOf<E, 'input'>> &
  Member<'body', BodyOf<E, 'input'>>

/** A handler's response in domain form: money is bigint. */
export type Answer<E extends Endpoint> = E['reply'] extends JsonReply<infer S> | JsonOrPageReply<infer S>
  ? z.output<S>
  : never

/** `/v1/jobs/:id` → `/v1/jobs/{id}`, the form of the specification and of OpenAPI. */
export function templatePath(path: string): string {
  return path.replace(/:([A-Za-z]+)/g, '{$1}')
}

export function paramNames(path: string): readonly string[] {
  return [...path.matchAll(/(?<=:)[A-Za-z]+/g)].map(([name]) => name)
}
