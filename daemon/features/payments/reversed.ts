import { formatAmount, type Usdc, usdc, ZERO } from '../../../src/core/money.ts'
import { emit, emitAct } from '../../events/event-log.ts'
import { type Context, inBackground } from '../../kernel/context.ts'
import { participants } from '../../kernel/rows.ts'
import type { Reversal } from '../../ports/chain/chain.ts'
import { commit, type Draw } from '../../store/draw.ts'
import { everyRow } from '../../store/each-page.ts'
import type { ReadTx, Tx } from '../../store/port.ts'
import { account, legsOf } from '../ledger/legs.ts'
import { balanceOf, post } from '../ledger/post.ts'
import { bare, dropFile } from './carried.ts'
import { freeKey } from './release.ts'
import { type Bearing, bearers, dividedLoss, returnLoss } from './returned.ts'
import { type PaymentRow, payments } from './rows.ts'
import { type HandlerTable, sellerOf, sellers } from './seller.ts'
import { authorizationId } from './verify.ts'

const PAGE = 100

/** Books each settlement that the chain undid for good as the loss that it is, and its return; old ones are told again. */
export function followReversals(ctx: Context): void {
  ctx.chain.onReversed?.((reversal) =>
    inBackground(ctx, 'x402', () => followReversal({ ...ctx, sellers: sellers.of(ctx) }, reversal)),
  )
}

/** What a reversal is booked with. */
export type ReversalMeans = Pick<Context, 'store' | 'blobs' | 'entropy' | 'clock' | 'chain' | 'log'> & {
  readonly sellers: HandlerTable
}

function followReversal(means: ReversalMeans, reversal: Reversal): Promise<void> {
  return reversal.returned === undefined ? reverse(means, reversal) : restore(means, reversal)
}

/**
 * The payment becomes `reversed`, and what it had brought into the books is taken out of them in the same transaction:
 * from the balance that a deposit had credited, else from what the marketplace has earned. What that does not cover
 * stays with the payment until it does. Once, however often it is told.
 */
export async function reverse(means: ReversalMeans, { from, nonce, value, transaction }: Reversal): Promise<void> {
  const id = authorizationId(means, { authorization: { from, nonce } })
  const at = means.clock.now()
  const lost = await commit(means, async (t, draw) => {
    const payment = await t.table(payments).getForUpdate(id)
    if (payment === undefined || !isPaid(payment)) return undefined
    await freeKey(t, payment)
    const isPosted = payment.state !== 'settled'
    const covered = isPosted ? await coverLoss(t, draw, { payment, loss: payment.price, at }) : nothingLost
    const { uncovered, borne } = covered
    if (!isPosted) await tellUnpaid(t, draw, { payment, at, sellers: means.sellers })
    const was = { reversed_from: payment.state, borne: [...borne] }
    await t.table(payments).put({ ...bare(payment), ...was, ...rest(uncovered), state: 'reversed', updated_at: at })
    const data = { amount: formatAmount(payment.price), uncovered: formatAmount(uncovered), transaction }
    await emitAct(t, draw, { type: 'payment.reversed', subject: subjectOf(payment), data, at })
    return payment
  })
  if (!lost) return
  dropFile(means, lost)
  const facts = {
    source: 'x402',
    payment: lost.receipt_id,
    payer: from,
    amount: formatAmount(usdc(value)),
    transaction,
  }
  means.log.error(facts, 'the chain permanently reverted a settled payment: its money is missing')
}

/** What was booked as a loss is there after all: once, however often it is told, and nothing where it was never booked. */
export async function restore(means: ReversalMeans, { from, nonce, value, returned }: Reversal): Promise<void> {
  if (returned === undefined) return
  const id = authorizationId(means, { authorization: { from, nonce } })
  const at = means.clock.now()
  const back = await commit(means, async (t, draw) => {
    const payment = await t.table(payments).getForUpdate(id)
    if (payment?.state !== 'reversed') return undefined
    await returnLoss(t, draw, { payment, transaction: returned, at })
    return payment
  })
  if (!back) return
  const facts = { source: 'x402', payment: back.receipt_id, payer: from, amount: formatAmount(usdc(value)) }
  means.log.warn({ ...facts, transaction: returned }, 'the money of a payment that the chain had undone came back')
}

/** A refund of what was undone is not paid, as its money never came: it is if that comes back. */
export async function withhold(t: Tx, paymentId: string, amount: Usdc): Promise<void> {
  const payment = await t.table(payments).getForUpdate(paymentId)
  if (payment?.state !== 'reversed') return
  await t.table(payments).put({ ...payment, withheld: usdc((payment.withheld ?? ZERO) + amount) })
}

/** One that is not settled yet asks the chain itself, and one that was released brought nothing. */
function isPaid({ method, state }: PaymentRow): boolean {
  return method === 'x402' && (state === 'settled' || state === 'fulfilled' || state === 'refunded')
}

function subjectOf({ receipt_id }: PaymentRow) {
  return { kind: 'receipt', id: receipt_id }
}

function rest(uncovered: Usdc): Pick<PaymentRow, 'uncovered'> {
  return uncovered > 0n ? { uncovered } : {}
}

const nothingLost: Covered = { uncovered: ZERO, borne: [] }

type Lost = { readonly payment: PaymentRow; readonly at: number }

/** Nothing was given for it, but a provider may have worked. */
async function tellUnpaid(
  t: Tx,
  draw: Draw,
  { payment, at, sellers: all }: Lost & Pick<ReversalMeans, 'sellers'>,
): Promise<void> {
  const hasRun = payment.begun !== undefined || payment.outcome !== null
  if (hasRun) await sellerOf(all, payment.endpoint)?.handler.onUnpaid?.(t, draw, { payment, now: at })
}

/** What could not be covered now, and who bore the rest. */
type Covered = { readonly uncovered: Usdc; readonly borne: readonly Bearing[] }

async function coverLoss(t: Tx, draw: Draw, { payment, loss, at }: Lost & { readonly loss: Usdc }): Promise<Covered> {
  const credited = await creditedTo(t, payment)
  const sources = [...(credited === undefined ? [] : [account.balance(credited)]), ...bearers]
  const held = await Promise.all(sources.map(async (from) => ({ from, balance: await balanceOf(t, from) })))
  const { parts, uncovered } = dividedLoss(loss, held)
  const ref = subjectOf(payment)
  await post(t, draw, { kind: 'reversal', ref, legs: parts.flatMap(legsOf.reversal), at })
  const [taken] = parts
  if (credited !== undefined && taken?.from === account.balance(credited)) {
    const data = { amount: formatAmount(usdc(-taken.amount)), reason: 'The chain undid the payment of a deposit.' }
    const subject = { kind: 'participant', id: credited }
    await emit(t, draw, { type: 'admin.balance_adjusted', participantId: credited, subject, data, at })
  }
  return { uncovered, borne: parts }
}

/** Whose balance a deposit had credited: it never came in, so that what is left of it is not there either. */
async function creditedTo(
  t: ReadTx,
  { endpoint, payer, state, reversed_from: was = state }: PaymentRow,
): Promise<string | undefined> {
  if (endpoint !== 'deposit' || was !== 'fulfilled') return undefined
  return (await t.table(participants).page('wallet', [payer], { limit: 1 })).rows[0]?.id
}

/** Takes what is still lost out of what was earned since, oldest first. */
export async function coverLosses(ctx: Pick<Context, 'store' | 'entropy' | 'clock'>): Promise<void> {
  const open = await everyRow(ctx.store.table(payments), { index: 'uncovered', prefix: [], limit: PAGE })
  for (const { id } of open) {
    const left = await commit(ctx, async (t, draw) => {
      const payment = await t.table(payments).getForUpdate(id)
      if (payment?.uncovered === undefined) return ZERO
      const { uncovered: loss, ...bared } = payment
      const at = ctx.clock.now()
      const { uncovered, borne } = await coverLoss(t, draw, { payment, loss, at })
      const all = [...(payment.borne ?? []), ...borne]
      if (uncovered < loss) await t.table(payments).put({ ...bared, ...rest(uncovered), borne: all, updated_at: at })
      return uncovered
    })
    if (left > 0n) return
  }
}

/** What reversed payments have cost that nothing has covered yet. */
export async function uncoveredLosses(t: ReadTx): Promise<readonly PaymentRow[]> {
  return everyRow(t.table(payments), { index: 'uncovered', prefix: [], limit: PAGE })
}
