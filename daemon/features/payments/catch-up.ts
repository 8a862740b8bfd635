import { formatAmount, type Usdc, usdc } from '../../../src/core/money.ts'
import { DAY_MS } from '../../../src/core/time.ts'
import type { Context } from '../../kernel/context.ts'
import { participants } from '../../kernel/rows.ts'
import { isOwn, type MoneyMove } from '../../ports/chain/chain.ts'
import { escrowId, payoutNonce } from '../../ports/chain/signature.ts'
import { commit } from '../../store/draw.ts'
import { eachPage, everyRow } from '../../store/each-page.ts'
import type { Draw, Tx } from '../../store/port.ts'
import { deals } from '../escrow/rows.ts'
import { account, legsOf } from '../ledger/legs.ts'
import { balanceOf, lastSeq, post } from '../ledger/post.ts'
import { FOUND } from '../payouts/advances.ts'
import { keepFrom, newRow } from '../payouts/payouts.ts'
import { payouts } from '../payouts/rows.ts'
import { authorizationId } from './order.ts'
import { payments } from './rows.ts'

const PAGE = 500
/** Time in which the operator can say what a found payment was for, before it is refunded. */
const FOUND_MS = 7 * DAY_MS
const WHY = 'paid after the backup, for something that the books do not have'

/**
 * Books what the chain moved after the backup from which this store was restored. A payment without a record is kept
 * for its payer, then refunded. A payout without a record pays what the books owe its wallet. Can be repeated.
 */
export async function catchUp(ctx: Context): Promise<void> {
  const { catchUp: due } = ctx.chain
  if (!due?.isDue()) return
  try {
    const { rows, deposits, isWhole } = await due.movements()
    const known = await payoutNonces(ctx)
    let isDone = await takeBack(ctx, deposits)
    // What came from the cold address is booked by the sweep.
    const isReturned = ({ from, nonce }: MoneyMove) => from === ctx.config.coldAddress && !nonce
    for (const moved of rows.filter((one) => !isReturned(one))) {
      if (isOwn(ctx.chain, moved.from)) {
        if (!moved.nonce || !known.has(moved.nonce)) await commit(ctx, (t, draw) => bookPayout(ctx, { t, draw }, moved))
      } else {
        const isBooked = await commit(ctx, (t, draw) => bookPayment(ctx, { t, draw }, moved))
        isDone &&= isBooked
      }
    }
    if (isWhole && isDone) await due.end()
    ctx.log.warn(
      { source: 'chain', transfers: rows.length, isWhole, isDone },
      'compared the chain with a restored store',
    )
  } catch (error) {
    ctx.log.warn({ source: 'chain', err: String(error) }, 'the restored store has not caught up with the chain yet')
  }
}

async function payoutNonces({ store }: Context): Promise<Set<string>> {
  const nonces = new Set<string>()
  for await (const rows of eachPage(store.table(payouts), { index: 'newest', prefix: [], limit: PAGE })) {
    for (const { id } of rows) nonces.add(payoutNonce(id))
  }
  return nonces
}

/** Takes the money of jobs that the books do not have out of the contract. @returns whether none is left there */
async function takeBack({ chain, store }: Context, deposits: readonly string[]): Promise<boolean> {
  const { escrow } = chain
  if (!escrow || deposits.length === 0) return true
  const known = new Set(
    (await everyRow(store.table(deals), { index: 'open', prefix: [], limit: PAGE })).map(({ id }) => escrowId(id)),
  )
  let isDone = true
  for (const id of deposits.filter((one) => !known.has(escrowId(one)))) {
    if ((await escrow.dealOf(id)).state !== 'held') continue
    isDone = (await escrow.act({ act: 'refund', job: id })).ok && isDone
  }
  return isDone
}

type Writing = { readonly t: Tx; readonly draw: Draw }

const isFound = async (t: Tx, { id }: MoneyMove) =>
  (await t.table(payouts).page('ref', [id], { limit: 1 })).rows.length > 0

/** @returns false while a request or the recovery works on the payment */
async function bookPayment({ chain, clock }: Context, { t, draw }: Writing, moved: MoneyMove): Promise<boolean> {
  const { from: payer, nonce, value: price, transaction } = moved
  const at = clock.now()
  const id = nonce && authorizationId({ chain }, { authorization: { from: payer, nonce } })
  const row = id === undefined ? undefined : await t.table(payments).getForUpdate(id)
  if (row && row.state !== 'released') return !row.open
  if (await isFound(t, moved)) return true
  const [owner] = (await t.table(participants).page('wallet', [payer], { limit: 1 })).rows
  const ended = { state: 'refunded', transaction, updated_at: at } as const
  if (row) await t.table(payments).put({ ...row, ...ended })
  else if (id !== undefined) {
    const unknown = { input: null, fingerprint: '', idempotency: null, authorization: null, terms: null, outcome: null }
    const facts = { payer, participant_id: owner?.id ?? null, price, receipt_id: draw.id('receipt'), created_at: at }
    const kind = { method: 'x402', settle: 'first', endpoint: 'unknown', open: false } as const
    await t.table(payments).insert({ id, ...kind, ...facts, ...unknown, ...ended })
  }
  const ref = { kind: FOUND, id: moved.id }
  await post(t, draw, { kind: 'refund', ref, legs: legsOf.settledRefused({ payer, amount: price }), at })
  const kept = { kind: 'refund', wallet: payer, source: account.refund(payer), amount: price, ref, at } as const
  await keepFrom(t, draw, { ...kept, error: WHY, waitMs: FOUND_MS })
  return true
}

/** Takes a payout from what the books owe its wallet. The row keeps the rest as an advance. */
async function bookPayout({ clock }: Context, { t, draw }: Writing, moved: MoneyMove): Promise<void> {
  if (await isFound(t, moved)) return
  const { to: wallet, value: amount, transaction } = moved
  const at = clock.now()
  const [owner] = (await t.table(participants).page('wallet', [wallet], { limit: 1 })).rows
  const own = owner ? [account.provider(owner.id), account.referral(owner.id), account.balance(owner.id)] : []
  const [source = account.refund(wallet)] = own
  const row = newRow(draw.id('payout'), {
    kind: 'settlement',
    wallet,
    source,
    amount,
    ref: { kind: FOUND, id: moved.id },
    at,
  })
  let left: bigint = amount
  const legs = []
  for (const from of [account.refund(wallet), ...own]) {
    const balance = await balanceOf(t, from)
    const taken: Usdc = usdc(balance < left ? balance : left)
    left -= taken
    legs.push(...legsOf.reversal({ from, amount: taken }))
  }
  await post(t, draw, { kind: 'payout', ref: { kind: 'payout', id: row.id }, legs, at })
  const advance = left > 0n ? { advanced: usdc(left), last_error: `$${formatAmount(usdc(left))} ${ADVANCED}` } : {}
  await t.table(payouts).insert({ ...row, status: 'confirmed', transaction, covers: await lastSeq(t), ...advance })
}

const ADVANCED = 'of it is more than the books owe: the next payouts to this wallet are set off against it'
