import type { Access, Answer, Endpoint, Input, PaidEndpoint, UploadEndpoint } from '../../src/api/endpoint/define.ts'
import type { Wallet } from '../../src/core/hex.ts'
import type { StoredFile } from '../../src/model/service.ts'
import type { Context } from '../kernel/context.ts'
import type { ParticipantRow } from '../kernel/rows.ts'
import type { Visitor } from './exchange.ts'
import type { Html } from './html.ts'

/** A bearer of a token that opens one thing, such as `jt_…` for one job. */
export type TokenBearer = { readonly token: string }

/** A wallet that signed in and belongs to no participant. */
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

/** What a signature may be over and in, for endpoints whose handlers verify one themselves. */
export type Signed = {
  /** Undefined when it was not sent; names in any case. */
  readonly header: (name: string) => string | undefined
  /** The body as it came, once it was parsed. */
  readonly body: () => Buffer
}

/** A request with a key that came with an `Idempotency-Key`. */
export type Retry = {
  /** Of who, method, path and key. */
  readonly id: string
  /** What the request asks for. */
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
  readonly signal: () => AbortSignal
  /** Resolves when the answer is over: whether all of it was handed to the network. */
  readonly sent: () => Promise<boolean>
  readonly visitor: () => Visitor
}

/** What is known of a request before who sent it. */
export type BaseCall = Omit<Call, 'caller' | 'signed' | 'retry'>
export type FreeHandler<E extends Endpoint> = (input: Input<E>, call: Call<E['access']>) => Promise<ReplyValue<E>>

/** An endpoint that takes a file: what can be refused without it is refused before any of it is kept. */
export type UploadHandler<E extends UploadEndpoint> = {
  /** Existence, ownership, state, counts; the transaction of `run` checks them again. */
  readonly check: (
    input: Omit<Input<E>, 'file'> & { readonly hasFile: boolean },
    call: Call<E['access']>,
  ) => Promise<void>
  readonly run: FreeHandler<E>
}

/** The handlers of a section that sells nothing; total, so that one missing or too many does not compile. */
export type FreeHandlers<S extends Readonly<Record<string, Exclude<Endpoint, PaidEndpoint>>>> = {
  readonly [K in keyof S]: S[K] extends UploadEndpoint ? UploadHandler<S[K]> : FreeHandler<S[K]>
}

/** The value of each reply kind. */
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

/** Both forms of an answer; the one that was asked for is sent. */
export type ShownAnswer<A> = { readonly answer: A; readonly page: () => Html }

/** Not begun before somebody is there to read it; a failure on the way cuts the connection. */
export type Streamed = { readonly name: string; readonly chunks: () => AsyncIterable<string | Uint8Array> }

type Output<S> = S extends { _zod: { output: infer O } } ? O : never

export type EventValue<S> = { readonly id: string; readonly event: string; readonly data: Output<S> }

/** A stream, not begun before somebody is there to read it. */
export type Followed<S> = { readonly follow: () => AsyncIterable<EventValue<S>> }

/** Both forms of a feed; the one that was asked for is called. */
export type Feed<P, S> = Followed<S> & { readonly page: () => Promise<Output<P>> }

/** Bytes made before: cached pages, stored documents. */
export type Encoded = {
  readonly bytes: Buffer
  readonly etag?: string
  readonly cache?: string
  readonly headers?: Readonly<Record<string, string>>
  /** JSON that anyone who asks for the same URL may get until `Context.pages` are dropped; for open endpoints without a switch. */
  readonly shared?: true
  /** The answer of an earlier request, given again. */
  readonly replayed?: true
}

export function isEncoded(value: unknown): value is Encoded {
  return typeof value === 'object' && value !== null && 'bytes' in value && Buffer.isBuffer(value.bytes)
}
