import type { Wallet } from '../../../src/core/hex.ts'
import { type Usdc, usdc } from '../../../src/core/money.ts'
import { HOUR_MS } from '../../../src/core/time.ts'
import { accountOwner } from '../../../src/model/ledger.ts'
import type { PayoutKind } from '../../../src/model/words.ts'
import type { Context } from '../../kernel/context.ts'
import { findTransition } from '../../kernel/machine.ts'
import { isSuspended, participants } from '../../kernel/rows.ts'
import type { PayoutOrder, TransferFailure } from '../../ports/chain/chain.ts'
import { commit } from '../../store/draw.ts'
import { eachPage } from '../../store/each-page.ts'
import type { Draft, Draw, ReadTx, Tx } from '../../store/port.ts'
import { contractMirror } from '../escrow/contract.ts'
import { account, legsOf } from '../ledger/legs.ts'
import { balanceOf, lastSeq, post } from '../ledger/post.ts'
import { compliance } from '../sanctions/sanctions.ts'
import { advancedSum, FOUND, takeAdvance } from './advances.ts'
import { payoutMachine, payoutState } from './machine.ts'
import { type PayoutRow, payouts } from './rows.ts'
import { announce, applyPayoutStep, BLOCKED_REVIEW_MS, type PayoutStep } from './steps.ts'

const PAYOUT_PAGE = 100
const MAX_KEPT = 1_000
/** Interval of checks whether a wallet is free for its next payout. */
const BUSY_REVIEW_MS = HOUR_MS
const SANCTIONED = 'the wallet is sanctioned'
const SUSPENDED = 'the participant is suspended'
const NO_KEY = 'the signing key is missing'
const PAID_BY_CONTRACT = 'the escrow contract already paid the wallet'

type Ref = { readonly kind: string; readonly id: string }
type NewPayout = {
  readonly kind: PayoutKind
  readonly wallet: Wallet
  readonly source: string
  /** Amount to pay (default: the account's whole balance). */
  readonly amount?: Usdc
  readonly ref: Ref
  readonly transactionId?: string
  readonly at: number
}

/**
 * Sets an account's money aside for a wallet. Call it in the transaction that made the money due.
 * @returns null if nothing is due, or while the wallet has another open payout. The money is paid after that payout.
 */
export async function openPayout(t: Tx, draw: Draw, payout: NewPayout): Promise<PayoutRow | null> {
  const { wallet, source, at } = payout
  const amount = payout.amount ?? (await balanceOf(t, source))
  if (amount === 0n || (await openPayoutOf(t, wallet))) return null
  const row = newRow(draw.id('payout'), { ...payout, amount })
  const legs = legsOf.payoutOpened({ id: row.id, from: source, amount })
  const entry = { kind: 'payout', ref: { kind: 'payout', id: row.id }, legs, at } as const
  await post(t, draw, payout.transactionId === undefined ? entry : { ...entry, id: payout.transactionId })
  return t.table(payouts).insert({ ...row, covers: await lastSeq(t), open: true, next_attempt_at: at })
}

type KeptPayout = NewPayout & { readonly error?: string; readonly waitMs?: number }

/** Blocks money that an account holds for a wallet, by default a sanctioned one, until a review clears it. */
export async function keepFrom(t: Tx, draw: Draw, payout: KeptPayout): Promise<PayoutRow | null> {
  const { wallet, source, at, error = SANCTIONED, waitMs = BLOCKED_REVIEW_MS } = payout
  const amount = payout.amount ?? (await balanceOf(t, source))
  if (amount === 0n) return null
  const row = newRow(draw.id('payout'), { ...payout, amount })
  const legs = legsOf.blocked({ from: source, wallet, amount })
  await post(t, draw, { kind: 'blocked', ref: { kind: 'payout', id: row.id }, legs, at })
  const kept = { status: 'failed', blocked: true, last_error: error } as const
  const inserted = await t
    .table(payouts)
    .insert({ ...row, ...kept, covers: await lastSeq(t), next_attempt_at: at + waitMs })
  await announce(t, draw, { row: inserted, step: { event: 'block', at } })
  return inserted
}

export function newRow(
  id: string,
  { kind, wallet, source, amount, ref, at }: NewPayout & { amount: Usdc },
): Omit<Draft<PayoutRow>, 'covers'> {
  return {
    id,
    kind,
    wallet,
    amount,
    source,
    ref_kind: ref.kind,
    ref_id: ref.id,
    status: 'created',
    open: false,
    blocked: false,
    bytes: null,
    hash: null,
    attempts: 0,
    last_error: null,
    next_attempt_at: null,
    transaction: null,
    created_at: at,
    updated_at: at,
  }
}

export async function openPayoutOf(t: ReadTx, wallet: Wallet): Promise<PayoutRow | undefined> {
  return (await t.table(payouts).page('open_wallet', [wallet], { limit: 1 })).rows[0]
}

export async function keptOf(t: ReadTx, { wallet, source }: Pick<PayoutRow, 'wallet' | 'source'>): Promise<Usdc> {
  const { rows } = await t.table(payouts).page('blocked_wallet', [wallet], { limit: MAX_KEPT })
  return usdc(rows.reduce((sum, row) => (row.source === source ? sum + row.amount : sum), 0n))
}

export function openRefund(
  t: Tx,
  draw: Draw,
  refund: { wallet: Wallet; ref: Ref; at: number },
): Promise<PayoutRow | null> {
  return openPayout(t, draw, { ...refund, kind: 'refund', source: account.refund(refund.wallet) })
}

/** Takes a refund back out of the wallet's unsent payout if the refund account holds less than `amount`. */
export async function recallRefund(
  t: Tx,
  draw: Draw,
  { wallet, amount, at }: { wallet: Wallet; amount: Usdc; at: number },
): Promise<void> {
  const open = await openPayoutOf(t, wallet)
  if (open?.kind !== 'refund' || open.attempts > 0) return
  if ((await balanceOf(t, account.refund(wallet))) >= amount) return
  const row = await t.table(payouts).getForUpdate(open.id)
  if (row) await applyPayoutStep(t, draw, { row, step: { event: 'fail', error: PAID_BY_CONTRACT, at } })
}

export type PayoutCounts = { confirmed: number; waiting: number; failed: number }

/**
 * Advances every due payout. Can be interrupted, repeated and run concurrently, because each step is one transaction
 * that checks the status, and the chain pays a payout id once. During a pause only refunds continue (decisions §12).
 */
export async function runPayouts(ctx: Context): Promise<PayoutCounts> {
  const counts: PayoutCounts = { confirmed: 0, waiting: 0, failed: 0 }
  // A payout that was already made after the backup must not be made again.
  if (ctx.chain.catchUp?.isDue()) return counts
  await reviewBlocked(ctx)
  for await (const rows of eachPage(ctx.store.table(payouts), { index: 'due', prefix: [], limit: PAYOUT_PAGE })) {
    const due = rows.filter((row) => (row.next_attempt_at ?? 0) <= ctx.clock.now())
    for (const row of due) {
      if (row.kind !== 'refund' && ctx.switches.now().paused) continue
      counts[await drive(ctx, row)] += 1
    }
    if (due.length < rows.length) break
  }
  return counts
}

async function drive(ctx: Context, payout: PayoutRow): Promise<keyof PayoutCounts> {
  const { id } = payout
  // Wait while the contract still holds refunds to this wallet. Otherwise the wallet could be paid twice.
  const isBack = payout.kind !== 'refund' || (await contractMirror.of(ctx)?.hasReturned(payout.wallet))
  if (isBack === false) return 'waiting'
  const verdict = await screen(ctx, payout.wallet)
  if (verdict === 'unknown') return 'waiting'
  if (verdict === 'sanctioned') return holdBack(ctx, payout)
  if (await waitsForStanding(ctx, payout)) {
    await step(ctx, id, { event: 'fail', error: SUSPENDED })
    return 'failed'
  }
  if (ctx.chain.pays === false) {
    await step(ctx, id, { event: 'lack_key', error: NO_KEY })
    return 'waiting'
  }
  if (await setOff(ctx, payout)) return 'confirmed'
  await step(ctx, id, { event: 'sign', from: ctx.chain.payTo })
  const sent = await step(ctx, id, { event: 'send' })
  if (!sent) return 'waiting'
  const result = await transfer(ctx, { id, to: sent.wallet, amount: sent.amount, from: sent.from })
  if (typeof result === 'object') {
    await step(ctx, id, { event: 'confirm', transaction: result.transaction })
    return 'confirmed'
  }
  if (result === 'id_reused') {
    await step(ctx, id, {
      event: isOwnedBack(payout) ? 'fail' : 'block',
      error: 'the chain has a different payout with this id',
    })
    return 'failed'
  }
  await step(ctx, id, { event: 'postpone', error: result })
  return 'waiting'
}

/** Pays a payout, as far as possible, with what its wallet got in advance. @returns whether that pays all of it */
async function setOff(ctx: Context, { id, wallet, attempts }: PayoutRow): Promise<boolean> {
  if (attempts > 0 || (await ctx.store.table(payouts).count('advanced', [wallet])) === 0) return false
  return commit(ctx, async (t, draw) => {
    const row = await t.table(payouts).getForUpdate(id)
    if (!row?.open || row.attempts > 0) return false
    const at = ctx.clock.now()
    const { amount, transaction } = await takeAdvance(t, { wallet, most: row.amount })
    if (amount === 0n || transaction === null) return false
    if (amount < row.amount) {
      const entry = { kind: 'payout_confirmed', ref: refOf(row), legs: legsOf.payoutConfirmed({ id, amount }) } as const
      await post(t, draw, { ...entry, at })
      await t.table(payouts).put({ ...row, amount: usdc(row.amount - amount), updated_at: at })
      return false
    }
    let paid = row
    for (const event of ['sign', 'send', 'confirm'] as const) {
      paid = await applyPayoutStep(t, draw, { row: paid, step: { event, at, transaction } })
    }
    await follow(t, draw, { row, at })
    return true
  })
}

/** Whether the money of a failed payout returns to its payee's account. Refunds and revenue shares do not return. */
function isOwnedBack({ kind }: PayoutRow): boolean {
  return kind === 'settlement' || kind === 'withdrawal' || kind === 'referral' || kind === 'cold'
}

/** Checks a wallet. If a required sanctions list is missing, the result is `unknown` and nothing is paid. */
async function screen(ctx: Context, wallet: Wallet): Promise<'clear' | 'sanctioned' | 'unknown'> {
  try {
    return (await compliance.of(ctx).isSanctioned(wallet)) ? 'sanctioned' : 'clear'
  } catch (error) {
    ctx.log.warn({ source: 'payouts', err: String(error) }, 'a payout waits for a sanctions list')
    return 'unknown'
  }
}

/** Whether an unsent payout must wait, in its account, while its owner is suspended. Refunds are always sent. */
async function waitsForStanding(ctx: Context, { kind, source, attempts }: PayoutRow): Promise<boolean> {
  if (kind === 'refund' || attempts > 0) return false
  return isSuspended(await ctx.store.table(participants).get(accountOwner(source)))
}

/** Takes back a payout to a sanctioned wallet if it was not sent yet. Otherwise postpones it. */
async function holdBack(ctx: Context, payout: PayoutRow): Promise<keyof PayoutCounts> {
  if (payout.attempts === 0) {
    // A withdrawal returns to the balance. A sanctioned wallet cannot spend its balance.
    await step(ctx, payout.id, { event: payout.kind === 'withdrawal' ? 'fail' : 'block', error: SANCTIONED })
    return 'failed'
  }
  await step(ctx, payout.id, { event: 'postpone', error: SANCTIONED })
  return 'waiting'
}

async function transfer(ctx: Context, order: PayoutOrder): Promise<{ transaction: string } | TransferFailure> {
  try {
    const result = await ctx.chain.transfer(order)
    return result.ok ? { transaction: result.transaction } : result.failure
  } catch (error) {
    ctx.log.warn({ source: 'payouts', payout: order.id, err: String(error) }, 'the chain did not answer')
    return 'unavailable'
  }
}

/** One step of a payout in its own transaction; undefined if another run made the step first. */
function step(ctx: Context, id: string, { ...facts }: Omit<PayoutStep, 'at'>): Promise<PayoutRow | undefined> {
  return commit(ctx, async (t, draw) => {
    const row = await t.table(payouts).getForUpdate(id)
    if (!row || !findTransition(payoutMachine, { event: facts.event, from: payoutState(row), by: 'system' })) {
      return undefined
    }
    const at = ctx.clock.now()
    const changed = await applyPayoutStep(t, draw, { row, step: { ...facts, at } })
    if (facts.event !== 'review' && !changed.open) await follow(t, draw, { row, at })
    return changed
  })
}

function refOf({ id }: PayoutRow): Ref {
  return { kind: 'payout', id }
}

/**
 * Opens new payouts after a payout has ended: one of its money if that was blocked, and one of a refund now due. A
 * failed withdrawal is not repeated, because its owner can withdraw again. The settlement cron repeats failed
 * settlements that were not blocked.
 */
async function follow(t: Tx, draw: Draw, { row, at }: { row: PayoutRow; at: number }): Promise<void> {
  const { kind, wallet, source, amount } = row
  const anew = { kind, wallet, source, ref: refOf(row), at }
  if (row.blocked && kind === 'settlement') await openPayout(t, draw, anew)
  // All payees share the source account, so this payee gets only the amount of its blocked payout.
  if (row.blocked && kind === 'splitter') await openPayout(t, draw, { ...anew, amount })
  await openRefund(t, draw, { wallet, ref: refOf(row), at })
}

/** Unblocks payouts whose wallet was cleared of sanctions. New payouts then send the money. */
async function reviewBlocked(ctx: Context): Promise<void> {
  for (;;) {
    const { rows } = await ctx.store.table(payouts).page('blocked', [], { limit: PAYOUT_PAGE })
    const due = rows.filter((row) => (row.next_attempt_at ?? 0) <= ctx.clock.now())
    for (const row of due) await review(ctx, row)
    // A reviewed payout leaves the front of the index, so the next page has other payouts.
    if (due.length < PAYOUT_PAGE) return
  }
}

async function review(ctx: Context, row: PayoutRow): Promise<void> {
  const isClear = (await screen(ctx, row.wallet)) === 'clear'
  // While wallets have got more than the books owe them, the money of found payments may be what paid them.
  const mayBeSpent = row.ref_kind === FOUND && (await ctx.store.read(advancedSum)) > 0n
  if (!isClear || mayBeSpent) await step(ctx, row.id, { event: 'review' })
  // Unblock a payee's share only if it can be sent immediately. In the revenue account it would be divided again.
  else if (row.kind === 'splitter' && (await ctx.store.read((t) => openPayoutOf(t, row.wallet))))
    await step(ctx, row.id, { event: 'review', waitMs: BUSY_REVIEW_MS })
  else await step(ctx, row.id, { event: 'unblock' })
}

/** Makes a wallet's blocked payouts due after it is cleared of sanctions, so that the next run returns their money. */
export async function reviewKept(t: Tx, wallet: Wallet, at: number): Promise<void> {
  const { rows } = await t.table(payouts).page('blocked_wallet', [wallet], { limit: MAX_KEPT })
  for (const { id } of rows) {
    const row = await t.table(payouts).getForUpdate(id)
    if (row?.blocked) await t.table(payouts).put({ ...row, next_attempt_at: at, updated_at: at })
  }
}
