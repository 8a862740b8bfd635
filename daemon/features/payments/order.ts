import { balanceHeader, maxPriceHeader } from '../../../src/api/endpoint/credentials.ts'
import type { Input, PaidEndpoint } from '../../../src/api/endpoint/define.ts'
import {
  type AcceptedEntry,
  type Authorization,
  networks,
  type PaymentCredential,
  type PaymentRequirement,
  priceRange,
  splitSignature,
} from '../../../src/core/authorization.ts'
import { AppError, invalidField } from '../../../src/core/error.ts'
import type { Wallet } from '../../../src/core/hex.ts'
import { paymentWindows } from '../../../src/core/limits.ts'
import { formatAmount, parseAmount, type Usdc, usdc } from '../../../src/core/money.ts'
import type { PaymentFault } from '../../../src/core/payment-fault.ts'
import { compact } from '../../../src/core/record.ts'
import { unixSeconds } from '../../../src/core/time.ts'
import type { Exchange } from '../../endpoint/exchange.ts'
import { fingerprintOf, idempotencyKeyOf, idempotencyScope } from '../../endpoint/fingerprint.ts'
import { parseInput, type WireInput, wireInput } from '../../endpoint/input.ts'
import type { Context } from '../../kernel/context.ts'
import { refuseSuspended } from '../../kernel/rows.ts'
import type { SealKey } from '../../kernel/sealed.ts'
import type { Tender } from '../listings/quote-window.ts'
import { refuseSanctioned } from '../sanctions/sanctions.ts'
import { PaymentRefused, quoteOf, requirementOf } from './offer.ts'
import { isX402Only, payerOf, type Tendered } from './payer.ts'
import type { PaymentRow } from './rows.ts'
import type { PaidRequest, PayCall, Payer, Quote } from './seller.ts'

/** A paying request with all derived facts; immutable. */
export type Order = PaidRequest & {
  readonly credential: Tendered
  readonly payer: Payer
  readonly quote: Quote
  readonly input: Input<PaidEndpoint>
  /** The stored form of the input, for recovery. */
  readonly wire: WireInput
  /** Hash by which a repeated request is recognised. */
  readonly fingerprint: string
  /** The `Idempotency-Key`, hashed with its scope. */
  readonly idempotency: string | null
  /** Key for secrets in the stored response; null without an `Idempotency-Key`. */
  readonly sealKey: SealKey | null
}

/** Finds payer, input and price of a paid request. @throws AppError when one of them is missing or refused */
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
  // A signed payment always pays, so no subscription is looked up for it.
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

/** The charge: the price, or the signed amount if that is larger and the quote allows it. */
function amountOf({ price, upTo }: Quote, credential: Tendered): Usdc {
  if (upTo === undefined || credential.kind !== 'x402') return price
  const { value } = credential.payment.authorization
  return value > price ? usdc(value) : price
}

/**
 * Applies the payer's limit (decisions §4).
 * @throws AppError 400 on an invalid limit, 409 with the price when it exceeds the limit.
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

export async function repeatOf(
  request: PaidRequest,
  credential: Tendered,
  payer: Payer,
): Promise<Pick<Order, 'fingerprint' | 'idempotency' | 'sealKey'>> {
  const { exchange } = request
  const key = idempotencyKeyOf(exchange)
  const proof = credential.kind === 'x402' ? credential.payment.signature : credential.key
  return {
    // The fingerprint omits the payer, who is already part of the payment id or of the key's scope.
    fingerprint: await fingerprintOf(exchange, null),
    idempotency: idempotencyOf(exchange, payer),
    sealKey: key === undefined ? null : { proof, idempotencyKey: key },
  }
}

/**
 * Hash of the `Idempotency-Key` and the paying wallet. A retry with another credential of the same wallet buys nothing
 * twice.
 */
export function idempotencyOf(exchange: Exchange, { wallet }: Payer): string | null {
  const key = idempotencyKeyOf(exchange)
  return key === undefined ? null : idempotencyScope(exchange, wallet, key)
}

/** Hashed keys under which a payment may be stored. Earlier builds hashed the participant id instead of the wallet. */
export function knownKeys(exchange: Exchange, { wallet, participant }: Payer): readonly string[] {
  const key = idempotencyKeyOf(exchange)
  if (key === undefined) return []
  return [wallet, ...(participant ? [participant.id] : [])].map((who) => idempotencyScope(exchange, who, key))
}

/**
 * Returns the order with the fingerprint that earlier builds made, which included the participant. A retry after an
 * upgrade then finds the first purchase.
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

export function methodOf({ credential, quote }: Order): PaymentRow['method'] {
  if (credential.kind === 'x402') return 'x402'
  return quote.coveredBy === undefined ? 'balance' : 'subscription'
}

/** What a seller gets of an order: payer, terms and the covering subscription. */
export function callOf({ base, payer, quote }: Order): PayCall {
  const { terms = null, delivers, coveredBy } = quote
  return { ...base, payer, terms, delivers, ...compact({ coveredBy }) }
}

/**
 * Checks the payment except for its funds.
 * @returns the payment id. For a signed payment, this is its authorization's id on every endpoint, because the nonce
 * works once. For any other payment, it is made from the request id.
 * @throws PaymentRefused; AppError 400 if the endpoint accepts only signed payments, and this one is not signed.
 */
export function verify(order: Order): string {
  const { ctx, credential, quote } = order
  if (credential.kind !== 'x402') {
    if (isX402Only(order.seller.endpoint)) {
      throw invalidField(
        balanceHeader,
        'this endpoint accepts a signed x402 payment only: the signature proves the wallet',
      )
    }
    return `${methodOf(order)}:${order.exchange.requestId}`
  }
  const { payment, signer } = credential
  const verdict = verifyAuthorization({
    credential: payment,
    requirement: requirementOf(ctx, quote, payment.authorization.to),
    facts: {
      wallNowSeconds: unixSeconds(ctx.clock.wall()),
      marginSeconds: paymentWindows[quote.settle].marginSeconds,
      signer,
      // Assumes sufficient funds here. The reservation later compares the funds with all open payments.
      funds: payment.authorization.value,
      openReservations: 0n,
    },
  })
  if (!verdict.ok) throw new PaymentRefused({ fault: verdict.fault, payer: payment.authorization.from })
  return authorizationId(ctx, payment)
}

export function authorizationId(
  { chain }: Pick<Context, 'chain'>,
  { authorization }: { readonly authorization: Pick<Authorization, 'from' | 'nonce'> },
): string {
  return `${chain.network}:${chain.asset.address}:${authorization.from}:${authorization.nonce}`
}

export type VerificationFacts = {
  wallNowSeconds: number
  /** Seconds required before `validBefore`: `paymentWindows[settle].marginSeconds`. */
  marginSeconds: number
  /** Signer, recovered from the signature or confirmed by the wallet's contract. */
  signer: Wallet | null
  funds: bigint
  openReservations: bigint
}

export type VerifiedPayment = {
  credential: PaymentCredential
  requirement: PaymentRequirement
  facts: VerificationFacts
}

export type PaymentVerdict = { ok: true } | { ok: false; fault: PaymentFault }

/** Checks all conditions for reserving an authorization (decisions §4, Verification). */
export function verifyAuthorization(verification: VerifiedPayment): PaymentVerdict {
  const fault =
    requirementFault(verification) ??
    authorizationFault(verification) ??
    signatureFault(verification) ??
    fundsFault(verification)
  return fault === undefined ? { ok: true } : { ok: false, fault }
}

function requirementFault({ credential, requirement }: VerifiedPayment): PaymentFault | undefined {
  if (credential.scheme !== 'exact') return 'scheme_unsupported'
  const network = credential.version === 1 ? requirement.network : networks[requirement.network].caip2
  if (credential.network !== network) return 'network_mismatch'
  if (credential.version === 1) return undefined
  return acceptedFault(credential.accepted, { credential, requirement })
}

function acceptedFault(
  accepted: AcceptedEntry,
  { credential, requirement }: Pick<VerifiedPayment, 'credential' | 'requirement'>,
): PaymentFault | undefined {
  if (accepted.asset !== requirement.asset) return 'asset_mismatch'
  if (accepted.payTo !== requirement.payTo) return 'recipient_mismatch'
  if (!acceptedAmounts(credential, requirement).includes(accepted.amount)) return 'amount_mismatch'
  if (accepted.maxTimeoutSeconds !== requirement.maxTimeoutSeconds) return 'requirement_mismatch'
  const { name, version } = accepted.extra
  if (name === undefined || version === undefined) return 'domain_missing'
  if (name !== requirement.domain.name) return 'domain_name_mismatch'
  if (version !== requirement.domain.version) return 'domain_version_mismatch'
  return undefined
}

/** Amounts that `accepted` may name: the price; for a price range, its minimum or the signed amount. */
function acceptedAmounts(credential: PaymentCredential, requirement: PaymentRequirement): string[] {
  const { min, max } = priceRange(requirement.price)
  return min === max ? [min.toString()] : [min.toString(), credential.authorization.value.toString()]
}

function authorizationFault({ credential, requirement, facts }: VerifiedPayment): PaymentFault | undefined {
  const { to, value, validAfter, validBefore } = credential.authorization
  const { min, max } = priceRange(requirement.price)
  if (to !== requirement.payTo) return 'recipient_mismatch'
  if (value < min || value > max) return 'amount_mismatch'
  if (validAfter > BigInt(facts.wallNowSeconds)) return 'not_yet_valid'
  if (validBefore < BigInt(facts.wallNowSeconds + facts.marginSeconds)) return 'expired'
  return undefined
}

/** The fault if the payer is not the signer. For a contract wallet, the chain has already confirmed the signer. */
function signatureFault({ credential, facts }: VerifiedPayment): PaymentFault | undefined {
  if (facts.signer === credential.authorization.from) return undefined
  const split = splitSignature(credential.signature)
  return split.ok ? 'signature_invalid' : split.fault
}

function fundsFault({ credential, facts }: VerifiedPayment): PaymentFault | undefined {
  return facts.funds < credential.authorization.value + facts.openReservations ? 'insufficient_funds' : undefined
}
