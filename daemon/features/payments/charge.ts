import { AppError } from '../../../src/core/error.ts'
import type { PaymentFault } from '../../../src/core/payment-fault.ts'
import type { ReplyOut } from '../../endpoint/exchange.ts'
import type { Context } from '../../kernel/context.ts'
import type { Seat } from '../../kernel/keyed-mutex.ts'
import { commit } from '../../store/draw.ts'
import { payAtOnce, runsFirst, type SoldAtOnce, sellAtOnce } from './at-once.ts'
import { fulfil } from './fulfil.ts'
import { offer, offerUnlessCovered, offerUnlessOther, PaymentRefused, reply, settlementHeader } from './offer.ts'
import { callOf, type Order, openOrder } from './order.ts'
import { type Credential, identifyPayer, isTendered, provenCredential } from './payer.ts'
import { countUnpaid, refuseUnpaid, release } from './release.ts'
import { answerKnown, replay } from './replay.ts'
import { fundsAfter, insufficientBalance, insufficientFunds, type Reservation, readFunds, reserve } from './reserve.ts'
import { type PaymentRow, payments } from './rows.ts'
import type { Begin, PaidAnswer, PaidRequest } from './seller.ts'
import { markSettling, settle } from './settle.ts'
import { singleFlight } from './single-flight.ts'
import { verify } from './verify.ts'

/**
 * A paid request from its first header to its answer, in the order of decisions §2 and §4.
 * `admit` is the pipeline's: it refuses an endpoint that is switched off (404, 410, 503), and answers free who needs
 * not pay.
 */
export async function charge(request: PaidRequest, admit: () => Promise<ReplyOut | undefined>): Promise<ReplyOut> {
  const credential = await provenCredential(request) // 400: two of them, or over plain http
  const payer = await identifyPayer(request, credential) // undefined while unproven
  const repeated = await replay(request, credential, payer) // who paid gets the answer, whatever was switched off since
  if (repeated) return repeated
  const free = await admit()
  if (free) return free
  if (needsChain(credential)) refuseWhileDown(request.ctx) // 503: nobody signs what could not be settled
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

/** Seconds after which a caller may look again whether the chain is back. */
const DOWN_RETRY_SECONDS = 15

/** A balance pays without the chain, and a subscription needs no money. */
function needsChain({ kind }: Credential): boolean {
  return kind !== 'balance' && kind !== 'key'
}

/** @throws AppError 503 */
function refuseWhileDown({ chain }: Context): void {
  if (chain.status?.().health !== 'down') return
  const what = 'The chain cannot be used now, so nothing can be paid by a signature; nothing was charged.'
  const wayOut = 'Pay from a balance (X-BALANCE-AUTH), or ask again: it goes on by itself.'
  throw new AppError('unavailable', `${what} ${wayOut}`, { retryAfter: DOWN_RETRY_SECONDS })
}

/** For the log of requests: who signed or whose key it is, and what it costs. */
function noteOrder({ exchange, payer, quote }: Order): void {
  exchange.facts.caller = payer.participant?.id ?? payer.wallet
  exchange.facts.price = quote.price
}

/** Reservations tried for one request: others of the wallet may land, or be released, in between. */
const RESERVE_ATTEMPTS = 4

/** Whoever finds no seat where the seller serves one at a time is refused before anything is reserved. */
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

/** Is it known? Then its answer, or afresh where it ended uncharged; else it is sold at once, or reserved and paid. */
async function reserveAndPayIn(order: Order, id: string, inTurn: Seat['run']): Promise<PaidAnswer> {
  let funds = await readFunds(order)
  for (let attempt = 0; attempt < RESERVE_ATTEMPTS; attempt += 1) {
    const asOf = funds
    const sale = (await inTurn(() => sellAtOnce(order, id, asOf))) ?? (await reserve(order, id, asOf))
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

/** Check > run > mark > settle > fulfil; what was refused on the way releases, and nobody is charged. */
async function pay(order: Order, reserved: PaymentRow): Promise<PaidAnswer> {
  const { ctx, seller, input } = order
  const { handler } = seller
  let settling: PaymentRow
  try {
    const call = callOf(order)
    await handler.check(input, call)
    const begin = beginOf(ctx, reserved.id)
    const outcome = runsFirst(order) ? ((await handler.run?.(input, call, begin)) ?? null) : null
    const answer = await payAtOnce(order, reserved.id, outcome)
    if (answer) return answer
    settling = await markSettling(ctx, reserved.id, { input: order.wire, outcome })
  } catch (error) {
    await releaseUnpaid(order, reserved)
    throw error
  }
  const settled = await settle(ctx, settling)
  if (settled.ok) return fulfil(ctx, settled.payment, order)
  if (settled.final) await releaseUnpaid(order, reserved)
  throw unsettled(order, settled.fault)
}

/** Kept with the reservation, in the transaction of what it begins. */
function beginOf(ctx: Context, id: string): Begin {
  return (body) =>
    commit(ctx, async (t, draw) => {
      const payment = await t.table(payments).getForUpdate(id)
      if (payment?.state !== 'reserved') throw new Error(`payment ${id} is not reserved`)
      await t.table(payments).put({ ...payment, begun: await body(t, draw) })
    })
}

async function releaseUnpaid({ ctx, seller }: Order, { id, payer }: PaymentRow): Promise<void> {
  await release(ctx, id, seller)
  await countUnpaid(ctx, payer)
}

function unsettled(order: Order, fault: PaymentFault): PaymentRefused {
  const headers = settlementHeader(order, order.credential, { success: false, fault })
  return new PaymentRefused({ fault, payer: order.payer.wallet, headers })
}
