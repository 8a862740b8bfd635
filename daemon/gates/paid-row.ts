import type { PaidEndpoint } from '../../src/api/endpoint.ts'
import type { RowName } from '../../src/api/index.ts'
import { AppError } from '../../src/core/error.ts'
import type { ParticipantRow } from '../../src/model/participant.ts'
import { encodeJson } from '../encode.ts'
import type { Exchange, ReplyOut } from '../exchange.ts'
import type { Ctx, Payer, Quote, TokenBearer } from '../handler.ts'
import { participants } from '../store/collections.ts'
import type { World } from '../world.ts'
import { identify, keyed, participantOfKey } from './caller.ts'
import { type PaymentOffered, readApiKey, readPayment } from './credential.ts'
import { fingerprintOf, idempotencyKeyOf, idempotencyScope } from './fingerprint.ts'
import { parseInput, parseParams, wireInput } from './input.ts'
import { offerReply } from './offer.ts'
import type { AnyPaidHandler, PaidCall } from './paid-call.ts'
import { payAndAnswer, replayKnown, signerOf } from './payment.ts'
import { finishOf, type HandlerTable } from './recovery.ts'
import { paused, refuseSwitchedOff } from './switches.ts'

/** A request to a paid row, before it is known whether it will pay. */
export type PaidRequest = {
  readonly world: World
  readonly handlers: HandlerTable
  readonly name: RowName
  readonly row: PaidEndpoint
  readonly exchange: Exchange
  readonly base: Omit<Ctx, 'caller'>
}

type Payment = Exclude<PaymentOffered, { kind: 'none' | 'x402_unreadable' }>

/** The gates of a paid row, in the order of decisions §2. */
export async function answerPaidRow(request: PaidRequest): Promise<ReplyOut> {
  const offered = readPayment(request.exchange)
  if (offered.kind === 'none' || offered.kind === 'x402_unreadable') {
    return (await answerFree(request)) ?? ask(request, offered)
  }
  const signer = offered.kind === 'x402' ? signerOf(request.world, offered.credential) : null
  const isProven = offered.kind === 'balance' || signer === offered.credential.authorization.from
  // An unverified credential looks up nothing: the gate will refuse it with its reason.
  const proven = isProven ? await paying(request, offered, signer) : undefined
  const known = proven && (await replay(request, proven))
  if (known) return known
  const free = await answerFree(request)
  return free ?? payAndAnswer(await paidCall(request, proven ?? (await paying(request, offered, signer))))
}

/** Who signed or whose key this is, and the proof that secrets are sealed under. */
async function payerOf(request: PaidRequest, payment: Payment): Promise<Payer & { keyId: string | null }> {
  const { world, row } = request
  if (payment.kind === 'balance') {
    const participant = await participantOfKey(world, payment.key)
    if (!participant) throw new AppError('unauthorized', 'The balance credential is not known here.')
    return { wallet: participant.wallet, participant, keyId: participant.id }
  }
  const wallet = payment.credential.authorization.from
  const holder = await keyHolder(request)
  if (holder && holder.wallet !== wallet) {
    throw new AppError('forbidden', 'The API key belongs to another wallet than the payment; nothing was charged.')
  }
  const page = await world.store.table(participants).page('wallet', [wallet], { limit: 1 })
  // A row that makes or replaces a key is the same request with the old key, the new one or none.
  const keyId = isX402Only(row) ? null : (holder?.id ?? null)
  return { wallet, participant: page.rows[0] ?? null, keyId }
}

function isX402Only({ access }: PaidEndpoint): boolean {
  return access.door === 'paid' && access.x402Only === true
}

/** Where the signature is the whole proof, a key that is dead by now does not stand in the way of a retry. */
async function keyHolder({ world, row, exchange }: PaidRequest): Promise<ParticipantRow | null> {
  if (!isX402Only(row)) return keyed(world, exchange)
  const sent = readApiKey(exchange)
  return (sent === undefined ? undefined : await participantOfKey(world, sent)) ?? null
}

/** A request with its payment: who pays, and what makes it the same request again. */
type Paying = Pick<PaidCall, 'signer' | 'fingerprint' | 'idempotency' | 'sealKey'> & {
  readonly payment: Payment
  readonly payer: Payer
}

async function paying(request: PaidRequest, payment: Payment, signer: PaidCall['signer']): Promise<Paying> {
  const { exchange } = request
  const { keyId, ...payer } = await payerOf(request, payment)
  const key = idempotencyKeyOf(exchange)
  const proof = payment.kind === 'balance' ? payment.key : payment.credential.signature
  return {
    payment,
    payer,
    signer,
    fingerprint: await fingerprintOf(exchange, keyId),
    idempotency: key === undefined ? null : idempotencyScope(exchange, keyId ?? payer.wallet, key),
    sealKey: key === undefined ? null : { proof, idempotencyKey: key },
  }
}

async function replay({ world, handlers }: PaidRequest, proven: Paying): Promise<ReplyOut | undefined> {
  const { payment, sealKey } = proven
  return replayKnown(world, {
    ...proven,
    credential: payment.kind === 'x402' ? payment.credential : undefined,
    finish: (row) => ({ ...finishOf(world, handlers, row), sealKey }),
  })
}

/**
 * Refuses a row that is switched off. Key-or-paid rows serve the holder of a key or token free, and refuse payments
 * while paused.
 */
async function answerFree(request: PaidRequest): Promise<ReplyOut | undefined> {
  const { world, row, exchange, base } = request
  refuseSwitchedOff(world, row)
  const handler = request.handlers[request.name] as AnyPaidHandler // the table is total over the contract
  if (row.access.door !== 'key_or_paid' || !handler.free) return undefined
  const caller = await identify<PaidEndpoint['access']>(world, row, exchange)
  if (caller) {
    const ctx = { ...base, caller: caller as ParticipantRow | TokenBearer } // identify's answer for this door
    const answer = await handler.free(await parseInput(row, exchange), ctx)
    if (answer !== undefined) return encodeJson(row.reply.schema, answer, { private: true })
  }
  const flags = world.flags()
  if (flags.paused) throw paused(flags.pausedAt)
  return undefined
}

async function quoteOf(request: PaidRequest, withBody: boolean): Promise<Quote> {
  const { row, exchange, base } = request
  const handler = request.handlers[request.name] as AnyPaidHandler // the table is total over the contract
  if (!handler.quote) return { price: row.access.price as Quote['price'], settle: 'first', description: row.summary }
  const body = withBody || row.pricedByBody ? (await parseInput(row, exchange)).body : undefined
  return handler.quote({ params: parseParams(exchange), ...(body === undefined ? {} : { body }) }, base)
}

async function ask(request: PaidRequest, offered: PaymentOffered): Promise<ReplyOut> {
  const quote = await quoteOf(request, false)
  const refusal =
    offered.kind === 'x402_unreadable'
      ? { fault: offered.fault, message: `The payment header: ${offered.detail}.` }
      : {}
  return offerReply(request.world, request.exchange, { quote, refusal })
}

async function paidCall(request: PaidRequest, { payment, payer, ...proof }: Paying): Promise<PaidCall> {
  const { world, row, exchange, base, name } = request
  const input = await parseInput(row, exchange)
  return {
    world,
    name,
    row,
    handler: request.handlers[name] as AnyPaidHandler, // the table is total over the contract
    exchange,
    ctx: { ...base, payer },
    input: input as PaidCall['input'],
    wire: await wireInput(row, exchange),
    quote: await quoteOf(request, true),
    ...proof,
    ...(payment.kind === 'x402' ? { credential: payment.credential } : {}),
  }
}
