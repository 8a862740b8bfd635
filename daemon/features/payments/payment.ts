import { balanceHeader } from '../../../src/api/endpoint/credentials.ts'
import { paymentResponse } from '../../../src/api/endpoint/x402.ts'
import { type PaymentCredential, paymentWindows } from '../../../src/core/authorization.ts'
import { invalidField } from '../../../src/core/error.ts'
import type { Wallet } from '../../../src/core/hex.ts'
import { formatAmount, type Usdc, usdc } from '../../../src/core/money.ts'
import type { PaymentFault } from '../../../src/core/payment-fault.ts'
import { unixSeconds } from '../../../src/core/time.ts'
import type { ReplyOut } from '../../endpoint/exchange.ts'
import type { Context } from '../../kernel/context.ts'
import { commit } from '../../store/draw.ts'
import { answerOfKnown, paidReply } from './known.ts'
import { offerReply, requirementOf } from './offer.ts'
import { authorizationId, type PaidCall } from './paid-call.ts'
import { PaymentRefused } from './refused.ts'
import { type Funds, methodOf, type Reservation, release, reserve, shortMessage } from './reserve.ts'
import { type PaymentRow, payments } from './rows.ts'
import type { Begin, PaidAnswer } from './seller.ts'
import { fulfil, markSettling, settle } from './settle.ts'
import { alone, inFlight } from './single-flight.ts'
import { countUnpaid, refuseUnpaid } from './unpaid.ts'
import { verifyAuthorization } from './verify.ts'

/** Reservations tried for one request: others of the wallet may land, or be released, in between. */
const RESERVE_ATTEMPTS = 4

/** Runs a paid call whose credential was read and whose body was parsed. */
export async function payAndAnswer(call: PaidCall): Promise<ReplyOut> {
  const { ctx, credential } = call
  try {
    const id = credential ? verifiedId(call, credential) : keyedId(call)
    let replayed = false
    const landed = await alone(ctx, { id, fingerprint: call.fingerprint, signal: call.base.signal }, async () => {
      const paid = await pay(call, id)
      replayed = paid.replayed
      return paid.answer
    })
    // Work of one's own always ends in an answer or a throw, and alone hands out no other's undefined.
    const answer = landed.answer as PaidAnswer
    return paidReply(ctx, {
      answer,
      replayed: replayed || !landed.first,
      credential,
      requestId: call.exchange.requestId,
    })
  } catch (error) {
    if (!(error instanceof PaymentRefused)) throw error
    return offerReply(ctx, call.exchange, { row: call.row, quote: call.quote, refusal: error.refusal })
  }
}

/** Id of the payment of an authorization that is good for this call, but for its funds. */
function verifiedId(call: PaidCall, credential: PaymentCredential): string {
  const { ctx, quote } = call
  const verdict = verifyAuthorization({
    credential,
    requirement: requirementOf(ctx, quote),
    facts: {
      wallNowSeconds: unixSeconds(ctx.clock.wall()),
      marginSeconds: paymentWindows[quote.settle].marginSeconds,
      signer: call.signer,
      // The reservation counts them, together with what the wallet has promised elsewhere.
      funds: credential.authorization.value,
      openReservations: 0n,
    },
  })
  if (!verdict.ok) throw new PaymentRefused({ fault: verdict.fault, payer: credential.authorization.from })
  return authorizationId(ctx, credential)
}

export function signerOf(ctx: Context, credential: PaymentCredential): Wallet | null {
  return ctx.recover(ctx.chain.digestOf(credential.authorization), credential.signature) ?? null
}

/** Id of a payment that is known by its request alone. */
function keyedId(call: PaidCall): string {
  if (call.row.access.kind === 'paid' && call.row.access.x402Only) {
    throw invalidField(balanceHeader, 'this row takes a signed x402 payment only: the signature proves the wallet')
  }
  return `${methodOf(call)}:${call.exchange.requestId}`
}

type Paid = { readonly answer: PaidAnswer; readonly replayed: boolean }

async function pay(call: PaidCall, id: string): Promise<Paid> {
  await refuseUnpaid(call.ctx, call.base.payer.wallet)
  let funds = await readFunds(call)
  for (let attempt = 0; attempt < RESERVE_ATTEMPTS; attempt += 1) {
    const reservation = await reserve(call, { id, funds })
    if (reservation.kind === 'refused') {
      funds = await fundsAfter(call, reservation.settling)
    } else {
      const paid = await payWith(call, id, reservation)
      if (paid) return paid
    }
  }
  throw insufficientFunds(call)
}

/** Undefined when a known payment turned out to have ended without a charge: the next attempt is afresh. */
async function payWith(
  call: PaidCall,
  id: string,
  reservation: Exclude<Reservation, { kind: 'refused' }>,
): Promise<Paid | undefined> {
  if (reservation.kind === 'reserved') return { answer: await execute(call, reservation.payment), replayed: false }
  if (reservation.kind === 'short') throw insufficientBalance(call.quote.price, reservation.available)
  const repeat = { ...call, finish: () => call, inFlight: id }
  const answer = await answerOfKnown(call.ctx, reservation.payment, repeat)
  return answer && { answer, replayed: true }
}

function insufficientFunds({ base }: PaidCall): PaymentRefused {
  return new PaymentRefused({ fault: 'insufficient_funds', payer: base.payer.wallet })
}

function insufficientBalance(required: Usdc, available: Usdc): PaymentRefused {
  return new PaymentRefused({
    code: 'insufficient_balance',
    message: shortMessage(required, available),
    extra: { required: formatAmount(required), available: formatAmount(available) },
  })
}

const noFunds: Funds = { onChain: usdc(0n), moved: new Set() }

async function readFunds(call: PaidCall): Promise<Funds> {
  if (!call.credential) return noFunds
  return { onChain: await chainSays(call, call.base.payer.wallet), moved: new Set() }
}

/**
 * The wallet's funds once its payments that were being settled have landed: until then their money
 * is both gone from the chain and promised in their rows.
 * @throws PaymentRefused when nothing was being settled: the money is not there.
 */
async function fundsAfter(call: PaidCall, settling: readonly string[]): Promise<Funds> {
  const { ctx } = call
  if (settling.length === 0) throw insufficientFunds(call)
  await Promise.allSettled(settling.map((id) => inFlight.of(ctx).get(id)?.answer))
  const moved = new Set<string>()
  for (const id of settling) {
    const payment = await ctx.store.table(payments).get(id)
    if (payment?.open && (await hasMoved(call, payment))) moved.add(id)
  }
  return { onChain: await chainSays(call, call.base.payer.wallet), moved }
}

async function hasMoved({ ctx }: PaidCall, { payer, authorization }: PaymentRow): Promise<boolean> {
  return authorization !== null && (await ctx.chain.authorizationState(payer, authorization.nonce)).used
}

async function chainSays(call: PaidCall, wallet: Wallet): Promise<Usdc> {
  try {
    return await call.ctx.chain.balanceOf(wallet)
  } catch (error) {
    call.ctx.log.warn({ source: 'x402', err: String(error) }, 'the chain did not say what a wallet holds')
    throw new PaymentRefused({ fault: 'chain_unavailable', payer: wallet })
  }
}

function execute(call: PaidCall, reserved: PaymentRow): Promise<PaidAnswer> {
  const key = call.handler.serializeBy?.(call.input)
  return key === undefined ? perform(call, reserved) : call.ctx.mutex(key, () => perform(call, reserved))
}

/** Checks, work and settlement of a fresh reservation, in the order of decisions §4. */
async function perform(call: PaidCall, reserved: PaymentRow): Promise<PaidAnswer> {
  let settling: PaymentRow
  try {
    await call.handler.check(call.input, call.base)
    const isRun = call.handler.run && call.quote.settle === 'last'
    const outcome = isRun ? await call.handler.run(call.input, call.base, beginOf(call, reserved.id)) : null
    settling = await markSettling(call.ctx, reserved.id, { input: call.wire, outcome })
  } catch (error) {
    await releaseUnpaid(call, reserved)
    throw error
  }
  const settled = await settle(call.ctx, settling)
  if (settled.ok) return fulfil(call, settling, settled.transaction)
  if (settled.final) await releaseUnpaid(call, reserved)
  throw new PaymentRefused({
    fault: settled.fault,
    payer: call.base.payer.wallet,
    headers: failureHeader(call, settled.fault),
  })
}

async function releaseUnpaid(call: PaidCall, { id, payer }: PaymentRow): Promise<void> {
  await release(call, id)
  await countUnpaid(call.ctx, payer)
}

/** Kept with the reservation, in the transaction of what it begins. */
function beginOf({ ctx }: PaidCall, id: string): Begin {
  return (body) =>
    commit(ctx, async (t, draw) => {
      const payment = await t.table(payments).getForUpdate(id)
      if (payment?.state !== 'reserved') throw new Error(`payment ${id} is not reserved`)
      await t.table(payments).put({ ...payment, begun: await body(t, draw) })
    })
}

function failureHeader(call: PaidCall, fault: PaymentFault): Record<string, string> {
  if (!call.credential) return {}
  const { network } = call.ctx.chain
  const header = paymentResponse(call.credential.version, {
    success: false,
    fault,
    network,
    payer: call.base.payer.wallet,
  })
  return { [header.name]: header.value }
}
