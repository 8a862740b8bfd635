import { AppError } from '../../../src/core/error.ts'
import type { PaymentFault } from '../../../src/core/payment-fault.ts'
import type { ReplyOut } from '../../endpoint/exchange.ts'
import { idempotencyHeader } from '../../endpoint/fingerprint.ts'
import type { Context } from '../../kernel/context.ts'
import type { Seat } from '../../kernel/keyed-mutex.ts'
import { largeText } from '../../store/blobs.ts'
import { commit } from '../../store/draw.ts'
import type { Draw, Tx } from '../../store/port.ts'
import { offer, offerUnlessCovered, offerUnlessOther, PaymentRefused, reply, settlementHeader } from './offer.ts'
import { callOf, type Order, openOrder, verify } from './order.ts'
import { type Credential, identifyPayer, isTendered, provenCredential, signedPayment } from './payer.ts'
import { answerKnown, replay } from './replay.ts'
import {
  begin,
  type Funds,
  fundsAfter,
  insufficientBalance,
  insufficientFunds,
  type Refusal,
  type Reservation,
  readFunds,
  reserve,
} from './reserve.ts'
import { countUnpaid, refuseUnpaid, release } from './reversed.ts'
import { type PaymentRow, payments } from './rows.ts'
import type { Begin, PaidAnswer, PaidRequest, RunResult } from './seller.ts'
import { applyFulfilment, fulfil, markSettling, refusalOf, settle } from './settle.ts'
import { singleFlight } from './single-flight.ts'

/**
 * Handles a paid request from headers to response, in the order of decisions §2 and §4. `admit` refuses a disabled
 * endpoint (404, 410, 503), and responds to callers that need not pay.
 */
export async function charge(asked: PaidRequest, admit: () => Promise<ReplyOut | undefined>): Promise<ReplyOut> {
  const credential = await provenCredential(asked) // 400: two of them, or over plain http
  const request = identified(asked, credential)
  const payer = await identifyPayer(request, credential) // undefined while unproven
  const repeated = await replay(request, credential, payer) // who paid gets the answer, whatever was switched off since
  if (repeated) return repeated
  const free = await admit()
  if (free) return free
  // 503: nobody signs what could not be settled
  if (credential.kind !== 'balance' && credential.kind !== 'key') refuseWhileDown(request.ctx)
  if (!isTendered(credential)) return offer(request, credential) // 402: nothing to pay with
  const uncovered = await offerUnlessCovered(request, credential, payer) // 402: a lone key without a subscription
  if (uncovered) {
    refuseWhileDown(request.ctx)
    return uncovered
  }
  const order = await openOrder(request, credential, payer) // proven, screened, parsed, quoted, within X-Max-Price
  noteOrder(order)
  try {
    const id = verify(order) // signature, window, price; not the funds
    request.exchange.facts.payment = id
    const flight = { id, fingerprint: order.fingerprint, signal: order.base.signal }
    const answer = await singleFlight(request.ctx, flight, () => reserveAndPay(order, id)) // copies wait for the first
    return reply(order, order.credential, answer)
  } catch (error) {
    return offerUnlessOther(order, order.quote, error) // 402 with the reason of what was refused
  }
}

/** A payment's id (x402 v2, `payment-identifier`) is its `Idempotency-Key`, unless one is sent. */
function identified(request: PaidRequest, credential: Credential): PaidRequest {
  const payment = signedPayment(credential)
  const id = payment?.version === 2 ? payment.paymentId : undefined
  const { exchange } = request
  if (id === undefined || exchange.header(idempotencyHeader) !== undefined) return request
  const header = (name: string) => (name === idempotencyHeader ? id : exchange.header(name))
  return { ...request, exchange: { ...exchange, header } }
}

/** `Retry-After` in seconds, while the chain is down. */
const DOWN_RETRY_SECONDS = 15

/** @throws AppError 503 */
function refuseWhileDown({ chain }: Context): void {
  if (chain.status?.().health !== 'down') return
  const what = 'The chain is unavailable, so x402 payments are not possible; nothing was charged.'
  const wayOut = 'Pay from a balance (X-BALANCE-AUTH), or try again later.'
  throw new AppError('unavailable', `${what} ${wayOut}`, { retryAfter: DOWN_RETRY_SECONDS })
}

function noteOrder({ exchange, payer, quote }: Order): void {
  exchange.facts.caller = payer.participant?.id ?? payer.wallet
  exchange.facts.price = quote.price
}

/** Maximum attempts to reserve. Between two attempts, other payments of the wallet may settle or be released. */
const RESERVE_ATTEMPTS = 4

/** Reserves and pays. If the seller serves one call at a time and too many wait, refuses first. */
async function reserveAndPay(order: Order, id: string): Promise<PaidAnswer> {
  await refuseUnpaid(order.ctx, order.payer.wallet)
  const key = order.seller.handler.serializeBy?.(order.input)
  const seat = key === undefined ? undefined : order.ctx.mutex.enter(key) // 503: too many wait for the same thing
  try {
    return await reserveAndPayIn(order, id, seat?.run ?? ((work) => work()))
  } finally {
    seat?.leave()
  }
}

/** Returns the stored response of a known payment; otherwise sells in one transaction, or reserves and pays. */
async function reserveAndPayIn(order: Order, id: string, inTurn: Seat['run']): Promise<PaidAnswer> {
  let funds = await readFunds(order)
  for (let attempt = 0; attempt < RESERVE_ATTEMPTS; attempt += 1) {
    const asOf = funds
    const sale = (await inTurn(() => sellAtOnce(order, id, asOf))) ?? (await reserve({ order, id, funds: asOf }))
    if (sale.kind === 'unfunded') funds = await fundsAfter(order, sale.settling)
    else {
      const answer = await answerTo(order, sale, { id, inTurn })
      if (answer) return answer
    }
  }
  throw insufficientFunds(order)
}

type Begun = Exclude<SoldAtOnce | Reservation, { readonly kind: 'unfunded' }>
type Turn = { readonly id: string; readonly inTurn: Seat['run'] }

async function answerTo(order: Order, sale: Begun, { id, inTurn }: Turn): Promise<PaidAnswer | undefined> {
  if (sale.kind === 'sold') return sale.answer
  if (sale.kind === 'short') throw insufficientBalance(order.quote, sale.available)
  return sale.kind === 'reserved' ? inTurn(() => pay(order, sale.payment)) : answerKnown(order, sale.payment, id)
}

/** Checks and runs the request, then marks, settles and fulfils the payment. A refusal releases the reservation. */
async function pay(order: Order, reserved: PaymentRow): Promise<PaidAnswer> {
  const { ctx, seller, input } = order
  const { handler } = seller
  let settling: PaymentRow
  try {
    const call = callOf(order)
    await handler.check(input, call)
    const run = runsFirst(order) ? handler.run : undefined
    const outcome = (await run?.(input, call, beginOf(ctx, reserved.id))) ?? null
    const answer = await payAtOnce(order, reserved.id, outcome)
    if (answer) return answer
    settling = await markSettling(ctx, reserved.id, { input: order.wire, outcome })
  } catch (error) {
    await releaseUnpaid(order, reserved)
    throw error
  }
  return settleAndFulfil(order, settling)
}

async function settleAndFulfil(order: Order, settling: PaymentRow): Promise<PaidAnswer> {
  const settled = await settle(order.ctx, settling)
  if (settled.ok) return fulfil(order.ctx, settled.payment, order)
  if (settled.final) await releaseUnpaid(order, settling)
  throw unsettled(order, settled.fault)
}

/** Returns a function that begins a run's external work and stores it in the payment row, in one transaction. */
function beginOf(ctx: Context, id: string): Begin {
  const begin = (body: Parameters<Begin>[0]) =>
    commit(ctx, async (t, draw) => {
      const payment = await t.table(payments).getForUpdate(id)
      if (payment?.state !== 'reserved') throw new Error(`payment ${id} is not reserved`)
      await t.table(payments).put({ ...payment, begun: await body(t, draw) })
    })
  return Object.assign(begin, { paymentId: id })
}

async function releaseUnpaid({ ctx, seller }: Order, { id, payer }: PaymentRow): Promise<void> {
  await release(ctx, id, seller)
  await countUnpaid(ctx, payer)
}

function unsettled(order: Order, fault: PaymentFault): PaymentRefused {
  const headers = settlementHeader(order, order.credential, { success: false, fault })
  return new PaymentRefused({ fault, payer: order.payer.wallet, headers })
}

/*
 * Money that moves inside the store moves in the same transaction as what it pays for. A refusal then charges nobody
 * and needs no recovery (decisions §4). In unusual cases these functions return undefined without writing. The caller
 * then takes the full payment flow, which explains the error.
 */

export function runsFirst({ seller, quote }: Order): boolean {
  return seller.handler.run !== undefined && quote.settle === 'last'
}

export type SoldAtOnce = { readonly kind: 'sold'; readonly answer: PaidAnswer } | Refusal

/** Sells a service that is paid before it runs. Uses one transaction, or two around a transfer outside the store. */
export async function sellAtOnce(order: Order, id: string, funds: Funds): Promise<SoldAtOnce | undefined> {
  if (runsFirst(order) || !(await passes(order))) return undefined
  const move = moveOf(order)
  return move ? sellWithin(order, { id, funds, move }) : sellByChain(order, id, funds)
}

/** Reserves the payment with the status `settling`, so that it is fulfilled even after a crash. */
async function sellByChain(order: Order, id: string, funds: Funds): Promise<SoldAtOnce | undefined> {
  const carried = { input: order.wire, outcome: null }
  if (largeText(carried) !== undefined) return undefined // a file of its own, once it is reserved
  const sale = await reserve({ order, id, funds, marked: { ...carried, state: 'settling' } })
  return sale.kind === 'reserved' ? { kind: 'sold', answer: await settleAndFulfil(order, sale.payment) } : sale
}

type Within = { readonly id: string; readonly funds: Funds; readonly move: Move }

async function sellWithin(order: Order, { id, funds, move }: Within): Promise<SoldAtOnce | undefined> {
  const { ctx, payer } = order
  const now = ctx.clock.now()
  let hasBegun = false
  try {
    return await commit(ctx, async (t, draw) => {
      const begun = await begin(t, draw, { order, id, funds })
      hasBegun = begun.kind === 'begun'
      if (begun.kind !== 'begun') return begun
      const payment = { ...begun.draft, version: 1 }
      return { kind: 'sold', answer: await give(t, draw, { order, payment, move, outcome: null, now }) }
    })
  } catch (error) {
    if (error instanceof Unmoved) return undefined
    if (hasBegun) await countUnpaid(ctx, payer.wallet)
    throw refusalOf(error)
  }
}

/** Settles and fulfils after a run, in one transaction. Undefined if this takes several transactions. */
export async function payAtOnce(order: Order, id: string, outcome: RunResult): Promise<PaidAnswer | undefined> {
  const { ctx } = order
  const move = moveOf(order)
  if (!move) return undefined
  const now = ctx.clock.now()
  let hasProvider = false
  try {
    return await commit(ctx, async (t, draw) => {
      const payment = await t.table(payments).getForUpdate(id)
      if (payment?.state !== 'reserved') throw new Error(`payment ${id} is not reserved`)
      hasProvider = payment.begun !== undefined
      return give(t, draw, { order, payment, move, outcome, now })
    })
  } catch (error) {
    const refusal = refusalOf(error)
    // Undefined makes the caller settle in several transactions, which keep a provider's finished work.
    if (error instanceof Unmoved || (hasProvider && !(refusal instanceof AppError))) return undefined
    throw refusal
  }
}

/** Whether the seller's check passes. If not, the full payment flow repeats the check and reports the error. */
async function passes(order: Order): Promise<boolean> {
  try {
    await order.seller.handler.check(order.input, callOf(order))
    return true
  } catch {
    return false
  }
}

/** Moves an order's money in a transaction. @returns the chain transaction; null for a hold */
type Move = (t: Tx) => Promise<string | null>

/** Thrown if the money did not move, so that the transaction is rolled back. */
class Unmoved extends Error {
  override readonly name = 'Unmoved'
}

/** Undefined if the money moves outside the store. */
function moveOf({ ctx, credential }: Order): Move | undefined {
  const signed = signedPayment(credential)
  if (!signed) return async () => null
  const settle = ctx.chain.settle.within?.(signed.authorization, signed.signature)
  if (!settle) return undefined
  return async (t) => {
    const settled = await settle(t)
    if (settled.ok) return settled.transaction
    throw new Unmoved()
  }
}

type Giving = {
  readonly order: Order
  readonly payment: PaymentRow
  readonly move: Move
  readonly outcome: RunResult
  readonly now: number
}

async function give(t: Tx, draw: Draw, { order, payment, move, outcome, now }: Giving): Promise<PaidAnswer> {
  const { ctx, seller, sealKey, wire } = order
  const moved = { ...payment, transaction: await move(t) }
  return applyFulfilment(t, draw, {
    ...{ ctx, seller, sealKey, now },
    payment: moved,
    carried: { input: wire, outcome },
  })
}
