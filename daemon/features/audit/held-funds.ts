import { isAddress, toWallet } from '../../../src/core/hex.ts'
import { type Usdc, usdc } from '../../../src/core/money.ts'
import { HOUR_MS } from '../../../src/core/time.ts'
import { type AccountKind, accountOwner, type HeldKind } from '../../../src/model/ledger.ts'
import { isSuspended, participants } from '../../kernel/rows.ts'
import type { ReadTx } from '../../store/port.ts'
import { deciderOf, deciderSentence } from '../jobs/dispute-decision.ts'
import { type JobRow, jobs } from '../jobs/rows.ts'
import type { AccountRow } from '../ledger/rows.ts'
import { payments } from '../payments/rows.ts'
import { FULFIL_PATIENCE_MS } from '../payments/settle.ts'
import { openPayoutOf } from '../payouts/payouts.ts'
import { type PayoutRow, payouts } from '../payouts/rows.ts'

/** Held money with its owner and next event. Money without an owner is a fault of the books. */
export type HeldFunds = {
  readonly account: string
  readonly kind: AccountKind
  readonly amount: Usdc
  readonly owner: { readonly kind: string; readonly id: string } | null
  readonly reason: string
  readonly next_event: string | null
  /** Business time. */
  readonly next_event_at: number | null
  /** The amount that the owner's record states for the account; null if the record states none. */
  readonly expected: Usdc | null
}

type Facts = Omit<HeldFunds, 'account' | 'kind' | 'amount'>

const orphan: Facts = { owner: null, reason: 'no owner', next_event: null, next_event_at: null, expected: null }

export async function heldFundsOf(t: ReadTx, row: AccountRow & { kind: HeldKind }, now: number): Promise<HeldFunds> {
  const facts = await factsOf[row.kind](t, accountOwner(row.id), now)
  return { account: row.id, kind: row.kind, amount: row.balance, ...(facts ?? orphan) }
}

const factsOf: Readonly<Record<HeldKind, (t: ReadTx, id: string, now: number) => Promise<Facts | undefined>>> = {
  async esc(t, id) {
    const job = await t.table(jobs).get(id)
    if (!job) return undefined
    return {
      owner: { kind: 'job', id },
      reason: await reasonOf(t, job),
      next_event: job.next_event,
      next_event_at: job.next_event_at,
      expected: job.escrow_status === 'held' ? job.amount : null,
    }
  },

  async hold(t, id) {
    const payment = await t.table(payments).get(id)
    if (!payment?.open) return undefined
    return {
      owner: { kind: 'participant', id: payment.participant_id ?? payment.payer },
      reason: `${payment.endpoint} is ${payment.state}`,
      next_event: 'fulfilled or released',
      next_event_at: payment.created_at + FULFIL_PATIENCE_MS,
      expected: payment.price,
    }
  },

  async rfd(t, wallet) {
    const payout = isAddress(wallet) ? await openPayoutOf(t, toWallet(wallet)) : undefined
    return payout && { ...payoutFacts(payout, `part of payout ${payout.id}`), expected: null }
  },

  async out(t, id) {
    const payout = await t.table(payouts).get(id)
    return payout?.open ? payoutFacts(payout, `the payout is ${payout.status}`) : undefined
  },

  async refp(t, id, now) {
    if (!(await t.table(participants).get(id))) return undefined
    return {
      owner: { kind: 'participant', id },
      reason: 'earned, not yet due',
      next_event: 'referral-rewards',
      next_event_at: (Math.floor(now / HOUR_MS) + 1) * HOUR_MS,
      expected: null,
    }
  },

  async blk(t, wallet) {
    const { rows } = await t.table(payouts).page('blocked_wallet', [wallet], { limit: MAX_BLOCKED })
    const [first] = rows
    if (!first) return undefined
    return {
      owner: { kind: 'wallet', id: wallet },
      reason: first.last_error ?? 'payment failed',
      next_event: 'next check',
      next_event_at: first.next_attempt_at,
      expected: usdc(rows.reduce((sum, row) => sum + row.amount, 0n)),
    }
  },
}

async function reasonOf(t: ReadTx, job: JobRow): Promise<string> {
  const decider = deciderOf(job.dispute)
  if (job.status === 'disputed' && decider) return `the job is disputed. ${deciderSentence(decider)}`
  const isWaiting = job.status === 'verified' && isSuspended(await t.table(participants).get(job.provider_id))
  return isWaiting ? 'the job is verified; its provider is suspended' : `the job is ${job.status}`
}

const MAX_BLOCKED = 1_000

function payoutFacts(payout: PayoutRow, reason: string): Facts {
  return {
    owner: { kind: 'wallet', id: payout.wallet },
    reason: payout.last_error ? `${reason}: ${payout.last_error}` : reason,
    next_event: 'sent',
    next_event_at: payout.next_attempt_at,
    expected: payout.amount,
  }
}
