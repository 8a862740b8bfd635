import type { Access, Answer, Endpoint, Input, PaidEndpoint, UploadEndpoint } from '../../src/api/endpoint/define.ts'
import type { StoredFile } from '../../src/core/codecs.ts'
import type { Wallet } from '../../src/core/hex.ts'
import type { Context } from '../kernel/context.ts'
import type { ParticipantRow } from '../kernel/rows.ts'
import type { Visitor } from './exchange.ts'
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
  /** Business time, epoch milliseconds. */
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
