import {
  type Answer,
  type Endpoint,
  type Input,
  isPaid,
  type PaidEndpoint,
  type Settle,
  type UploadEndpoint,
} from '../../../src/api/endpoint/define.ts'
import { api, type EndpointName } from '../../../src/api/index.ts'
import type { Wallet } from '../../../src/core/hex.ts'
import type { Usdc } from '../../../src/core/money.ts'
import type { EntryKind, Leg } from '../../../src/model/ledger.ts'
import type { JsonObject } from '../../../src/model/service.ts'
import type { Exchange } from '../../endpoint/exchange.ts'
import type { BaseCall, Call, FreeHandler, UploadHandler } from '../../endpoint/handler.ts'
import type { Context } from '../../kernel/context.ts'
import { defineResource } from '../../kernel/resource.ts'
import type { ParticipantRow } from '../../kernel/rows.ts'
import type { Draw } from '../../store/draw.ts'
import type { Tx } from '../../store/port.ts'
import { legsOf } from '../ledger/legs.ts'
import type { Tender } from '../listings/quote-window.ts'
import type { PaymentRow } from './rows.ts'
/** Who pays: always a wallet, and the participant it belongs to where it registered. */
export type Payer = { readonly wallet: Wallet; readonly participant: ParticipantRow | null }

/** The full answer of a paid call: what its first caller gets, secrets included. */
export type PaidAnswer = {
  readonly status: number
  readonly body: string
  readonly transaction: string | null
  /** Whether an earlier request paid for it, or one that came together with this. */
  readonly replayed: boolean
}

export type PayCall = BaseCall & {
  readonly payer: Payer
  /** Subscription that pays for it: nothing is charged, so nothing waits in escrow. */
  readonly coveredBy?: string
  /** Those of the quote: what is paid for, whatever its provider edits meanwhile. */
  readonly terms: PaymentRow['terms']
  readonly delivers: JsonObject | undefined
}

/** Whoever asks for a price; `buyer` where a key came alone, or with the balance to pay from. */
export type QuoteCall = BaseCall & { readonly buyer: ParticipantRow | null; readonly tender: Tender }

/** What a `varies` endpoint asks for, and when the money moves. */
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
  /** Kept with the payment: what its fulfilment has to honour even if the listing changes meanwhile. */
  readonly terms?: PaymentRow['terms']
  /** The body as what is bought asks for it, kept with the payment in place of what came. */
  readonly body?: PaymentRow['terms']
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
export type RunResult = PaymentRow['outcome']

/**
 * A paid call as its fulfilment sees it. It can be rebuilt from the payment row alone, so that a crash
 * after settlement ends in the fulfilment and not in a refund.
 */
export type Fulfilment<E extends Endpoint> = {
  readonly input: Input<E>
  readonly payer: Payer
  readonly payment: PaymentRow
  /** Account that the money comes from: `ext`, or the hold of a balance payment. */
  readonly source: string
  readonly result: RunResult
  readonly baseUrl: string
  /** Business time. */
  readonly now: number
}

export type Fulfilled<E extends Endpoint> = {
  readonly answer: Answer<E>
  /** Legs that take exactly the price from `fulfilment.source`; posted by the gate in the same transaction. */
  readonly legs: readonly Leg[]
  readonly kind: EntryKind
  readonly ref: { readonly kind: string; readonly id: string }
  /** Id that the postings get, where the answer names it; drawn unless given. */
  readonly transactionId?: string
}

type Charged = { readonly payment: Pick<PaymentRow, 'price'>; readonly source: string }

/** What a call of a fixed price posts: all that was paid is the marketplace's, for what `ref` names. */
export function fixedFee<A>({ payment, source }: Charged, ref: Fulfilled<Endpoint>['ref'], answer: A) {
  const legs = legsOf.fixedPriceCall({ source, price: payment.price })
  return { kind: 'fixed_price_call', ref, legs, answer } as const
}

/**
 * Writes down what a run is about to begin outside of this daemon, with the payment: whatever happens then, `onUnpaid`
 * is told of it, or the fulfilment pays for it.
 */
export type Begin = ((body: (t: Tx, draw: Draw) => Promise<RunResult>) => Promise<void>) & {
  readonly paymentId: string
}

/**
 * A paid endpoint answers only through `fulfil`: what it returns is encoded, stored, posted and marked
 * fulfilled in the one transaction it ran in.
 */
export type PaidHandler<E extends PaidEndpoint> = {
  /** What whoever is asked for the fixed price has to know before; undefined: nothing. */
  readonly notice?: (input: Pick<Input<E>, 'params'>, base: BaseCall) => Promise<string | undefined>
  /** Refusals that must come before any charge: existence, ownership, state, conflicts. */
  readonly check: (input: Input<E>, base: PayCall) => Promise<void>
  /** Runs before the money moves, on endpoints that settle last; what it returns is stored durably. */
  readonly run?: (input: Input<E>, base: PayCall, begin: Begin) => Promise<RunResult>
  readonly fulfil: (t: Tx, draw: Draw, fulfilment: Fulfilment<E>) => Promise<Fulfilled<E>>
  /** Calls with the same key go one at a time from their check to their fulfilment: who comes second is refused uncharged. */
  readonly serializeBy?: (input: Input<E>) => string
  /** What had begun was not paid for, so its result is withheld: in the transaction that releases the payment. */
  readonly onUnpaid?: (
    t: Tx,
    draw: Draw,
    withheld: { readonly payment: PaymentRow; readonly now: number },
  ) => Promise<void>
} & (E['access'] extends { price: 'varies' }
  ? { readonly quote: (input: QuoteInput<E>, base: QuoteCall) => Promise<Quote> }
  : object) &
  (E['access'] extends { kind: 'key_or_paid' }
    ? {
        /** The free answer for who holds a key or token, or undefined when the caller has to pay. */
        readonly free: (input: Input<E>, base: Call<E['access']>) => Promise<Answer<E> | undefined>
      }
    : object)

export type HandlerOf<E extends Endpoint> = E extends PaidEndpoint
  ? PaidHandler<E>
  : E extends UploadEndpoint
    ? UploadHandler<E>
    : FreeHandler<E>

/**
 * The handlers of a section of the contract. Total: one missing or too many does not compile, nor does a `varies`
 * endpoint without `quote`.
 */
export type Handlers<S extends Readonly<Record<string, Endpoint>>> = { readonly [K in keyof S]: HandlerOf<S[K]> }

/** A handler with its endpoint's types forgotten: the payment path treats all alike. */
type AnyPaidHandler = PaidHandler<PaidEndpoint> & {
  readonly quote?: PaidHandler<PaidEndpoint & { access: { kind: 'paid'; price: 'varies' } }>['quote']
  readonly free?: (input: Input<PaidEndpoint>, call: Call) => Promise<unknown>
}

/** What is sold at an endpoint, and what sells it. */
export type Seller = { readonly name: EndpointName; readonly endpoint: PaidEndpoint; readonly handler: AnyPaidHandler }

export type HandlerTable = Readonly<Record<string, unknown>>

/** The handlers of all endpoints: what ends a payment from its row alone finds there who sold it. */
export const sellers = defineResource<HandlerTable>('sellers')

/** The seller at an endpoint by its name; undefined where none is paid for. */
export function sellerOf(handlers: HandlerTable, name: string): Seller | undefined {
  if (!isEndpointName(name)) return undefined
  const endpoint: Endpoint = api[name]
  return isPaid(endpoint) ? { name, endpoint, handler: handlers[name] as AnyPaidHandler } : undefined // the table is total over the contract
}

function isEndpointName(name: string): name is EndpointName {
  return Object.hasOwn(api, name)
}

/** A request to a paid endpoint, before anything is known of who sends it. */
export type PaidRequest = {
  readonly ctx: Context
  readonly seller: Seller
  readonly exchange: Exchange
  readonly base: BaseCall
}
