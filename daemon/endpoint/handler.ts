import { hash } from 'node:crypto'
import { z } from 'zod'
import type { Access, Answer, Endpoint, Input, PaidEndpoint, UploadEndpoint } from '../../src/api/endpoint/define.ts'
import type { StoredFile } from '../../src/core/codecs.ts'
import type { Wallet } from '../../src/core/hex.ts'
import type { Context } from '../kernel/context.ts'
import type { ParticipantRow } from '../kernel/rows.ts'
import { JSON_TYPE, type ReplyOut, type Visitor } from './exchange.ts'
import type { Html } from './html.ts'

/** Bearer of a token for one object, such as `jt_…` for a job. */
export type TokenBearer = { readonly token: string }

/** A signed-in wallet without a participant. */
export type SignedIn = { readonly wallet: Wallet; readonly id: null }

type OrSignedIn<A extends Access> = A extends { orSignIn: true } ? SignedIn : never

export type CallerOf<A extends Access> = A extends { kind: 'open' }
  ? A extends { orKey: true }
    ? ParticipantRow | null
    : null
  : A extends { kind: 'key' }
    ?
        | ParticipantRow
        | (A extends { orToken: true } ? TokenBearer : never)
        | (A extends { orAdmin: true } ? 'admin' : never)
        | (A extends { orLocal: true } ? null : never)
        | OrSignedIn<A>
    : A extends { kind: 'key_or_paid' }
      ? ParticipantRow | TokenBearer | OrSignedIn<A>
      : A extends { kind: 'token'; at: infer At }
        ? At extends 'body'
          ? null
          : TokenBearer
        : A extends { kind: 'admin' }
          ? 'admin'
          : ParticipantRow | null

/** Request data for handlers that verify a signature themselves. */
export type Signed = {
  /** Undefined if not sent; names are case-insensitive. */
  readonly header: (name: string) => string | undefined
  /** The raw body, available after parsing. */
  readonly body: () => Buffer
}

/** An authenticated request with an `Idempotency-Key`. */
export type Retry = {
  /** Hash of caller, method, path and key. */
  readonly id: string
  /** SHA-256 of the request; see `fingerprintOf`. */
  readonly fingerprint: string
}

export type Call<A extends Access = Access> = {
  readonly ctx: Context
  readonly caller: CallerOf<A>
  readonly signed: A extends { kind: 'key_or_signed' | 'token' } ? Signed : undefined
  readonly retry: A extends { kind: 'admin' | 'key' } ? Retry | undefined : undefined
  readonly now: number
  /** Wall time, epoch milliseconds. */
  readonly wall: number
  readonly requestId: string
  /** Id of a client session, in which repeated reads are logged once; undefined if not sent. */
  readonly sitting?: string | undefined
  /** Whether a client session only shows what the cursor rests on. Such reads are logged once, not one by one. */
  readonly isGlance: boolean
  readonly signal: () => AbortSignal
  /** Resolves when the response ends: true if the whole response was passed to the network. */
  readonly sent: () => Promise<boolean>
  readonly visitor: () => Visitor
}

/** A call before its caller is known. */
export type BaseCall = Omit<Call, 'caller' | 'signed' | 'retry'>
export type FreeHandler<E extends Endpoint> = (input: Input<E>, call: Call<E['access']>) => Promise<ReplyValue<E>>

/** Handler of an upload endpoint: `check` refuses what it can before any of the file is stored. */
export type UploadHandler<E extends UploadEndpoint> = {
  /** Checks existence, ownership, state and counts; the transaction of `run` checks them again. */
  readonly check: (
    input: Omit<Input<E>, 'file'> & { readonly hasFile: boolean },
    call: Call<E['access']>,
  ) => Promise<void>
  readonly run: FreeHandler<E>
}

/** Handlers of a section without paid endpoints. A missing or extra handler does not compile. */
export type FreeHandlers<S extends Readonly<Record<string, Exclude<Endpoint, PaidEndpoint>>>> = {
  readonly [K in keyof S]: S[K] extends UploadEndpoint ? UploadHandler<S[K]> : FreeHandler<S[K]>
}

export type ReplyValue<E extends Endpoint> = E['reply'] extends { kind: 'json' }
  ? Answer<E> | Encoded
  : E['reply'] extends { kind: 'json_or_page' }
    ? ShownAnswer<Answer<E>>
    : E['reply'] extends { kind: 'empty' }
      ? undefined
      : E['reply'] extends { kind: 'events'; schema: infer S }
        ? Followed<S>
        : E['reply'] extends { kind: 'feed'; schema: infer P; event: infer S }
          ? Feed<P, S>
          : E['reply'] extends { kind: 'file' }
            ? StoredFile
            : E['reply'] extends { kind: 'stream' }
              ? Streamed
              : E['reply'] extends { kind: 'html' }
                ? Html
                : E['reply'] extends { kind: 'text' }
                  ? string
                  : Encoded

/** Both forms of a response, JSON and page; the requested one is sent. */
export type ShownAnswer<A> = { readonly answer: A; readonly page: () => Html }

/** An attachment generated while it is sent. A failure on the way closes the connection. */
export type Streamed = { readonly name: string; readonly chunks: () => AsyncIterable<string | Uint8Array> }

type Output<S> = S extends { _zod: { output: infer O } } ? O : never

export type EventValue<S> = { readonly id: string; readonly event: string; readonly data: Output<S> }

/** A stream that starts when `follow` is called. */
export type Followed<S> = { readonly follow: () => AsyncIterable<EventValue<S>> }

/** Both forms of a feed, page and stream; the requested one is called. */
export type Feed<P, S> = Followed<S> & { readonly page: () => Promise<Output<P>> }

/** Bytes encoded earlier: cached pages, stored documents. */
export type Encoded = {
  readonly bytes: Buffer
  readonly etag?: string
  readonly cache?: string
  readonly headers?: Readonly<Record<string, string>>
  /**
   * Set if this JSON may be cached for every caller of the URL, until the page cache is dropped. Only for open
   * endpoints without a switch.
   */
  readonly shared?: true
  /** Set if this is the stored response of an earlier request. */
  readonly replayed?: true
}

export function isEncoded(value: unknown): value is Encoded {
  return typeof value === 'object' && value !== null && 'bytes' in value && Buffer.isBuffer(value.bytes)
}

/** Encodes a response by its endpoint's schema, which drops unknown members. */
export function encodeJson(
  schema: z.ZodType,
  value: unknown,
  options: { private: boolean; validator?: boolean },
): ReplyOut {
  const body = JSON.stringify(z.encode(schema, value))
  return {
    kind: 'bytes',
    status: 200,
    headers: options.private
      ? { 'Content-Type': JSON_TYPE, 'Cache-Control': 'no-store' }
      : { 'Content-Type': JSON_TYPE, ...(options.validator ? { ETag: validatorOf(body) } : {}) },
    body,
  }
}

/** An ETag; it is weak, because a compressed copy has different bytes. */
export function validatorOf(body: string | Buffer): string {
  return `W/"${hash('sha256', body, 'base64url')}"`
}

/** A reply from bytes encoded earlier, with their ETag. */
export function encodedReply(encoded: Encoded, contentType: string): ReplyOut {
  const headers: Record<string, string> = { 'Content-Type': contentType }
  if (encoded.etag) headers.ETag = encoded.etag
  if (encoded.cache) headers['Cache-Control'] = encoded.cache
  Object.assign(headers, encoded.headers)
  if (encoded.replayed) headers['Idempotency-Replayed'] = 'true'
  return { kind: 'bytes', status: 200, headers, body: encoded.bytes }
}

export function encodeText(text: string, contentType: string): ReplyOut {
  return {
    kind: 'bytes',
    status: 200,
    headers: { 'Content-Type': contentType, 'Cache-Control': 'no-store' },
    body: text,
  }
}

/** An attachment generated while it is sent; never cached. */
export function encodeChunks({ name, chunks }: Streamed, contentType: string): ReplyOut {
  const headers = {
    'Content-Type': contentType,
    'Cache-Control': 'no-store',
    'Content-Disposition': `attachment; filename="${name}"`,
  }
  return { kind: 'stream', headers, chunks }
}

/** An HTML page (decisions §6). Its headers allow only souk's own styles and forms, and forbid framing and caching. */
export function encodePage(page: Html): ReplyOut {
  return { kind: 'bytes', status: 200, headers: pageHeaders, body: page.markup }
}

/** Headers of every page: no content sniffing, no referrer, no framing. */
export const guards = {
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
}

export const pageHeaders = {
  'Content-Type': 'text/html; charset=utf-8',
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; style-src 'self'; form-action 'self'; frame-ancestors 'none'",
  ...guards,
}

export type EventIn = { readonly id: string; readonly event: string; readonly data: unknown }

export function encodeEvents(schema: z.ZodType, source: AsyncIterable<EventIn>): ReplyOut {
  async function* encoded() {
    for await (const { id, event, data } of source) {
      yield { id, event, data: JSON.stringify(z.encode(schema, data)) }
    }
  }
  return { kind: 'events', status: 200, headers: { 'Cache-Control': 'no-store' }, events: encoded() }
}
