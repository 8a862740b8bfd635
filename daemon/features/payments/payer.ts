import { balanceHeader } from '../../../src/api/endpoint/credentials.ts'
import type { PaidEndpoint } from '../../../src/api/endpoint/define.ts'
import { x402Headers } from '../../../src/api/endpoint/x402.ts'
import { readPaymentHeader } from '../../../src/api/endpoint/x402-header.ts'
import type { Authorization, PaymentCredential } from '../../../src/core/authorization.ts'
import { AppError, invalidField } from '../../../src/core/error.ts'
import type { Wallet } from '../../../src/core/hex.ts'
import type { PaymentFault } from '../../../src/core/payment-fault.ts'
import { unixSeconds } from '../../../src/core/time.ts'
import { keyed, participantOfKey, readApiKey } from '../../endpoint/caller.ts'
import type { Exchange } from '../../endpoint/exchange.ts'
import type { Context } from '../../kernel/context.ts'
import { type ParticipantRow, participants } from '../../kernel/rows.ts'
import { payeeFor } from '../../ports/chain/chain.ts'
import type { PaidRequest, Payer } from './seller.ts'

export type Tendered =
  | {
      readonly kind: 'x402'
      readonly payment: PaymentCredential
      readonly signer: Wallet | null
    }
  | { readonly kind: 'balance'; readonly key: string }
  /** An API key without a payment. It suffices only if its holder has a subscription that covers the call. */
  | { readonly kind: 'key'; readonly key: string }

export type Credential =
  | Tendered
  | { readonly kind: 'none' }
  | { readonly kind: 'unreadable'; readonly fault: PaymentFault; readonly detail: string }

export function isTendered(credential: Credential): credential is Tendered {
  return credential.kind !== 'none' && credential.kind !== 'unreadable'
}

const PLAIN_HTTP =
  'payment credentials are refused over plain HTTP: use https. Behind a proxy, the operator sets --public-url to its https address, and the proxy sends X-Forwarded-Proto.'

/**
 * The payment credential of a request. An API key counts only where a subscription may pay.
 * @throws AppError 400 on two credentials, or over plain HTTP.
 */
function readCredential({ ctx, seller, exchange }: PaidRequest): Credential {
  const sent = sentCredential(ctx, exchange)
  const { access } = seller.endpoint
  const key = access.kind === 'paid' && access.bundled ? readApiKey(exchange) : undefined
  return sent.kind === 'none' && key !== undefined ? { kind: 'key', key } : sent
}

/**
 * The payment credential. If the recovered key is not the payer's, asks the payer's contract about the signature.
 * @throws AppError 503 when the chain does not answer.
 */
export async function provenCredential(request: PaidRequest): Promise<Credential> {
  const credential = readCredential(request)
  if (credential.kind !== 'x402' || credential.signer === credential.payment.authorization.from) return credential
  const isSigned = await isOfContract(request.ctx, credential.payment)
  return isSigned ? { ...credential, signer: credential.payment.authorization.from } : credential
}

async function isOfContract(ctx: Context, payment: PaymentCredential): Promise<boolean> {
  const { authorization, signature } = payment
  const { chain, log } = ctx
  const isUseless = !isUsable(ctx, authorization)
  if (isUseless || !chain.isContractSignature) return false
  try {
    return await chain.isContractSignature(authorization, signature)
  } catch (error) {
    log.warn({ source: 'x402', err: String(error) }, 'the chain did not confirm the signature of a contract wallet')
    throw new AppError('unavailable', 'The chain did not answer: send the same payment again shortly.', {
      retryAfter: 1,
    })
  }
}

function sentCredential(ctx: Context, exchange: Exchange): Credential {
  const v1 = exchange.header(x402Headers.paymentV1)
  const v2 = exchange.header(x402Headers.paymentV2)
  const balance = exchange.header(balanceHeader)
  const names = [
    v1 !== undefined && x402Headers.paymentV1,
    v2 !== undefined && x402Headers.paymentV2,
    balance !== undefined && balanceHeader,
  ].filter((name) => name !== false)
  const [first, second] = names
  if (first === undefined) return { kind: 'none' }
  if (second !== undefined) throw invalidField(second, `send one payment credential, not also ${first}`)
  if (!exchange.isConfidential()) throw invalidField(first, PLAIN_HTTP)
  if (balance !== undefined) return { kind: 'balance', key: balance }
  const read = v1 === undefined ? readPaymentHeader(2, v2 ?? '') : readPaymentHeader(1, v1)
  if (!read.ok) return { kind: 'unreadable', fault: read.fault, detail: read.detail }
  const { credential: payment } = read
  const signer = ctx.recover(ctx.chain.digestOf(payment.authorization), payment.signature) ?? null
  return { kind: 'x402', payment, signer }
}

/** Whether a payment could settle now: its payee is ours, and its window is open. */
export function isUsable({ chain, clock }: Context, { to, validAfter, validBefore }: Authorization): boolean {
  const wall = clock.wall()
  const now = BigInt(unixSeconds(wall))
  return payeeFor(chain, to, wall) === to && validAfter <= now && validBefore > now
}

export function signedPayment(credential: Credential): PaymentCredential | undefined {
  return credential.kind === 'x402' ? credential.payment : undefined
}

/** The payer, if the request proves who pays. @returns undefined if not; a later step then refuses the request */
export async function identifyPayer(request: PaidRequest, credential: Credential): Promise<Payer | undefined> {
  if (!isTendered(credential)) return undefined
  if (credential.kind === 'x402' && credential.signer !== credential.payment.authorization.from) return undefined
  try {
    return await payerOf(request, credential)
  } catch (error) {
    if (error instanceof AppError && (error.status === 401 || error.status === 403)) return undefined
    throw error
  }
}

const credentialNames = { balance: 'balance credential', key: 'API key' } as const

/** The payer that the credential names, proven or not. @throws AppError 401, and 403 for a key of another wallet. */
export async function payerOf(request: PaidRequest, credential: Tendered): Promise<Payer> {
  const { ctx } = request
  if (credential.kind !== 'x402') {
    const participant = await participantOfKey(ctx, credential.key)
    if (!participant) throw new AppError('unauthorized', `The ${credentialNames[credential.kind]} is unknown.`)
    return { wallet: participant.wallet, participant }
  }
  const wallet = credential.payment.authorization.from
  const holder = await keyHolder(request)
  if (holder && holder.wallet !== wallet) {
    throw new AppError('forbidden', 'The API key belongs to another wallet than the payment; nothing was charged.')
  }
  const page = await ctx.store.table(participants).page('wallet', [wallet], { limit: 1 })
  return { wallet, participant: page.rows[0] ?? null }
}

export function isX402Only({ access }: PaidEndpoint): boolean {
  return access.kind === 'paid' && access.x402Only === true
}

/** Ignores an unknown API key where a signature proves the payer, so that a revoked key does not block a retry. */
async function keyHolder({ ctx, seller, exchange }: PaidRequest): Promise<ParticipantRow | null> {
  if (!isX402Only(seller.endpoint)) return keyed(ctx, exchange)
  const sent = readApiKey(exchange)
  return (sent === undefined ? undefined : await participantOfKey(ctx, sent)) ?? null
}
