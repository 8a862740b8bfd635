import { createHash } from 'node:crypto'
import type { Wallet } from '../../../src/core/hex.ts'
import { formatAmount } from '../../../src/core/money.ts'
import { compact } from '../../../src/core/record.ts'
import { DAY_MS, HOUR_MS, SECOND_MS } from '../../../src/core/time.ts'
import type { EventType } from '../../../src/model/event-types.ts'
import { accountOwner } from '../../../src/model/ledger.ts'
import { emit } from '../../events/event-log.ts'
import { transition } from '../../kernel/machine.ts'
import type { Draw, Tx } from '../../store/port.ts'
import { legsOf } from '../ledger/legs.ts'
import { post } from '../ledger/post.ts'
import { isOpenPayout, type PayoutEvent, type PayoutTransition, payoutMachine, payoutState } from './machine.ts'
import { type PayoutRow, payouts } from './rows.ts'

/** First retry delay. It doubles after each attempt, up to `LONGEST_RETRY_MS`. */
const FIRST_RETRY_MS = SECOND_MS
const LONGEST_RETRY_MS = HOUR_MS
const MAX_DOUBLINGS = 20
const KEY_REVIEW_MS = HOUR_MS
export const BLOCKED_REVIEW_MS = DAY_MS

export type PayoutStep = {
  readonly event: PayoutEvent
  readonly at: number
  readonly error?: string
  /** Review delay of a blocked payout (default: a day). */
  readonly waitMs?: number
  readonly from?: Wallet
  readonly transaction?: string
}

type Step = { readonly row: PayoutRow; readonly step: PayoutStep }

/**
 * The only way to change a payout's state. Writes row, money and event. The caller has locked the row in `t`.
 * @throws AppError 409 invalid_transition with `from`, `to` and `allowed`. Nothing is written then.
 */
export async function applyPayoutStep(t: Tx, draw: Draw, { row, step }: Step): Promise<PayoutRow> {
  const found: PayoutTransition = transition(payoutMachine, { event: step.event, from: payoutState(row), by: 'system' })
  await moveMoney(t, draw, { row, step, found })
  const changed = await t.table(payouts).put({ ...row, ...stateAfter(found), ...factsAfter(row, step) })
  await announce(t, draw, { row: changed, step })
  return changed
}

function stateAfter({ to }: PayoutTransition): Pick<PayoutRow, 'status' | 'blocked' | 'open'> {
  return { status: to === 'blocked' ? 'failed' : to, blocked: to === 'blocked', open: isOpenPayout(to) }
}

function factsAfter(row: PayoutRow, step: PayoutStep): Partial<PayoutRow> {
  const { at, error = row.last_error, transaction = null } = step
  switch (step.event) {
    case 'sign':
      return { ...orderOf(row), ...compact({ from: step.from }), updated_at: at }
    case 'lack_key':
      return { last_error: error, next_attempt_at: at + KEY_REVIEW_MS, updated_at: at }
    case 'send':
      return { attempts: row.attempts + 1, updated_at: at }
    case 'postpone':
      return { last_error: error, next_attempt_at: at + waitMs(row.attempts), updated_at: at }
    case 'block':
    case 'review':
      return { last_error: error, next_attempt_at: at + (step.waitMs ?? BLOCKED_REVIEW_MS), updated_at: at }
    case 'confirm':
      return { transaction, next_attempt_at: null, updated_at: at }
    case 'fail':
    case 'unblock':
      return { last_error: error, next_attempt_at: null, updated_at: at }
  }
}

/** The transfer order's exact bytes, and their hash. All attempts send the same bytes. */
function orderOf(row: PayoutRow): Pick<PayoutRow, 'bytes' | 'hash'> {
  const bytes = JSON.stringify({ id: row.id, to: row.wallet, amount: row.amount.toString() })
  return { bytes, hash: createHash('sha256').update(bytes).digest('hex') }
}

function waitMs(attempts: number): number {
  return Math.min(FIRST_RETRY_MS * 2 ** Math.min(attempts, MAX_DOUBLINGS), LONGEST_RETRY_MS)
}

type Move = Step & { readonly found: PayoutTransition }

async function moveMoney(t: Tx, draw: Draw, { row, step, found }: Move): Promise<void> {
  const { id, source, wallet, amount } = row
  const effects: readonly string[] = found.effects
  const entry = { ref: { kind: 'payout', id }, at: step.at }
  if (effects.includes('leave')) {
    await post(t, draw, { ...entry, kind: 'payout_confirmed', legs: legsOf.payoutConfirmed(row) })
  }
  if (effects.includes('give_back')) {
    const legs = legsOf.payoutFailed({ id, from: source, amount })
    await post(t, draw, { ...entry, kind: 'payout_failed', legs })
  }
  if (effects.includes('block')) {
    await post(t, draw, { ...entry, kind: 'blocked', legs: legsOf.blocked({ from: source, wallet, amount }) })
  }
  if (effects.includes('unblock')) {
    await post(t, draw, { ...entry, kind: 'unblocked', legs: legsOf.unblocked({ to: source, wallet, amount }) })
  }
}

const announced: Partial<Record<PayoutEvent, EventType>> = {
  confirm: 'payout.confirmed',
  fail: 'payout.failed',
  block: 'payout.blocked',
  unblock: 'payout.unblocked',
}

/** Emits the event of a step. Some steps have none. */
export async function announce(
  t: Tx,
  draw: Draw,
  { row, step }: { readonly row: PayoutRow; readonly step: Pick<PayoutStep, 'event' | 'at'> },
): Promise<void> {
  const type = announced[step.event]
  if (type === undefined) return
  await emit(t, draw, {
    type,
    participantId: isAskedFor(row) ? accountOwner(row.source) : null,
    subject: { kind: 'payout', id: row.id },
    data: { wallet: row.wallet, amount: formatAmount(row.amount), kind: row.kind },
    at: step.at,
  })
}

/** Whether the owner requested this payout. Only then is the owner notified of the result. */
function isAskedFor({ kind }: PayoutRow): boolean {
  return kind === 'withdrawal' || kind === 'referral'
}
