import { paymentResponse } from '../../src/api/x402.ts'
import { authorizationDigest, type PaymentCredential, paymentWindows } from '../../src/core/authorization.ts'
import { AppError } from '../../src/core/error.ts'
import type { Hex, Wallet } from '../../src/core/hex.ts'
import { formatAmount, usdc } from '../../src/core/money.ts'
import type { PaymentFault } from '../../src/core/payment-fault.ts'
import { unixSeconds } from '../../src/core/time.ts'
import type { PaymentRow } from '../../src/model/payment.ts'
import { JSON_TYPE, type ReplyOut } from '../exchange.ts'
import { verifyAuthorization } from '../rules/authorization.ts'
import { idempotency } from '../store/collections.ts'
import type { PaidAnswer, World } from '../world.ts'
import { offerReply, type Refusal, requirementOf } from './offer.ts'
import { authorizationId, type PaidCall } from './paid-call.ts'
import { finishPayment } from './recovery.ts'
import { findPayment, type Replayed, refuseOtherRequest, storedAnswer } from './replay.ts'
import { release, reserve, shortMessage } from './reservation.ts'
import type { SealKey } from './secret.ts'
import { fulfil, markSettling, settle } from './settlement.ts'

/** A payment that was refused at settlement: the caller gets a 402 with the reason. */
class PaymentRefused extends Error {
  override readonly name = 'PaymentRefused'
  readonly refusal: Refusal
  constructor(refusal: Refusal) {
    super(refusal.fault ?? refusal.code ?? 'refused')
    this.refusal = refusal
  }
}

/** Runs a paid call whose credential was read and whose body was parsed. */
export async function payAndAnswer(call: PaidCall): Promise<ReplyOut> {
  try {
    return call.credential ? await payByAuthorization(call, call.credential) : await payByBalance(call)
  } catch (error) {
    if (!(error instanceof PaymentRefused)) throw error
    return offerReply(call.world, call.exchange, { quote: call.quote, refusal: error.refusal })
  }
}

async function payByAuthorization(call: PaidCall, credential: PaymentCredential): Promise<ReplyOut> {
  const { world, quote } = call
  const { from } = credential.authorization
  const verdict = verifyAuthorization({
    credential,
    requirement: requirementOf(world, quote),
    facts: {
      wallNowSeconds: unixSeconds(call.ctx.wall),
      marginSeconds: paymentWindows[quote.settle].marginSeconds,
      signer: call.signer,
      funds: usdc(credential.authorization.value),
      openReservations: 0n,
    },
  })
  if (!verdict.ok) throw new PaymentRefused({ fault: verdict.fault, payer: from })
  const funds = await world.chain.balanceOf(from)
  return reply(call, await startOnce(call, authorizationId(world, credential), () => pay(call, funds)))
}

export function signerOf(world: World, credential: PaymentCredential): Wallet | null {
  return (
    world.recover(authorizationDigest(world.chain.separator, credential.authorization), credential.signature) ?? null
  )
}

async function payByBalance(call: PaidCall): Promise<ReplyOut> {
  if (call.row.access.door === 'paid' && call.row.access.x402Only) {
    throw new AppError('invalid_request', 'This row takes a signed x402 payment only: the signature proves the wallet.')
  }
  const key = call.idempotency ?? call.exchange.requestId
  return reply(call, await startOnce(call, `balance:${key}`, () => pay(call, usdc(0n))))
}

type Ended = { readonly answer: PaidAnswer; readonly replayed: boolean }

/** Copies that arrive together wait for the first; each has proved the same signature by now. */
async function startOnce(call: PaidCall, id: string, work: () => Promise<Ended>): Promise<Ended> {
  const { inflight } = call.world
  const running = inflight.get(id)
  if (running) {
    refuseOtherRequest(running, call.fingerprint)
    return { answer: await running.answer, replayed: true }
  }
  const first = work()
  const entry = { fingerprint: call.fingerprint, answer: first.then((outcome) => outcome.answer) }
  entry.answer.catch(() => undefined) // copies may never come; the first caller gets the failure
  inflight.set(id, entry)
  try {
    return await first
  } finally {
    inflight.delete(id)
  }
}

async function pay(call: PaidCall, funds: ReturnType<typeof usdc>): Promise<Ended> {
  const reservation = await reserve(call, funds)
  switch (reservation.kind) {
    case 'refused':
      throw new PaymentRefused({ fault: reservation.fault, payer: call.ctx.payer.wallet })
    case 'short':
      throw new PaymentRefused({
        code: 'insufficient_balance',
        message: shortMessage(call.quote.price, reservation.available),
        extra: { required: formatAmount(call.quote.price), available: formatAmount(reservation.available) },
      })
    case 'known':
      return {
        answer: await answerOfKnown(call.world, reservation.payment, replayedBy(call, reservation.payment)),
        replayed: true,
      }
    case 'reserved':
      return { answer: await execute(call, reservation.payment), replayed: false }
  }
}

function replayedBy(call: PaidCall, payment: PaymentRow): Replayed & { finish: PaidCall } {
  return {
    fingerprint: call.fingerprint,
    sealKey: call.sealKey,
    sameKey: payment.idempotency !== null && payment.idempotency === call.idempotency,
    finish: call,
  }
}

/** The stored answer of a known payment; one that a crash left open is finished first. */
async function answerOfKnown(
  world: World,
  payment: PaymentRow,
  request: Replayed & { finish: Parameters<typeof finishPayment>[0] },
): Promise<PaidAnswer> {
  refuseOtherRequest(payment, request.fingerprint)
  if (!payment.open) return storedAnswer(world, payment, request)
  const running = world.inflight.get(payment.id)
  const answer = running ? await running.answer : await finishPayment(request.finish, payment)
  if (answer) return answer
  throw new AppError('unavailable', 'The payment is not settled yet: send the same request again.', { retryAfter: 1 })
}

/** Checks, work and settlement of a fresh reservation, in the order of decisions §4. */
async function execute(call: PaidCall, reserved: PaymentRow): Promise<PaidAnswer> {
  let settling: PaymentRow
  try {
    await call.handler.check(call.input, call.ctx)
    const outcome =
      call.handler.work && call.quote.settle === 'last' ? await call.handler.work(call.input, call.ctx) : null
    settling = await markSettling(call.world, reserved.id, outcome)
  } catch (error) {
    await release(call, reserved.id)
    throw error
  }
  const settled = await settle(call.world, settling)
  if (settled.ok) return fulfil(call, settling, settled.transaction)
  if (settled.final) await release(call, reserved.id)
  throw new PaymentRefused({
    fault: settled.fault,
    payer: call.ctx.payer.wallet,
    headers: failureHeader(call, settled.fault),
  })
}

function failureHeader(call: PaidCall, fault: PaymentFault): Record<string, string> {
  if (!call.credential) return {}
  const { network } = call.world.chain
  const header = paymentResponse(call.credential.version, {
    success: false,
    fault,
    network,
    payer: call.ctx.payer.wallet,
  })
  return { [header.name]: header.value }
}

function reply(call: PaidCall, ended: Ended): ReplyOut {
  return paidReply(call.world, { ...ended, credential: call.credential })
}

type Paid = Ended & { readonly credential: PaymentCredential | undefined }

function paidReply(world: World, { answer, replayed, credential }: Paid): ReplyOut {
  const headers: Record<string, string> = { 'Content-Type': JSON_TYPE, 'Cache-Control': 'no-store' }
  if (replayed) headers['Idempotency-Replayed'] = 'true'
  if (credential && answer.transaction) {
    const { name, value } = paymentResponse(credential.version, {
      success: true,
      transaction: answer.transaction as Hex, // stored from a chain's own answer
      network: world.chain.network,
      payer: credential.authorization.from,
    })
    headers[name] = value
  }
  return { kind: 'bytes', status: answer.status, headers, body: answer.body }
}

export type KnownPayment = {
  readonly fingerprint: string
  readonly sealKey: SealKey | null
  /** Scoped and hashed `Idempotency-Key` of this request. */
  readonly idempotency: string | null
  readonly credential: PaymentCredential | undefined
  readonly finish: (payment: PaymentRow) => Parameters<typeof finishPayment>[0]
}

/**
 * Serves a payment that was reserved before, ahead of the deferred and paused gates: who paid gets
 * the answer. Looked up by the authorization, then by the `Idempotency-Key`; the caller's
 * credential has to be verified again before this is asked.
 * @returns undefined when nothing is known, or when the first attempt ended without a charge.
 */
export async function replayKnown(world: World, request: KnownPayment): Promise<ReplyOut | undefined> {
  const id = request.credential && authorizationId(world, request.credential)
  const running = id === undefined ? undefined : world.inflight.get(id)
  try {
    if (running) {
      refuseOtherRequest(running, request.fingerprint)
      return paidReply(world, { answer: await running.answer, replayed: true, credential: request.credential })
    }
    const payment = await knownBy(world, id, request.idempotency)
    if (!payment) return undefined
    const sameKey = payment.idempotency !== null && payment.idempotency === request.idempotency
    const answer = await answerOfKnown(world, payment, { ...request, sameKey, finish: request.finish(payment) })
    return paidReply(world, { answer, replayed: true, credential: request.credential })
  } catch (error) {
    // Released after a refusal: this copy goes through the gate and gets its own 402.
    if (error instanceof PaymentRefused) return undefined
    throw error
  }
}

async function knownBy(world: World, id: string | undefined, key: string | null): Promise<PaymentRow | undefined> {
  const same = id === undefined ? undefined : await findPayment(world, id)
  if (same || key === null) return same
  const used = await world.store.table(idempotency).get(key)
  return used && findPayment(world, used.payment_id)
}
