import { maxPriceHeader } from '../../../src/api/endpoint/credentials.ts'
import type { Input, PaidEndpoint } from '../../../src/api/endpoint/define.ts'
import { AppError, invalidField } from '../../../src/core/error.ts'
import { formatAmount, parseAmount, type Usdc, usdc } from '../../../src/core/money.ts'
import { compact } from '../../../src/core/record.ts'
import type { Exchange } from '../../endpoint/exchange.ts'
import { fingerprintOf, idempotencyKeyOf, idempotencyScope } from '../../endpoint/fingerprint.ts'
import { parseInput, type WireInput, wireInput } from '../../endpoint/input.ts'
import { refuseSuspended } from '../../kernel/participant.ts'
import type { SealKey } from '../../kernel/sealed.ts'
import type { Tender } from '../listings/quote-window.ts'
import { refuseSanctioned } from '../sanctions/sanctions.ts'
import { quoteOf } from './offer.ts'
import { payerOf, type Tendered } from './payer.ts'
import type { PaymentRow } from './rows.ts'
import type { PaidRequest, PayCall, Payer, Quote } from './seller.ts'

/** A request that pays, with all that was found out about it: nothing of it changes any more. */
export type Order = PaidRequest & {
  readonly credential: Tendered
  readonly payer: Payer
  readonly quote: Quote
  readonly input: Input<PaidEndpoint>
  /** The input as recovery parses it again. */
  readonly wire: WireInput
  /** What makes it the same request again. */
  readonly fingerprint: string
  /** Scoped and hashed `Idempotency-Key`. */
  readonly idempotency: string | null
  /** What secrets of the answer are sealed under; null without an `Idempotency-Key`. */
  readonly sealKey: SealKey | null
}

/** Whoever pays, what it asks for and what that costs. @throws AppError of whatever stands in the way of that. */
export async function openOrder(
  request: PaidRequest,
  credential: Tendered,
  identified: Payer | undefined,
): Promise<Order> {
  const { ctx, seller, exchange } = request
  const payer = identified ?? (await payerOf(request, credential))
  await refuseSanctioned(ctx, payer.wallet)
  if (seller.endpoint.whileSuspended !== true) refuseSuspended(payer.participant)
  const input = await parseInput(seller.endpoint, exchange)
  // Who signs a payment means to pay.
  const buyer = credential.kind === 'x402' ? null : payer.participant
  const quote = await quoteOf(request, { buyer, tender: tenderOf(credential), withBody: true })
  refuseAboveMax(exchange, amountOf(quote, credential))
  const sent = await wireInput(seller.endpoint, exchange)
  return {
    ...request,
    credential,
    payer,
    quote,
    input,
    wire: quote.body === undefined ? sent : { ...sent, body: quote.body },
    ...(await repeatOf(request, credential, payer)),
  }
}

function tenderOf(credential: Tendered): Tender {
  if (credential.kind !== 'x402') return { kind: 'balance' }
  const { payment } = credential
  return {
    kind: 'signed',
    value: payment.authorization.value,
    maxTimeoutSeconds: payment.version === 2 ? payment.accepted.maxTimeoutSeconds : undefined,
  }
}

/** What would be charged: the price, or, where the payer chooses, what it signed. */
function amountOf({ price, upTo }: Quote, credential: Tendered): Usdc {
  if (upTo === undefined || credential.kind !== 'x402') return price
  const { value } = credential.payment.authorization
  return value > price ? usdc(value) : price
}

/**
 * Whoever pays may say what it costs at most (decisions §4).
 * @throws AppError 400 on a bound that is no amount, 409 that names the price where it is above the bound.
 */
function refuseAboveMax(exchange: Exchange, price: Usdc): void {
  const sent = exchange.header(maxPriceHeader)
  if (sent === undefined) return
  const bound = parseAmount(sent.trim())
  if (bound === undefined) throw invalidField(maxPriceHeader, 'must be dollars with at most 6 decimals, like 0.525')
  if (price <= bound) return
  throw new AppError(
    'conflict',
    `This costs $${formatAmount(price)} now, above the ${maxPriceHeader} of $${formatAmount(bound)}: nothing was charged.`,
    { extra: { price: formatAmount(price), max_price: formatAmount(bound) } },
  )
}

/** By what a request is known again, and what its secrets are sealed under. */
export async function repeatOf(
  request: PaidRequest,
  credential: Tendered,
  payer: Payer,
): Promise<Pick<Order, 'fingerprint' | 'idempotency' | 'sealKey'>> {
  const { exchange } = request
  const key = idempotencyKeyOf(exchange)
  const proof = credential.kind === 'x402' ? credential.payment.signature : credential.key
  return {
    // Who pays is in the payment's id, or in the scope of the key that it is found by.
    fingerprint: await fingerprintOf(exchange, null),
    idempotency: idempotencyOf(exchange, payer),
    sealKey: key === undefined ? null : { proof, idempotencyKey: key },
  }
}

/**
 * The hash of the `Idempotency-Key` in its scope. The scope is the wallet that pays, whichever credential came along:
 * a retry with another credential of the same payer buys nothing twice.
 */
export function idempotencyOf(exchange: Exchange, { wallet }: Payer): string | null {
  const key = idempotencyKeyOf(exchange)
  return key === undefined ? null : idempotencyScope(exchange, wallet, key)
}

/** Under which keys a payment of this request may be found: builds before took the participant for the scope. */
export function knownKeys(exchange: Exchange, { wallet, participant }: Payer): readonly string[] {
  const key = idempotencyKeyOf(exchange)
  if (key === undefined) return []
  return [wallet, ...(participant ? [participant.id] : [])].map((who) => idempotencyScope(exchange, who, key))
}

/**
 * The order with the fingerprint that an earlier build would have stored: it hashed the participant of the API key too.
 * So a retry after an upgrade finds the first purchase and does not buy again.
 */
export async function asKnown<O extends Pick<Order, 'exchange' | 'fingerprint' | 'idempotency'>>(
  order: O,
  { fingerprint, participant_id: id }: Pick<PaymentRow, 'fingerprint' | 'participant_id'>,
): Promise<O> {
  const { exchange } = order
  if (id === null || fingerprint === order.fingerprint || fingerprint !== (await fingerprintOf(exchange, id)))
    return order
  const key = idempotencyKeyOf(exchange)
  return { ...order, fingerprint, idempotency: key === undefined ? null : idempotencyScope(exchange, id, key) }
}

/** How it is paid for. */
export function methodOf({ credential, quote }: Order): PaymentRow['method'] {
  if (credential.kind === 'x402') return 'x402'
  return quote.coveredBy === undefined ? 'balance' : 'subscription'
}

/** The order as its seller sees it. */
export function callOf({ base, payer, quote }: Order): PayCall {
  const { terms = null, delivers, coveredBy } = quote
  return { ...base, payer, terms, delivers, ...compact({ coveredBy }) }
}
