import type {
  Access,
  Answer,
  Endpoint,
  Input,
  PaidEndpoint,
  Settle,
  UploadEndpoint,
} from '../../src/api/endpoint/define.ts'
import type { Api } from '../../src/api/index.ts'
import type { Wallet } from '../../src/core/hex.ts'
import type { Usdc } from '../../src/core/money.ts'
import type { EntryKind, Leg } from '../../src/model/ledger.ts'
import type { ParticipantRow } from '../../src/model/participant.ts'
import type { PaymentRow } from '../../src/model/payment.ts'
import type { JsonObject } from '../../src/model/service.ts'
import type { StoredFile } from '../../src/model/stored-file.ts'
import type { Tender } from '../features/listings/quote-window.ts'
import type { World } from '../kernel/world.ts'
import type { Draw } from '../store/draw.ts'
import type { Tx } from '../store/port.ts'
import type { Visitor } from './exchange.ts'
import type { Html } from './html.ts'

/** A bearer of a token that opens one thing, such as `jt_…` for one job. */
export type TokenBearer = { readonly token: string }

/** A wallet that signed in and belongs to no participant. */
export type SignedIn = { readonly wallet: Wallet; readonly id: null }

type OrSignedIn<A extends Access> = A extends { orSignIn: true } ? SignedIn : never

export type CallerOf<A extends Access> = A extends { door: 'open' }
  ? A extends { orKey: true }
    ? ParticipantRow | null
    : null
  : A extends { door: 'key' }
    ?
        | ParticipantRow
        | (A extends { orToken: true } ? TokenBearer : never)
        | (A extends { orAdmin: true } ? 'admin' : never)
        | OrSignedIn<A>
    : A extends { door: 'key_or_paid' }
      ? ParticipantRow | TokenBearer | OrSignedIn<A>
      : A extends { door: 'token'; at: infer At }
        ? At extends 'body'
          ? null
          : TokenBearer
        : A extends { door: 'admin' }
          ? 'admin'
          : ParticipantRow | null

/** What a signature may be over and in, for doors whose handlers verify one themselves. */
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

export type Ctx<A extends Access = Access> = {
  readonly world: World
  readonly caller: CallerOf<A>
  readonly signed: A extends { door: 'key_or_signed' | 'token' } ? Signed : undefined
  readonly retry: A extends { door: 'admin' | 'key' } ? Retry | undefined : undefined
  /** Business time, epoch milliseconds. */
  readonly now: number
  /** Wall time, epoch milliseconds. */
  readonly wall: number
  readonly requestId: string
  readonly signal: () => AbortSignal
  readonly visitor: () => Visitor
}

/** Who pays: always a wallet, and the participant it belongs to where it registered. */
export type Payer = { readonly wallet: Wallet; readonly participant: ParticipantRow | null }

/** What is known of a request before who sent it. */
export type BaseCtx = Omit<Ctx, 'caller' | 'signed' | 'retry'>
export type PayCtx = BaseCtx & {
  readonly payer: Payer
  /** Subscription that pays for it: nothing is charged, so nothing waits in escrow. */
  readonly coveredBy?: string
  /** Those of the quote: what is paid for, whatever its provider edits meanwhile. */
  readonly terms: Outcome
  readonly delivers: JsonObject | undefined
}

/** Whoever asks for a price; `buyer` where a key came alone, or with the balance to pay from. */
export type QuoteCtx = BaseCtx & { readonly buyer: ParticipantRow | null; readonly tender: Tender }

/** What a `varies` row asks for, and when the money moves. */
export type Quote = {
  readonly price: Usdc
  /** The payer may authorise more than the price, up to this; the authorised value is what is paid. x402 only. */
  readonly upTo?: Usdc
  readonly settle: Settle
  readonly description: string
  /** What who pays has to know before; stands in the 402. */
  readonly notice?: string
  /** The money waits in escrow: a balance's history calls its hold `escrow_hold` and not `purchase`. */
  readonly escrow?: true
  /** Kept with the payment: what the effect has to honour even if the listing changes meanwhile. */
  readonly terms?: Outcome
  /** The body as what is bought asks for it, kept with the payment in place of what came. */
  readonly body?: Outcome
  /** Subscription of the buyer that pays for it; the price is 0 then, and there is no 402 (decisions §9). */
  readonly coveredBy?: string
  /** What a run is checked against at once; for `PayCtx.delivers`, not kept. */
  readonly delivers?: JsonObject
  /** v1 discovery; local `input_schema` of what is bought. */
  readonly inputSchema?: Record<string, unknown>
}

/** A body is absent on an unpaid probe. */
export type QuoteInput<E extends Endpoint> = Pick<Input<E>, 'params' | 'query'> & { readonly body?: Input<E>['body'] }

/** JSON of a run that is kept until it is paid for. */
export type Outcome = PaymentRow['outcome']

/**
 * A paid call as its effect sees it. It can be rebuilt from the payment row alone, so that a crash
 * after settlement ends in the effect and not in a refund.
 */
export type Deed<E extends Endpoint> = {
  readonly input: Input<E>
  readonly payer: Payer
  readonly payment: PaymentRow
  /** Account that the money comes from: `ext`, or the hold of a balance payment. */
  readonly source: string
  readonly outcome: Outcome
  readonly baseUrl: string
  /** Business time. */
  readonly now: number
}

export type Effect<E extends Endpoint> = {
  readonly answer: Answer<E>
  /** Legs that take exactly the price from `deed.source`; posted by the gate in the same transaction. */
  readonly legs: readonly Leg[]
  readonly kind: EntryKind
  readonly ref: { readonly kind: string; readonly id: string }
  /** Id that the postings get, where the answer names it; drawn unless given. */
  readonly transactionId?: string
}

export type FreeHandler<E extends Endpoint> = (input: Input<E>, ctx: Ctx<E['access']>) => Promise<ReplyValue<E>>

/** A row that takes a file: what can be refused without it is refused before any of it is kept. */
export type UploadHandler<E extends UploadEndpoint> = {
  /** Existence, ownership, state, counts; the transaction of `run` checks them again. */
  readonly check: (
    input: Omit<Input<E>, 'file'> & { readonly hasFile: boolean },
    ctx: Ctx<E['access']>,
  ) => Promise<void>
  readonly run: FreeHandler<E>
}

/** The value of each reply kind. */
export type ReplyValue<E extends Endpoint> = E['reply'] extends { kind: 'json' }
  ? Answer<E> | Encoded
  : E['reply'] extends { kind: 'json_or_page' }
    ? Shown<Answer<E>>
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
export type Shown<A> = { readonly answer: A; readonly page: () => Html }

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
  /** JSON that anyone who asks for the same URL may get until `World.pages` are dropped; for open rows without a switch. */
  readonly shared?: true
  /** The answer of an earlier request, given again. */
  readonly replayed?: true
}

export function isEncoded(value: unknown): value is Encoded {
  return typeof value === 'object' && value !== null && 'bytes' in value && Buffer.isBuffer(value.bytes)
}

/**
 * Writes down what a run is about to begin outside of this daemon, with the payment: whatever happens then, `unpaid`
 * is told of it, or the effect pays for it.
 */
export type Begin = (body: (t: Tx, draw: Draw) => Promise<Outcome>) => Promise<void>

/**
 * A paid row answers only through `effect`: what it returns is encoded, stored, posted and marked
 * fulfilled in the one transaction it ran in.
 */
export type PaidHandler<E extends PaidEndpoint> = {
  /** What whoever is asked for the fixed price has to know before; undefined: nothing. */
  readonly notice?: (input: Pick<Input<E>, 'params'>, ctx: BaseCtx) => Promise<string | undefined>
  /** Refusals that must come before any charge: existence, ownership, state, conflicts. */
  readonly check: (input: Input<E>, ctx: PayCtx) => Promise<void>
  /** Runs before the money moves, on rows that settle last; what it returns is stored durably. */
  readonly work?: (input: Input<E>, ctx: PayCtx, begin: Begin) => Promise<Outcome>
  readonly effect: (t: Tx, draw: Draw, deed: Deed<E>) => Promise<Effect<E>>
  /** Calls with the same key go one at a time from their check to their effect: who comes second is refused uncharged. */
  readonly alone?: (input: Input<E>) => string
  /** What had begun was not paid for, so its result is withheld: in the transaction that releases the payment. */
  readonly unpaid?: (
    t: Tx,
    draw: Draw,
    withheld: { readonly payment: PaymentRow; readonly now: number },
  ) => Promise<void>
} & (E['access'] extends { price: 'varies' }
  ? { readonly quote: (input: QuoteInput<E>, ctx: QuoteCtx) => Promise<Quote> }
  : object) &
  (E['access'] extends { door: 'key_or_paid' }
    ? {
        /** The free answer for who holds a key or token, or undefined when the caller has to pay. */
        readonly free: (input: Input<E>, ctx: Ctx<E['access']>) => Promise<Answer<E> | undefined>
      }
    : object)

export type HandlerOf<E extends Endpoint> = E extends PaidEndpoint
  ? PaidHandler<E>
  : E extends UploadEndpoint
    ? UploadHandler<E>
    : FreeHandler<E>

/** Total: a row without a handler, or a `varies` row without `quote`, does not compile. */
export type Handlers = { readonly [K in keyof Api]: HandlerOf<Api[K]> }
