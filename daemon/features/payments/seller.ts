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
import { isKeyOf } from '../../../src/core/record.ts'
import type { EntryKind, Leg } from '../../../src/model/ledger.ts'
import type { JsonObject } from '../../../src/model/service.ts'
import type { Exchange } from '../../endpoint/exchange.ts'
import type { BaseCall, Call, FreeHandler, UploadHandler } from '../../endpoint/handler.ts'
import { type Context, defineResource } from '../../kernel/context.ts'
import type { ParticipantRow } from '../../kernel/rows.ts'
import type { Draw, Tx } from '../../store/port.ts'
import { legsOf } from '../ledger/legs.ts'
import type { Tender } from '../listings/quote-window.ts'
import type { PaymentRow } from './rows.ts'
/** The paying wallet, with its participant if it is registered. */
export type Payer = { readonly wallet: Wallet; readonly participant: ParticipantRow | null }

/** The full response of a paid call, with secrets. */
export type PaidAnswer = {
  readonly status: number
  readonly body: string
  readonly transaction: string | null
  /** Whether the response was paid by an earlier or concurrent request. */
  readonly replayed: boolean
}

export type PayCall = BaseCall & {
  readonly payer: Payer
  /** Subscription that covers the call, so there is no charge and no escrow. */
  readonly coveredBy?: string
  /** Terms of the quote. Later edits do not change them. */
  readonly terms: PaymentRow['terms']
  readonly delivers: JsonObject | undefined
}

/** A request for a price. `buyer` is set if the request has an API key. */
export type QuoteCall = BaseCall & { readonly buyer: ParticipantRow | null; readonly tender: Tender }

/** Quote of a `varies` endpoint: price, and when the money moves. */
export type Quote = {
  readonly price: Usdc
  /** The payer may authorise more than the price, up to this amount. The authorised amount is then paid. x402 only. */
  readonly upTo?: Usdc
  readonly settle: Settle
  readonly description: string
  readonly notice?: string
  /** The money goes into escrow. The balance history then shows `escrow_hold` instead of `purchase`. */
  readonly escrow?: true
  /** Stored with the payment, so that later edits do not change them. */
  readonly terms?: PaymentRow['terms']
  /** The normalised body, stored instead of the received one. */
  readonly body?: PaymentRow['terms']
  /** The buyer's subscription that covers the call. The price is then 0, and no 402 is sent (decisions §9). */
  readonly coveredBy?: string
  /** Schema of the run's result. The run gets the schema as `PayCall.delivers`. The schema is not stored. */
  readonly delivers?: JsonObject
  /** For x402 v1 discovery: the listing's `input_schema`. */
  readonly inputSchema?: Record<string, unknown>
}

/** Input for a quote. The body is absent in a request without payment. */
export type QuoteInput<E extends Endpoint> = Pick<Input<E>, 'params' | 'query'> & { readonly body?: Input<E>['body'] }

/** Result of a run, stored until the payment is settled. */
export type RunResult = PaymentRow['outcome']

/** Data of a paid call for `fulfil`. All of it is in the payment row, so a call is fulfilled even after a crash. */
export type Fulfilment<E extends Endpoint> = {
  readonly input: Input<E>
  readonly payer: Payer
  readonly payment: PaymentRow
  /** Account from which the sale is paid: `ext`, or the hold of a balance payment. */
  readonly source: string
  readonly result: RunResult
  readonly baseUrl: string
  readonly now: number
}

export type Fulfilled<E extends Endpoint> = {
  readonly answer: Answer<E>
  /** Ledger legs that take exactly the price from `fulfilment.source`. They are posted in the transaction `t`. */
  readonly legs: readonly Leg[]
  readonly kind: EntryKind
  readonly ref: { readonly kind: string; readonly id: string }
  /** Transaction id, if the response names it (default: a new id). */
  readonly transactionId?: string
}

type Charged = { readonly payment: Pick<PaymentRow, 'price'>; readonly source: string }

/** Ledger entry for a fixed API fee. The marketplace keeps the whole fee. */
export function fixedFee<A>({ payment, source }: Charged, ref: Fulfilled<Endpoint>['ref'], answer: A) {
  const legs = legsOf.fixedPriceCall({ source, price: payment.price })
  return { kind: 'fixed_price_call', ref, legs, answer } as const
}

/** Records that a call's external work begins. Later, the call is fulfilled and paid, or `onUnpaid` is called. */
export type Begin = ((body: (t: Tx, draw: Draw) => Promise<RunResult>) => Promise<void>) & {
  readonly paymentId: string
}

/**
 * A handler of a paid endpoint. It responds only through `fulfil`, whose result is encoded, stored, booked in the
 * ledger and marked fulfilled in one transaction.
 */
export type PaidHandler<E extends PaidEndpoint> = {
  /** Notice that precedes the payment of a fixed price; undefined if there is none. */
  readonly notice?: (input: Pick<Input<E>, 'params'>, base: BaseCall) => Promise<string | undefined>
  /** Checks existence, ownership, state and conflicts before any charge. Throws to refuse the call. */
  readonly check: (input: Input<E>, base: PayCall) => Promise<void>
  /** Runs before the money moves, on endpoints that settle only after the work. The result of `run` is stored. */
  readonly run?: (input: Input<E>, base: PayCall, begin: Begin) => Promise<RunResult>
  readonly fulfil: (t: Tx, draw: Draw, fulfilment: Fulfilment<E>) => Promise<Fulfilled<E>>
  /** Calls with the same key run one at a time, from check to fulfilment. Conflicting calls are not charged. */
  readonly serializeBy?: (input: Input<E>) => string
  /** If a run that began stays unpaid: called in the transaction that ends the payment. The result is withheld. */
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
        /** The free response for holders of a key or token; undefined if the caller must pay. */
        readonly free: (input: Input<E>, base: Call<E['access']>) => Promise<Answer<E> | undefined>
      }
    : object)

export type HandlerOf<E extends Endpoint> = E extends PaidEndpoint
  ? PaidHandler<E>
  : E extends UploadEndpoint
    ? UploadHandler<E>
    : FreeHandler<E>

/** Handlers of a section. Missing and extra ones do not compile, nor does a `varies` endpoint without `quote`. */
export type Handlers<S extends Readonly<Record<string, Endpoint>>> = { readonly [K in keyof S]: HandlerOf<S[K]> }

type AnyPaidHandler = PaidHandler<PaidEndpoint> & {
  readonly quote?: PaidHandler<PaidEndpoint & { access: { kind: 'paid'; price: 'varies' } }>['quote']
  readonly free?: (input: Input<PaidEndpoint>, call: Call) => Promise<unknown>
}

export type Seller = { readonly name: EndpointName; readonly endpoint: PaidEndpoint; readonly handler: AnyPaidHandler }

export type HandlerTable = Readonly<Record<string, unknown>>

/** Handlers of all endpoints, needed to finish a payment from its row. */
export const sellers = defineResource<HandlerTable>('sellers')

export function sellerOf(handlers: HandlerTable, name: string): Seller | undefined {
  if (!isKeyOf(api, name)) return undefined
  const endpoint: Endpoint = api[name]
  return isPaid(endpoint) ? { name, endpoint, handler: handlers[name] as AnyPaidHandler } : undefined // the table is total over the contract
}

/** A request to a paid endpoint. Its payer is not known yet. */
export type PaidRequest = {
  readonly ctx: Context
  readonly seller: Seller
  readonly exchange: Exchange
  readonly base: BaseCall
}
