import { isPaid, type PaidEndpoint } from '../../../src/api/endpoint/define.ts'
import { api, endpointNames } from '../../../src/api/index.ts'
import { AppError } from '../../../src/core/error.ts'
import type { Hex } from '../../../src/core/hex.ts'
import { HOUR_MS, unixSeconds } from '../../../src/core/time.ts'
import type { Context } from '../../kernel/context.ts'
import type { AnyPaidHandler } from './paid-call.ts'
import { release } from './reserve.ts'
import { type PaymentRow, payments } from './rows.ts'
import type { PaidAnswer } from './seller.ts'
import { type Finish, fulfil, refuse, settle } from './settle.ts'
import { alone, inFlight } from './single-flight.ts'

const RECOVERY_PAGE = 100

export type HandlerTable = Readonly<Record<string, unknown>>

/** What finishing a stored payment needs; its secrets stay sealed from everyone, since no caller is here. */
export function finishOf(ctx: Context, handlers: HandlerTable, payment: PaymentRow): Finish {
  const name = endpointNames.find((endpoint) => endpoint === payment.endpoint)
  const row = name && api[name]
  if (!name || !row || !isPaid(row)) throw new Error(`payment ${payment.id} belongs to no row: ${payment.endpoint}`)
  return {
    ctx,
    row: row as PaidEndpoint,
    handler: handlers[name] as AnyPaidHandler, // the table is total over the contract
    sealKey: null,
  }
}

/**
 * Ends a payment that was left open; whoever calls has it alone. Nothing sent: released. Sent or
 * about to be: settled (the chain is asked by the same bytes) and then fulfilled, or refunded where
 * the effect is refused.
 * @returns the answer, or undefined when there is none: released, ended before, or the chain did not say.
 */
export async function finishPayment(finish: Finish, id: string): Promise<PaidAnswer | undefined> {
  const { ctx } = finish
  const payment = await ctx.store.table(payments).get(id)
  if (!payment?.open) return undefined
  if (payment.state === 'reserved') {
    await release(finish, id)
    return undefined
  }
  if (payment.state === 'settled') return fulfil(finish, payment, payment.transaction as Hex | null) // a chain's own answer
  const settled = await settle(ctx, payment)
  if (settled.ok) return fulfil(finish, payment, settled.transaction)
  if (settled.final || (await neverSettled(ctx, payment))) await release(finish, id)
  return undefined
}

/** The nonce is unused on the chain and its window has closed: nobody can use it any more. */
async function neverSettled(ctx: Context, payment: PaymentRow): Promise<boolean> {
  const signed = payment.authorization
  if (!signed || signed.valid_before >= BigInt(unixSeconds(ctx.clock.wall()))) return false
  try {
    return !(await ctx.chain.authorizationState(payment.payer, signed.nonce)).used
  } catch (error) {
    ctx.log.warn({ source: 'x402', payment: payment.receipt_id, err: String(error) }, 'the chain did not answer')
    return false
  }
}

export type Recovered = { readonly finished: number; readonly released: number; readonly waiting: number }

/** Walks all open payments that no request of this process is working on; for the start and for crons. */
export async function recoverPayments(ctx: Context, handlers: HandlerTable): Promise<Recovered> {
  const counts = { finished: 0, released: 0, waiting: 0 }
  let after: string | undefined
  for (;;) {
    const page = await ctx.store
      .table(payments)
      .page('open', [], { limit: RECOVERY_PAGE, ...(after === undefined ? {} : { after }) })
    for (const payment of page.rows) {
      if (inFlight.of(ctx).has(payment.id)) continue
      counts[await recoverOne(ctx, handlers, payment)] += 1
    }
    if (!page.more || page.cursor === null) return counts
    after = page.cursor
  }
}

async function recoverOne(ctx: Context, handlers: HandlerTable, payment: PaymentRow): Promise<keyof Recovered> {
  const { id, fingerprint } = payment
  const log = { source: 'x402', payment: payment.receipt_id }
  try {
    const finish = finishOf(ctx, handlers, payment)
    await alone(ctx, { id, fingerprint }, () => finishOrGiveBack(finish, payment))
  } catch (error) {
    ctx.log.error({ ...log, err: String(error) }, 'payment not recovered')
  }
  const now = await ctx.store.table(payments).get(id)
  ctx.log.info({ ...log, state: now?.state }, 'payment recovered')
  if (now?.state === 'released') return 'released'
  return now?.open ? 'waiting' : 'finished'
}

/** An effect that failed for long enough, not by a refusal but by a fault of ours, ends in a refund. */
async function finishOrGiveBack(finish: Finish, payment: PaymentRow): Promise<PaidAnswer | undefined> {
  const { ctx } = finish
  try {
    return await finishPayment(finish, payment.id)
  } catch (error) {
    const now = await ctx.store.table(payments).get(payment.id)
    const isYoung = ctx.clock.now() - payment.created_at < FULFIL_PATIENCE_MS
    if (isYoung || now?.state !== 'settled') throw error
    ctx.log.error({ source: 'x402', payment: now.receipt_id, err: String(error) }, 'gave a payment back')
    const failed = new AppError('internal', 'This could not be completed; the payment goes back.')
    return refuse(finish, { payment: now, transaction: now.transaction as Hex | null, error: failed }) // a chain's own answer
  }
}

/** An open payment is fulfilled, or its money goes back, this long after it was made; see `gates/recovery.ts`. */
export const FULFIL_PATIENCE_MS = HOUR_MS
