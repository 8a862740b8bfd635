import type { Input, PaidEndpoint } from '../../../src/api/endpoint/define.ts'
import type { EndpointName } from '../../../src/api/index.ts'
import { AppError } from '../../../src/core/error.ts'
import { type Usdc, usdc } from '../../../src/core/money.ts'
import { type PaymentOffered, readApiKey, readPayment } from '../../endpoint/api-key.ts'
import { identify, keyed, participantOfKey } from '../../endpoint/caller.ts'
import { encodeJson } from '../../endpoint/encode.ts'
import type { Exchange, ReplyOut } from '../../endpoint/exchange.ts'
import { fingerprintOf, idempotencyKeyOf, idempotencyScope } from '../../endpoint/fingerprint.ts'
import type { BaseCall, Call } from '../../endpoint/handler.ts'
import { parseInput, parseParams, parseQuery, wireInput } from '../../endpoint/input.ts'
import { refuseSwitchedOff } from '../../endpoint/switched-off.ts'
import type { Context } from '../../kernel/context.ts'
import { refuseSuspended } from '../../kernel/participant.ts'
import { paused } from '../../kernel/paused.ts'
import { type ParticipantRow, participants } from '../../kernel/rows.ts'
import type { Tender } from '../listings/quote-window.ts'
import { refuseSanctioned } from '../sanctions/screening.ts'
import { answerOfKnown, knownBy, paidReply } from './known.ts'
import { refuseAboveMax } from './max-price.ts'
import { offerReply } from './offer.ts'
import { type AnyPaidHandler, authorizationId, type PaidCall } from './paid-call.ts'
import { payAndAnswer, signerOf } from './payment.ts'
import { finishOf, type HandlerTable } from './recover.ts'
import { PaymentRefused } from './refused.ts'
import type { Payer, Quote } from './seller.ts'

/** A request to a paid row, before it is known whether it will pay. */
export type PaidRequest = {
  readonly ctx: Context
  readonly handlers: HandlerTable
  readonly name: EndpointName
  readonly row: PaidEndpoint
  readonly exchange: Exchange
  readonly base: BaseCall
}

type Payment = Exclude<PaymentOffered, { kind: 'none' | 'x402_unreadable' }>

/** The gates of a paid row, in the order of decisions §2. */
export async function answerPaidRow(request: PaidRequest): Promise<ReplyOut> {
  const offered = offeredBy(request)
  if (offered.kind === 'none' || offered.kind === 'x402_unreadable') {
    return (await answerFree(request)) ?? ask(request, offered)
  }
  const paying = await approach(request, offered)
  const known = await replay(request, paying)
  if (known) return known
  return (await answerFree(request)) ?? payOrAsk(request, paying)
}

/** Where a subscription may pay, a key is worth looking at even if nothing comes with it to pay with. */
function offeredBy({ row, exchange }: PaidRequest): PaymentOffered {
  const offered = readPayment(exchange)
  const key = row.access.kind === 'paid' && row.access.bundled ? readApiKey(exchange) : undefined
  return offered.kind === 'none' && key !== undefined ? { kind: 'key', key } : offered
}

/** A key that comes alone pays by subscription, or gets the 402 of everybody else. */
async function payOrAsk(request: PaidRequest, paying: Paying): Promise<ReplyOut> {
  if (paying.payment.kind === 'key') {
    const { participant } = paying.payer ?? (await payerOf(request, paying.payment))
    const quote = await quoteOf(request, { buyer: participant, tender: UNPAID, withBody: false })
    if (quote.coveredBy === undefined)
      return offerReply(request.ctx, request.exchange, { row: request.row, quote, refusal: {} })
  }
  return payAndAnswer(await paidCall(request, paying))
}

/** A request with its payment, found out once. */
type Paying = {
  readonly payment: Payment
  readonly signer: PaidCall['signer']
  /** Undefined when the credential is not proven, or not known: the gate whose turn it is refuses it. */
  readonly payer: Known | undefined
}

async function approach(request: PaidRequest, payment: Payment): Promise<Paying> {
  if (payment.kind !== 'x402') {
    return { payment, signer: null, payer: await payerOf(request, payment).catch(unlessUnknown) }
  }
  const signer = signerOf(request.ctx, payment.credential)
  const isProven = signer === payment.credential.authorization.from
  return { payment, signer, payer: isProven ? await payerOf(request, payment).catch(unlessUnknown) : undefined }
}

function unlessUnknown(error: unknown): undefined {
  if (error instanceof AppError && (error.status === 401 || error.status === 403)) return undefined
  throw error
}

const credentialNames = { balance: 'balance credential', key: 'API key' } as const

type Known = Payer & { readonly keyId: string | null }

/** Who signed or whose key this is. @throws AppError 401, and 403 where a key is another wallet's. */
async function payerOf(request: PaidRequest, payment: Payment): Promise<Known> {
  const { ctx, row, exchange } = request
  if (payment.kind !== 'x402') {
    const participant = await participantOfKey(ctx, payment.key)
    if (!participant) throw new AppError('unauthorized', `The ${credentialNames[payment.kind]} is not known here.`)
    if ((readApiKey(exchange) ?? payment.key) !== payment.key) throw otherWallet()
    return { wallet: participant.wallet, participant, keyId: participant.id }
  }
  const wallet = payment.credential.authorization.from
  const holder = await keyHolder(request)
  if (holder && holder.wallet !== wallet) throw otherWallet()
  const page = await ctx.store.table(participants).page('wallet', [wallet], { limit: 1 })
  // A row that makes or replaces a key is the same request with the old key, the new one or none.
  const keyId = isX402Only(row) ? null : (holder?.id ?? null)
  return { wallet, participant: page.rows[0] ?? null, keyId }
}

function otherWallet(): AppError {
  return new AppError('forbidden', 'The API key belongs to another wallet than the payment; nothing was charged.')
}

function isX402Only({ access }: PaidEndpoint): boolean {
  return access.kind === 'paid' && access.x402Only === true
}

/** Where the signature is the whole proof, a key that is dead by now does not stand in the way of a retry. */
async function keyHolder({ ctx, row, exchange }: PaidRequest): Promise<ParticipantRow | null> {
  if (!isX402Only(row)) return keyed(ctx, exchange)
  const sent = readApiKey(exchange)
  return (sent === undefined ? undefined : await participantOfKey(ctx, sent)) ?? null
}

/** What makes it the same request again, and what its secrets are sealed under. */
type Identity = Pick<PaidCall, 'fingerprint' | 'idempotency' | 'sealKey'>

async function identityOf({ exchange }: PaidRequest, payment: Payment, payer: Known): Promise<Identity> {
  const key = idempotencyKeyOf(exchange)
  const proof = payment.kind === 'x402' ? payment.credential.signature : payment.key
  return {
    fingerprint: await fingerprintOf(exchange, payer.keyId),
    idempotency: scopedKey(exchange, payer),
    sealKey: key === undefined ? null : { proof, idempotencyKey: key },
  }
}

function scopedKey(exchange: Exchange, payer: Known): string | null {
  const key = idempotencyKeyOf(exchange)
  return key === undefined ? null : idempotencyScope(exchange, payer.keyId ?? payer.wallet, key)
}

/**
 * Serves a payment that was made before, ahead of the deferred and paused gates: who paid gets the
 * answer. The body is not looked at before something was found to be replayed.
 * @returns undefined when nothing is known, or the first attempt ended without a charge.
 */
async function replay(request: PaidRequest, { payment, payer }: Paying): Promise<ReplyOut | undefined> {
  if (!payer) return undefined
  const { ctx, handlers, exchange } = request
  const credential = payment.kind === 'x402' ? payment.credential : undefined
  const id = credential && authorizationId(ctx, credential)
  const known = await knownBy(ctx, { id, key: scopedKey(exchange, payer), credential })
  if (!known) return undefined
  const identity = await identityOf(request, payment, payer)
  const answer = await answerOfKnown(ctx, known, {
    ...identity,
    finish: (row) => ({ ...finishOf(ctx, handlers, row), sealKey: identity.sealKey }),
  }).catch(unlessPaymentRefused)
  return answer && paidReply(ctx, { answer, replayed: true, credential, requestId: request.exchange.requestId })
}

/** The first copy was refused its payment: this one goes through the gate and gets a 402 of its own. */
function unlessPaymentRefused(error: unknown): undefined {
  if (error instanceof PaymentRefused) return undefined
  throw error
}

/**
 * Refuses a row that is switched off. Key-or-paid rows serve the holder of a key or token free, and refuse payments
 * while paused.
 */
async function answerFree(request: PaidRequest): Promise<ReplyOut | undefined> {
  const { ctx, row, exchange, base } = request
  await refuseSwitchedOff(ctx, row, exchange)
  const handler = request.handlers[request.name] as AnyPaidHandler // the table is total over the contract
  if (row.access.kind !== 'key_or_paid' || !handler.free) return undefined
  const caller = await identify<PaidEndpoint['access']>(ctx, row, exchange)
  if (caller) {
    const call = { ...base, caller, signed: undefined, retry: undefined } as Call // as the row's access says
    const answer = await handler.free(await parseInput(row, exchange), call)
    if (answer !== undefined) return encodeJson(row.reply.schema, answer, { private: true })
  }
  const flags = ctx.switches.now()
  if (flags.paused) throw paused(flags.pausedAt)
  return undefined
}

type Asking = { readonly buyer: ParticipantRow | null; readonly tender: Tender; readonly withBody: boolean }
const UNPAID: Tender = { kind: 'none' }

async function quoteOf(request: PaidRequest, { buyer, tender, withBody }: Asking): Promise<Quote> {
  const { row, exchange, base } = request
  const handler = request.handlers[request.name] as AnyPaidHandler // the table is total over the contract
  if (!handler.quote) {
    const settle = handler.run ? 'last' : 'first'
    const price = row.access.price as Quote['price'] // a row without a quote has a fixed one
    const notice = await handler.notice?.({ params: parseParams(exchange) }, base)
    return { price, settle, description: row.summary, ...(notice === undefined ? {} : { notice }) }
  }
  const body = withBody || row.pricedByBody ? (await parseInput(row, exchange)).body : undefined
  const query = parseQuery(row, exchange) as Input<PaidEndpoint>['query'] // shaped by the row's own schema
  return handler.quote(
    { params: parseParams(exchange), query, ...(body === undefined ? {} : { body }) },
    { ...base, buyer, tender },
  )
}

async function ask(request: PaidRequest, offered: PaymentOffered): Promise<ReplyOut> {
  if (!isX402Only(request.row)) await keyed(request.ctx, request.exchange)
  const quote = await quoteOf(request, { buyer: null, tender: UNPAID, withBody: false })
  const refusal =
    offered.kind === 'x402_unreadable'
      ? { fault: offered.fault, message: `The payment header: ${offered.detail}.` }
      : {}
  return offerReply(request.ctx, request.exchange, { row: request.row, quote, refusal })
}

async function paidCall(request: PaidRequest, { payment, signer, payer: found }: Paying): Promise<PaidCall> {
  const { ctx, row, exchange, base, name } = request
  const payer = found ?? (await payerOf(request, payment))
  await refuseSanctioned(ctx, payer.wallet)
  if (row.whileSuspended !== true) refuseSuspended(payer.participant)
  const input = await parseInput(row, exchange)
  // Who signs a payment means to pay.
  const buyer = payment.kind === 'x402' ? null : payer.participant
  const quote = await quoteOf(request, { buyer, tender: tenderOf(payment), withBody: true })
  refuseAboveMax(exchange, amountOf(quote, payment))
  const coveredBy = quote.coveredBy === undefined ? {} : { coveredBy: quote.coveredBy }
  const { wallet, participant } = payer
  return {
    ctx,
    name,
    row,
    handler: request.handlers[name] as AnyPaidHandler, // the table is total over the contract
    exchange,
    base: {
      ...base,
      payer: { wallet, participant },
      terms: quote.terms ?? null,
      delivers: quote.delivers,
      ...coveredBy,
    },
    input: input as PaidCall['input'],
    wire: { ...(await wireInput(row, exchange)), ...(quote.body === undefined ? {} : { body: quote.body }) },
    quote,
    signer,
    ...(await identityOf(request, payment, payer)),
    ...(payment.kind === 'x402' ? { credential: payment.credential } : {}),
  }
}

function tenderOf(payment: Payment): Tender {
  if (payment.kind !== 'x402') return { kind: 'balance' }
  const { credential } = payment
  return {
    kind: 'signed',
    value: credential.authorization.value,
    maxTimeoutSeconds: credential.version === 2 ? credential.accepted.maxTimeoutSeconds : undefined,
  }
}

/** What would be charged: the price, or, where the payer chooses, what it signed. */
function amountOf({ price, upTo }: Quote, payment: Payment): Usdc {
  if (upTo === undefined || payment.kind !== 'x402') return price
  const { value } = payment.credential.authorization
  return value > price ? usdc(value) : price
}
