import { createHash } from 'node:crypto'
import type { Wallet } from '../src/core/hex.ts'
import { DAY_MS, HOUR_MS, SECOND_MS } from '../src/core/time.ts'
import type { PayoutKind, PayoutRow } from '../src/model/payout.ts'
import type { TransferFailure } from './ports/chain.ts'
import { account, postings } from './rules/books.ts'
import { balanceOf, post } from './store/books.ts'
import { payouts } from './store/collections.ts'
import { commit, type Draw } from './store/draw.ts'
import { emit } from './store/event-log.ts'
import type { ReadTx, Tx } from './store/port.ts'
import type { World } from './world.ts'

const PAYOUT_PAGE = 100
/** Wait before the next attempt: doubled each time, up to the longest. */
const FIRST_RETRY_MS = SECOND_MS
const LONGEST_RETRY_MS = HOUR_MS
const MAX_DOUBLINGS = 20
/** How often a blocked wallet is looked at again. */
const BLOCKED_REVIEW_MS = DAY_MS

const SANCTIONED = 'the wallet is sanctioned'

type Ref = { readonly kind: string; readonly id: string }
type NewPayout = {
  readonly kind: PayoutKind
  readonly wallet: Wallet
  /** Account whose whole balance is paid out. */
  readonly source: string
  readonly ref: Ref
  readonly at: number
}

/**
 * Sets an account's balance aside for a wallet, in the transaction that made it due.
 * @returns null when nothing is due, or while another payout of the wallet is open: what waits in
 * the account is then taken up when that one ends.
 */
export async function openPayout(t: Tx, draw: Draw, payout: NewPayout): Promise<PayoutRow | null> {
  const { kind, wallet, source, ref, at } = payout
  const amount = await balanceOf(t, source)
  if (amount === 0n || (await openPayoutOf(t, wallet))) return null
  const id = draw.id('payout')
  const legs = postings.payoutOpened({ id, from: source, amount })
  await post(t, draw, { kind: 'payout', ref: { kind: 'payout', id }, legs, at })
  return t.table(payouts).insert({
    id,
    kind,
    wallet,
    amount,
    source,
    ref_kind: ref.kind,
    ref_id: ref.id,
    status: 'created',
    open: true,
    blocked: false,
    bytes: null,
    hash: null,
    attempts: 0,
    last_error: null,
    next_attempt_at: at,
    transaction: null,
    created_at: at,
    updated_at: at,
  })
}

export async function openPayoutOf(t: ReadTx, wallet: Wallet): Promise<PayoutRow | undefined> {
  return (await t.table(payouts).page('open_wallet', [wallet], { limit: 1 })).rows[0]
}

/** Pays out all that a wallet is owed in refunds. */
export function openRefund(
  t: Tx,
  draw: Draw,
  refund: { wallet: Wallet; ref: Ref; at: number },
): Promise<PayoutRow | null> {
  return openPayout(t, draw, { ...refund, kind: 'refund', source: account.refund(refund.wallet) })
}

export type PayoutCounts = { confirmed: number; waiting: number; failed: number }

/**
 * Drives every payout that is due; safe to stop at any point and to run again, also beside itself:
 * each step is one transaction that looks at the row's status, and the chain pays an id once.
 * Refunds go on while paid activity is paused, other payouts wait (decisions §12).
 */
export async function runPayouts(world: World): Promise<PayoutCounts> {
  const counts: PayoutCounts = { confirmed: 0, waiting: 0, failed: 0 }
  await reviewBlocked(world)
  let after: string | undefined
  for (;;) {
    const table = world.store.table(payouts)
    const page = await table.page('due', [], { limit: PAYOUT_PAGE, ...(after === undefined ? {} : { after }) })
    const due = page.rows.filter((row) => (row.next_attempt_at ?? 0) <= world.clock.now())
    for (const row of due) {
      if (row.kind !== 'refund' && world.flags().paused) continue
      counts[await drive(world, row)] += 1
    }
    if (due.length < page.rows.length || !page.more || page.cursor === null) return counts
    after = page.cursor
  }
}

async function drive(world: World, payout: PayoutRow): Promise<keyof PayoutCounts> {
  if (await world.isSanctioned(payout.wallet)) return holdBack(world, payout)
  await sign(world, payout.id)
  const sent = await markSent(world, payout.id)
  if (!sent) return 'waiting'
  const { id, wallet, amount } = sent
  const result = await transfer(world, { id, to: wallet, amount })
  if (typeof result === 'object') {
    await confirm(world, id, result.transaction)
    return 'confirmed'
  }
  if (result === 'id_reused') {
    await block(world, id, 'the chain knows another payout by this id')
    return 'failed'
  }
  await postpone(world, id, result)
  return 'waiting'
}

/** What was sent may have arrived: only what never was can be taken back. */
async function holdBack(world: World, payout: PayoutRow): Promise<keyof PayoutCounts> {
  if (payout.attempts === 0) {
    await block(world, payout.id, SANCTIONED)
    return 'failed'
  }
  await postpone(world, payout.id, SANCTIONED)
  return 'waiting'
}

async function transfer(
  world: World,
  order: { id: string; to: Wallet; amount: PayoutRow['amount'] },
): Promise<{ transaction: string } | TransferFailure> {
  try {
    const result = await world.chain.transfer(order)
    return result.ok ? { transaction: result.transaction } : result.failure
  } catch (error) {
    world.log.warn({ source: 'payouts', payout: order.id, err: String(error) }, 'the chain did not answer')
    return 'unavailable'
  }
}

type Change = (t: Tx, draw: Draw, step: { row: PayoutRow; at: number }) => Promise<Partial<PayoutRow> | undefined>

/** One step of an open payout in a transaction; undefined when it ended meanwhile, or the step has nothing to do. */
function step(world: World, id: string, change: Change): Promise<PayoutRow | undefined> {
  return commit(world, async (t, draw) => {
    const row = await t.table(payouts).getForUpdate(id)
    if (!row?.open) return undefined
    const at = world.clock.now()
    const patch = await change(t, draw, { row, at })
    return patch && t.table(payouts).put({ ...row, ...patch, updated_at: at })
  })
}

/** Fixes the order: from here every attempt sends the same bytes. */
function sign(world: World, id: string): Promise<unknown> {
  return step(world, id, async (_t, _draw, { row }) => {
    if (row.status !== 'created') return undefined
    const bytes = JSON.stringify({ id: row.id, to: row.wallet, amount: row.amount.toString() })
    return { status: 'signed', bytes, hash: createHash('sha256').update(bytes).digest('hex') }
  })
}

function markSent(world: World, id: string): Promise<PayoutRow | undefined> {
  return step(world, id, async (_t, _draw, { row }) => ({ status: 'sent', attempts: row.attempts + 1 }))
}

function confirm(world: World, id: string, transaction: string): Promise<unknown> {
  return step(world, id, async (t, draw, { row, at }) => {
    const ref = { kind: 'payout', id }
    await post(t, draw, { kind: 'payout_confirmed', ref, legs: postings.payoutConfirmed(row), at })
    await announce(t, draw, { row, at, type: 'payout.confirmed' })
    await end(t, { row, at, status: 'confirmed', transaction })
    await openNext(t, draw, { row, at })
    return undefined
  })
}

type End = { row: PayoutRow; at: number; status: 'confirmed' | 'failed' } & Partial<PayoutRow>

async function end(t: Tx, { row, at, ...change }: End): Promise<void> {
  await t
    .table(payouts)
    .put({ ...row, ...change, open: false, next_attempt_at: change.next_attempt_at ?? null, updated_at: at })
}

/** Refunds that came due while this one was open. */
async function openNext(t: Tx, draw: Draw, { row, at }: { row: PayoutRow; at: number }): Promise<void> {
  await openRefund(t, draw, { wallet: row.wallet, ref: { kind: 'payout', id: row.id }, at })
}

/** The money is kept for a wallet that cannot be paid, and shows among the holds. */
function block(world: World, id: string, reason: string): Promise<unknown> {
  return step(world, id, async (t, draw, { row, at }) => {
    const ref = { kind: 'payout', id }
    await post(t, draw, {
      kind: 'payout_failed',
      ref,
      legs: postings.payoutFailed({ id, from: row.source, amount: row.amount }),
      at,
    })
    await post(t, draw, {
      kind: 'blocked',
      ref,
      legs: postings.blocked({ from: row.source, wallet: row.wallet, amount: row.amount }),
      at,
    })
    await announce(t, draw, { row, at, type: 'payout.blocked' })
    const next_attempt_at = at + BLOCKED_REVIEW_MS
    await end(t, { row, at, status: 'failed', blocked: true, last_error: reason, next_attempt_at })
    await openNext(t, draw, { row, at })
    return undefined
  })
}

/** Nothing is known to have failed: the same order is sent again later. */
function postpone(world: World, id: string, error: string): Promise<unknown> {
  return step(world, id, async (_t, _draw, { row, at }) => {
    const waitMs = Math.min(FIRST_RETRY_MS * 2 ** Math.min(row.attempts, MAX_DOUBLINGS), LONGEST_RETRY_MS)
    return { last_error: error, next_attempt_at: at + waitMs }
  })
}

/** Blocked payouts of wallets that may be paid again go back to where they waited, and out anew. */
async function reviewBlocked(world: World): Promise<void> {
  for (;;) {
    const { rows } = await world.store.table(payouts).page('blocked', [], { limit: PAYOUT_PAGE })
    const due = rows.filter((row) => (row.next_attempt_at ?? 0) <= world.clock.now())
    for (const row of due) {
      if (await world.isSanctioned(row.wallet)) await reviewLater(world, row.id)
      else await unblock(world, row.id)
    }
    // Each one looked at has left the front of the index.
    if (due.length < PAYOUT_PAGE) return
  }
}

function reviewLater(world: World, id: string): Promise<void> {
  return commit(world, async (t) => {
    const row = await t.table(payouts).getForUpdate(id)
    if (!row?.blocked) return
    const at = world.clock.now()
    await t.table(payouts).put({ ...row, next_attempt_at: at + BLOCKED_REVIEW_MS, updated_at: at })
  })
}

function unblock(world: World, id: string): Promise<void> {
  return commit(world, async (t, draw) => {
    const row = await t.table(payouts).getForUpdate(id)
    if (!row?.blocked) return
    const at = world.clock.now()
    const legs = postings.unblocked({ to: row.source, wallet: row.wallet, amount: row.amount })
    await post(t, draw, { kind: 'unblocked', ref: { kind: 'payout', id }, legs, at })
    await t.table(payouts).put({ ...row, blocked: false, next_attempt_at: null, updated_at: at })
    await openPayout(t, draw, {
      kind: row.kind,
      wallet: row.wallet,
      source: row.source,
      ref: { kind: 'payout', id },
      at,
    })
  })
}

type Announcement = { row: PayoutRow; at: number; type: 'payout.confirmed' | 'payout.blocked' }

async function announce(t: Tx, draw: Draw, { row, at, type }: Announcement): Promise<void> {
  await emit(t, draw, {
    type,
    participantId: null,
    subject: { kind: 'payout', id: row.id },
    data: { wallet: row.wallet, amount: row.amount.toString(), kind: row.kind },
    at,
  })
}
