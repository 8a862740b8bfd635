import { formatAmount, type Usdc, usdc, ZERO } from '../../../src/core/money.ts'
import { accountOwner } from '../../../src/model/ledger.ts'
import { emit, emitAct } from '../../events/event-log.ts'
import type { Context } from '../../kernel/context.ts'
import { commit, type Draw } from '../../store/draw.ts'
import { everyRow } from '../../store/each-page.ts'
import type { Tx } from '../../store/port.ts'
import { account, legsOf } from '../ledger/legs.ts'
import { balanceOf, post } from '../ledger/post.ts'
import { openRefund } from '../payouts/payouts.ts'
import { type PaymentRow, payments } from './rows.ts'

const PAGE = 100

type Back = { readonly payment: PaymentRow; readonly transaction: string; readonly at: number }

/**
 * Puts a reversed payment back to what it was: whoever bore the loss has it again, to the unit, and a refund that was
 * withheld meanwhile is paid, as far as the marketplace still has it: the rest stays with the payment until it has. A
 * payment that had bought nothing yet goes back to its payer.
 */
export async function returnLoss(t: Tx, draw: Draw, { payment, transaction, at }: Back): Promise<void> {
  const { uncovered = ZERO, borne, reversed_from: was = 'fulfilled', withheld = ZERO, ...bared } = payment
  const ref = { kind: 'receipt', id: payment.receipt_id }
  const isUnused = was === 'settled'
  if (isUnused) {
    const legs = legsOf.settledRefused({ payer: payment.payer, amount: payment.price })
    await post(t, draw, { kind: 'refund', ref, legs, at })
  } else {
    const parts = borne ?? [{ from: account.oper, amount: usdc(payment.price - uncovered) }]
    const legs = parts.flatMap(({ from, amount }) => legsOf.returned({ to: from, amount }))
    if (legs.length > 0) await post(t, draw, { kind: 'reversal', ref, legs, at })
    for (const part of parts) await tellOwner(t, draw, { ...part, at })
  }
  const left = await payWithheld(t, draw, { payment, withheld, at })
  if (isUnused) await openRefund(t, draw, { wallet: payment.payer, ref, at })
  const state = isUnused ? 'refunded' : was
  await t.table(payments).put({ ...bared, ...unpaid(left), state, transaction, updated_at: at })
  const data = { amount: formatAmount(payment.price), transaction }
  await emitAct(t, draw, { type: 'payment.returned', subject: ref, data, at })
}

type Part = { readonly from: string; readonly amount: Usdc; readonly at: number }

/** A balance that a deposit had filled has it again. */
async function tellOwner(t: Tx, draw: Draw, { from, amount, at }: Part): Promise<void> {
  const participantId = from.startsWith('bal:') ? accountOwner(from) : null
  if (participantId === null) return
  const data = { amount: formatAmount(amount), reason: 'The payment of a deposit that the chain had undone came back.' }
  const subject = { kind: 'participant', id: participantId }
  await emit(t, draw, { type: 'admin.balance_adjusted', participantId, subject, data, at })
}

type Withheld = { readonly payment: PaymentRow; readonly withheld: Usdc; readonly at: number }

/**
 * The marketplace has had it since, as far as it has not spent it.
 * @returns what the payer is still owed.
 */
async function payWithheld(t: Tx, draw: Draw, { payment, withheld, at }: Withheld): Promise<Usdc> {
  if (withheld === ZERO) return ZERO
  const { payer, receipt_id: id } = payment
  const ref = { kind: 'receipt', id }
  const own = await Promise.all(bearers.map(async (from) => ({ from, balance: await balanceOf(t, from) })))
  const { parts, uncovered: left } = dividedLoss(withheld, own)
  const legs = parts.flatMap(({ from, amount }) => legsOf.withheldRefund({ from, payer, amount }))
  if (legs.length > 0) {
    await post(t, draw, { kind: 'refund', ref, legs, at })
    await openRefund(t, draw, { wallet: payer, ref, at })
  }
  return left
}

/** Of one that is undone nothing is owed: its money is not there. */
export const owingStates = ['fulfilled', 'refunded'] as const

function unpaid(left: Usdc): Pick<PaymentRow, 'withheld'> {
  return left > 0n ? { withheld: left } : {}
}

/** Pays what payers of returned payments are still owed, oldest first, out of what the marketplace has earned since. */
export async function payAllWithheld(ctx: Pick<Context, 'store' | 'entropy' | 'clock'>): Promise<void> {
  const table = ctx.store.table(payments)
  const owed = await Promise.all(
    owingStates.map((state) => everyRow(table, { index: 'withheld', prefix: [state], limit: PAGE })),
  )
  for (const { id } of owed.flat().toSorted((a, b) => a.created_at - b.created_at)) {
    const left = await commit(ctx, async (t, draw) => {
      const payment = await t.table(payments).getForUpdate(id)
      if (payment?.withheld === undefined || payment.state === 'reversed') return ZERO
      const { withheld, ...rest } = payment
      const at = ctx.clock.now()
      const due = await payWithheld(t, draw, { payment, withheld, at })
      if (due < withheld) await t.table(payments).put({ ...rest, ...unpaid(due), updated_at: at })
      return due
    })
    if (left > 0n) return
  }
}

/**
 * What the marketplace itself has, in the order in which it bears a loss: nothing of it was promised to anybody. Money
 * of providers, holds and refunds is never touched, whatever the chain does.
 */
export const bearers = [account.oper, account.ops, account.fees] as const

export type Bearing = { readonly from: string; readonly amount: Usdc }

/** Divides a loss among accounts in their order; nobody gives more than is there. */
export function dividedLoss(
  loss: Usdc,
  sources: readonly { readonly from: string; readonly balance: Usdc }[],
): { readonly parts: readonly Bearing[]; readonly uncovered: Usdc } {
  let left = loss
  const parts: Bearing[] = []
  for (const { from, balance } of sources) {
    const amount = balance < left ? balance : left
    if (amount <= 0n) continue
    parts.push({ from, amount })
    left = usdc(left - amount)
  }
  return { parts, uncovered: left }
}
