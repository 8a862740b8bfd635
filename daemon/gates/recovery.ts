import { isPaid, type PaidEndpoint } from '../../src/api/endpoint.ts'
import { api, rowNames } from '../../src/api/index.ts'
import { AppError } from '../../src/core/error.ts'
import type { Hex } from '../../src/core/hex.ts'
import { unixSeconds } from '../../src/core/time.ts'
import type { PaymentRow } from '../../src/model/payment.ts'
import { payments } from '../store/collections.ts'
import type { PaidAnswer, World } from '../world.ts'
import type { AnyPaidHandler } from './paid-call.ts'
import { release } from './reservation.ts'
import { type Finish, fulfil, settle } from './settlement.ts'

const RECOVERY_PAGE = 100

export type HandlerTable = Readonly<Record<string, unknown>>

/** What finishing a stored payment needs; its secrets stay sealed from everyone, since no caller is here. */
export function finishOf(world: World, handlers: HandlerTable, payment: PaymentRow): Finish {
  const name = rowNames.find((rowName) => rowName === payment.endpoint)
  const row = name && api[name]
  if (!name || !row || !isPaid(row)) throw new Error(`payment ${payment.id} belongs to no row: ${payment.endpoint}`)
  return {
    world,
    row: row as PaidEndpoint,
    handler: handlers[name] as AnyPaidHandler, // the table is total over the contract
    sealKey: null,
  }
}

/**
 * Ends a payment that a crash left open. Nothing sent: released. Sent or about to be: settled (the
 * chain is asked by the same bytes) and then fulfilled, or refunded where the effect is refused.
 * @returns the answer, or undefined when it was released or the chain did not say.
 */
export async function finishPayment(finish: Finish, payment: PaymentRow): Promise<PaidAnswer | undefined> {
  if (payment.state === 'reserved') {
    await release(finish, payment.id)
    return undefined
  }
  if (payment.state === 'settled') return fulfil(finish, payment, payment.transaction as Hex | null)
  const settled = await settle(finish.world, payment)
  if (settled.ok) return fulfil(finish, payment, settled.transaction)
  if (settled.final || (await neverSettled(finish.world, payment))) await release(finish, payment.id)
  return undefined
}

/** The nonce is unused on the chain and its window has closed: nobody can use it any more. */
async function neverSettled(world: World, payment: PaymentRow): Promise<boolean> {
  const signed = payment.authorization
  if (!signed || signed.valid_before >= BigInt(unixSeconds(world.clock.wall()))) return false
  const state = await world.chain.authorizationState(payment.payer, signed.nonce)
  return !state.used
}

export type Recovered = { readonly finished: number; readonly released: number; readonly waiting: number }

/** Walks all open payments that no request of this process is working on. */
export async function recoverPayments(world: World, handlers: HandlerTable): Promise<Recovered> {
  const counts = { finished: 0, released: 0, waiting: 0 }
  let after: string | undefined
  for (;;) {
    const page = await world.store
      .table(payments)
      .page('open', [], { limit: RECOVERY_PAGE, ...(after === undefined ? {} : { after }) })
    for (const payment of page.rows) {
      if (!world.inflight.has(payment.id)) await recoverOne(world, handlers, { payment, counts })
    }
    if (!page.more || page.cursor === null) return counts
    after = page.cursor
  }
}

type One = { payment: PaymentRow; counts: { finished: number; released: number; waiting: number } }

async function recoverOne(world: World, handlers: HandlerTable, { payment, counts }: One): Promise<void> {
  try {
    const answer = await finishPayment(finishOf(world, handlers, payment), payment)
    const now = await world.store.table(payments).get(payment.id)
    if (answer) counts.finished += 1
    else if (now?.state === 'released') counts.released += 1
    else counts.waiting += 1
    world.log.info({ source: 'x402', payment: payment.receipt_id, state: now?.state }, 'payment recovered')
  } catch (error) {
    if (error instanceof AppError) throw error
    counts.waiting += 1
    world.log.error({ source: 'x402', payment: payment.receipt_id, err: String(error) }, 'payment not recovered')
  }
}
