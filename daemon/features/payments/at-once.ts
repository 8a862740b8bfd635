import { AppError } from '../../../src/core/error.ts'
import { commit, type Draw } from '../../store/draw.ts'
import type { Tx } from '../../store/port.ts'
import { applyFulfilment, refusalOf } from './fulfil.ts'
import { callOf, type Order } from './order.ts'
import { signedPayment } from './payer.ts'
import { countUnpaid } from './release.ts'
import { begin, type Funds, type Refusal } from './reserve.ts'
import { type PaymentRow, payments } from './rows.ts'
import type { PaidAnswer, RunResult } from './seller.ts'

/*
 * Where the money moves in the store, it moves in the transaction of the effect: a refusal charges nobody, and there is
 * no state in between to recover (decisions §4). Whatever is unusual returns undefined and has written nothing: it takes
 * the long way, which says what is wrong.
 */

/** Whether an order runs before it is paid. */
export function runsFirst({ seller, quote }: Order): boolean {
  return seller.handler.run !== undefined && quote.settle === 'last'
}

export type SoldAtOnce = { readonly kind: 'sold'; readonly answer: PaidAnswer } | Refusal

/** Reserves, settles and fulfils in one transaction. */
export async function sellAtOnce(order: Order, id: string, funds: Funds): Promise<SoldAtOnce | undefined> {
  const { ctx, payer } = order
  const move = runsFirst(order) ? undefined : moveOf(order)
  if (!move || !(await passes(order))) return undefined
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

/** Settles and fulfils what has been reserved and has run. */
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
    // What a provider has worked for is kept until our fault is mended.
    if (error instanceof Unmoved || (hasProvider && !(refusal instanceof AppError))) return undefined
    throw refusal
  }
}

/** What refuses here is asked again under a reservation. */
async function passes(order: Order): Promise<boolean> {
  try {
    await order.seller.handler.check(order.input, callOf(order))
    return true
  } catch {
    return false
  }
}

/** Moves the money of an order in a transaction. @returns the transaction of the chain; null where a hold moved it */
type Move = (t: Tx) => Promise<string | null>

/** The money did not move, so the transaction is given up. */
class Unmoved extends Error {
  override readonly name = 'Unmoved'
}

/** Undefined where the money moves outside of the store. */
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
  /** Business time. */
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
