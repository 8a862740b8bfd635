import { type Input, type PaidEndpoint, takesSignIn } from '../../../src/api/endpoint/define.ts'
import { type PaymentOffer, paymentRequired, paymentResponse, x402Headers } from '../../../src/api/endpoint/x402.ts'
import type { PaymentRequirement } from '../../../src/core/authorization.ts'
import type { Hex, Wallet } from '../../../src/core/hex.ts'
import { paymentWindows } from '../../../src/core/limits.ts'
import { formatAmount } from '../../../src/core/money.ts'
import { faultSentences, type PaymentFault } from '../../../src/core/payment-fault.ts'
import { compact } from '../../../src/core/record.ts'
import { keyed, signInExtensions } from '../../endpoint/caller.ts'
import { JSON_TYPE, type ReplyOut } from '../../endpoint/exchange.ts'
import { parseInput, parseParams, parseQuery } from '../../endpoint/input.ts'
import { type Context, localToken } from '../../kernel/context.ts'
import type { ParticipantRow } from '../../kernel/rows.ts'
import { payeeFor } from '../../ports/chain/chain.ts'
import type { Tender } from '../listings/quote-window.ts'
import { type Credential, isX402Only, payerOf, signedPayment, type Tendered } from './payer.ts'
import { offeredProofs, signReceipt } from './proofs.ts'
import type { PaidAnswer, PaidRequest, Payer, Quote } from './seller.ts'

/** The terms that a payment for a quote must meet. @param to - payee of a signed payment */
export function requirementOf(ctx: Context, quote: Quote, to?: Wallet): PaymentRequirement {
  const { asset, network } = ctx.chain
  return {
    price: quote.upTo === undefined ? quote.price : { min: quote.price, max: quote.upTo },
    payTo: payeeFor(ctx.chain, to, ctx.clock.wall()),
    asset: asset.address,
    network,
    domain: { name: asset.name, version: asset.version },
    maxTimeoutSeconds: paymentWindows[quote.settle].maxTimeoutSeconds,
  }
}

export type OfferRefusal = {
  /** Absent if the request had no payment. */
  readonly fault?: PaymentFault
  readonly payer?: Wallet
  /** A code other than `payment_required`. Its additional fields are in `extra`. */
  readonly code?: 'insufficient_balance'
  readonly extra?: Readonly<Record<string, unknown>>
  readonly message?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Thrown for a refused payment. The caller gets a 402 with the reason. */
export class PaymentRefused extends Error {
  override readonly name = 'PaymentRefused'
  readonly refusal: OfferRefusal
  constructor(refusal: OfferRefusal) {
    super(refusal.fault ?? refusal.code ?? 'refused')
    this.refusal = refusal
  }
}

type QuoteFor = { readonly buyer: ParticipantRow | null; readonly tender: Tender; readonly withBody: boolean }
const NOT_PAYING: Tender = { kind: 'none' }

/** The seller's quote. Without a payment, the body is read only if the price depends on it. */
export async function quoteOf(request: PaidRequest, { buyer, tender, withBody }: QuoteFor): Promise<Quote> {
  const { seller, exchange, base } = request
  const { endpoint, handler } = seller
  if (!handler.quote) {
    const settle = handler.run ? 'last' : 'first'
    const price = endpoint.access.price as Quote['price'] // an endpoint without a quote has a fixed one
    const notice = await handler.notice?.({ params: parseParams(exchange) }, base)
    return { price, settle, description: endpoint.summary, ...compact({ notice }) }
  }
  const body = withBody || endpoint.pricedByBody ? (await parseInput(endpoint, exchange)).body : undefined
  const query = parseQuery(endpoint, exchange) as Input<PaidEndpoint>['query'] // shaped by the endpoint's own schema
  return handler.quote({ params: parseParams(exchange), query, ...compact({ body }) }, { ...base, buyer, tender })
}

/** The 402 of a request without payment. @throws AppError 401 on an unknown key. */
export async function offer(request: PaidRequest, credential: Exclude<Credential, Tendered>): Promise<ReplyOut> {
  if (!isX402Only(request.seller.endpoint)) {
    const holder = await keyed(request.ctx, request.exchange)
    request.exchange.facts.caller ??= holder?.id ?? null
  }
  const quote = await quoteOf(request, { buyer: null, tender: NOT_PAYING, withBody: false })
  if (credential.kind === 'none') return offerReply(request, quote, {})
  return offerReply(request, quote, { fault: credential.fault, message: `The payment header: ${credential.detail}.` })
}

/** The 402 for an API key without a covering subscription, else undefined. @throws AppError 401 on an unknown key */
export async function offerUnlessCovered(
  request: PaidRequest,
  credential: Tendered,
  payer: Payer | undefined,
): Promise<ReplyOut | undefined> {
  if (credential.kind !== 'key') return undefined
  const { participant } = payer ?? (await payerOf(request, credential))
  request.exchange.facts.caller ??= participant?.id ?? null
  const quote = await quoteOf(request, { buyer: participant, tender: NOT_PAYING, withBody: false })
  return quote.coveredBy === undefined ? offerReply(request, quote, {}) : undefined
}

/** The 402 that answers a refused payment. @throws `error` unless it is a `PaymentRefused` */
export async function offerUnlessOther(request: PaidRequest, quote: Quote, error: unknown): Promise<ReplyOut> {
  if (!(error instanceof PaymentRefused)) throw error
  return offerReply(request, quote, error.refusal)
}

/** The 402 for x402 versions 1 and 2 (decisions §4), always with `accepts`. */
async function offerReply(
  { ctx, seller, exchange }: PaidRequest,
  quote: Quote,
  refusal: OfferRefusal,
): Promise<ReplyOut> {
  const noticed = compact({ notice: quote.notice })
  const code = refusal.code ?? 'payment_required'
  exchange.facts.code = refusal.fault ?? code
  exchange.facts.price = quote.price
  const token = localToken(ctx)
  const [requirement, resource] = [requirementOf(ctx, quote), resourceOf(ctx, exchange)]
  const proofs = await offeredProofs(ctx, requirement, resource)
  const offered: PaymentOffer = {
    ...requirement,
    resource,
    description: [quote.description, quote.notice].filter(Boolean).join('. '),
    mimeType: 'application/json',
    ...(token ? { localToken: token } : {}),
    ...(refusal.fault ? { fault: refusal.fault } : {}),
    ...(refusal.code && refusal.message ? { error: refusal.message } : {}),
    ...noticed,
    ...(refusal.payer ? { payer: refusal.payer } : {}),
    ...(takesSignIn(seller.endpoint) ? { extensions: signInExtensions(ctx, exchange) } : {}),
    ...(quote.inputSchema ? { outputSchema: discovery(quote.inputSchema) } : {}),
    headerExtensions: { ...(quote.inputSchema ? { bazaar: bazaarOf(seller.endpoint.path) } : {}), ...proofs },
  }
  const { body, header } = paymentRequired(offered)
  const price = `$${formatAmount(quote.price)}`
  const sentence = refusal.fault
    ? faultSentences[refusal.fault]
    : [`This costs ${price} USDC.`, quote.notice].filter(Boolean).join(' ')
  const document = {
    ...body,
    code,
    message: refusal.message ?? sentence,
    request_id: exchange.requestId,
    ...noticed,
    ...refusal.extra,
  }
  return {
    kind: 'bytes',
    status: 402,
    headers: {
      'Content-Type': JSON_TYPE,
      'Cache-Control': 'no-store',
      [x402Headers.requiredV2]: header,
      ...refusal.headers,
    },
    body: JSON.stringify(document),
  }
}

/** The `bazaar` extension of x402 v2, short enough for a header. The discovery list has the full input schema. */
function bazaarOf(path: string): Record<string, unknown> {
  const body = { type: 'object' }
  const properties = { type: { const: 'http' }, method: { const: 'POST' }, bodyType: { const: 'json' }, body }
  return {
    info: { input: { type: 'http', method: 'POST', bodyType: 'json', body: {} } },
    schema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: { input: { type: 'object', properties, required: Object.keys(properties) } },
      required: ['input'],
    },
    routeTemplate: path,
  }
}

/** How to make the paid request, as `outputSchema` of x402 v1. */
function discovery(inputSchema: Record<string, unknown>): Record<string, unknown> {
  return {
    input: {
      type: 'http',
      method: 'POST',
      discoverable: true,
      bodyType: 'json',
      bodyFields: inputSchema.properties ?? {},
    },
  }
}

const resourceOf = (ctx: Context, { path }: PaidRequest['exchange']): string => `${ctx.baseUrl()}${path}`

/** A paid response with the settlement header of the caller's x402 version. */
export async function reply(request: PaidRequest, credential: Credential, answer: PaidAnswer): Promise<ReplyOut> {
  const headers: Record<string, string> = { 'Content-Type': JSON_TYPE, 'Cache-Control': 'no-store' }
  if (answer.replayed) headers['Idempotency-Replayed'] = 'true'
  if (answer.transaction) {
    const transaction = answer.transaction as Hex // stored from a chain's own answer
    const extensions = await receiptFor(request, credential, transaction)
    Object.assign(
      headers,
      settlementHeader(request, credential, { success: true, transaction, ...compact({ extensions }) }),
    )
  }
  return { kind: 'bytes', status: answer.status, headers, body: bodyFor(request, answer) }
}

type SettlementEnd =
  | { readonly success: true; readonly transaction: Hex; readonly extensions?: Record<string, unknown> }
  | { readonly success: false; readonly fault: PaymentFault }

/** The signed receipt, for clients that sent the extension of signed offers back. */
async function receiptFor(
  { ctx, exchange }: PaidRequest,
  credential: Credential,
  transaction: Hex,
): Promise<Record<string, unknown> | undefined> {
  const payment = signedPayment(credential)
  if (payment?.version !== 2 || !payment.receipt) return undefined
  const { authorization, receipt: format } = payment
  return signReceipt(ctx, { payer: authorization.from, resourceUrl: resourceOf(ctx, exchange), transaction, format })
}

export function settlementHeader(
  { ctx }: PaidRequest,
  credential: Credential,
  ended: SettlementEnd,
): Readonly<Record<string, string>> {
  const payment = signedPayment(credential)
  if (!payment) return {}
  const { network } = ctx.chain
  const header = paymentResponse(payment.version, { ...ended, network, payer: payment.authorization.from })
  return { [header.name]: header.value }
}

const REFUSED_FROM = 400

function bodyFor({ exchange }: PaidRequest, { status, body }: PaidAnswer): string {
  if (status < REFUSED_FROM) return body
  return JSON.stringify({ ...JSON.parse(body), request_id: exchange.requestId })
}
