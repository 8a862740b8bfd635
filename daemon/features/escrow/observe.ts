import type { Hex } from '../../../src/core/hex.ts'
import type { EscrowDeal, EscrowEnd } from '../../ports/chain/escrow.ts'
import type { Draw } from '../../store/draw.ts'
import type { Tx } from '../../store/port.ts'
import { leftContract } from './contract.ts'
import { anew, dropped } from './deal.ts'
import { followed } from './next-act.ts'
import { type DealAct, type DealRow, deals } from './rows.ts'

/* What a deal's row learns, each in one transaction. */

/** Whether the contract is otherwise than the row has it. */
export function differs(deal: DealRow, seen: EscrowDeal): boolean {
  if (deal.taken || deal.state !== seen.state) return true
  return seen.state === 'held' && (deal.closed !== seen.timeoutClosed || deal.deadline !== Number(seen.deadline))
}

/** Whether the money has left, by whoever's call. */
export function isEnded({ state }: EscrowDeal): boolean {
  return state !== 'none' && state !== 'held'
}

/** The contract as it was read, while the money has not left it. */
export async function noteSeen(t: Tx, { id, seen }: { id: string; seen: EscrowDeal }): Promise<void> {
  const deal = await t.table(deals).getForUpdate(id)
  if (!deal?.open || isEnded(seen) || !differs(deal, seen)) return
  const { state } = seen
  if (state === 'none') {
    // A deposit that a reorganisation undid, or that this node has not seen yet, comes again under the same id.
    await t.table(deals).put(anew({ ...deal, state, sent: true }))
    return
  }
  const known = { ...deal, state, closed: seen.timeoutClosed, deadline: Number(seen.deadline), sent: true }
  await t.table(deals).put(anew(known))
}

type EndNote = {
  readonly id: string
  /** Undefined where the money has not left, as far as the chain has it now. */
  readonly end: EscrowEnd | undefined
  /** Business time. */
  readonly at: number
  /** When it is looked at again, epoch milliseconds of the machine. */
  readonly again: number
}

/**
 * The money left by somebody else's call. Nobody sends that again if its block is undone, so it counts once it is final:
 * then, where the contract paid the buyer by itself, the job ends with it. Until then nothing is asked for.
 */
export async function noteEnd(t: Tx, draw: Draw, { id, end, at, again }: EndNote): Promise<void> {
  const deal = await t.table(deals).getForUpdate(id)
  if (!deal?.open) return
  const { taken, ...rest } = deal
  if (end === undefined) {
    if (taken) await t.table(deals).put(anew(rest))
    return
  }
  const { state, transaction = null, isFinal } = end
  if (!isFinal) {
    const last_error = `a call of somebody else let the money go (${state}); it counts once its block is final`
    const waiting = { next_attempt_at: again, attempts: 0, last_error }
    // It was held there before, also where nobody here has read that: the reply to the deposit was lost.
    const held = { state: 'held', sent: true } as const
    await t.table(deals).put(followed({ ...rest, ...held, ...waiting, taken: { state, transaction } }))
    return
  }
  await t.table(deals).put(anew({ ...rest, state, open: false }))
  if (state === 'timed_out' || state === 'withdrawn') await leftContract.call(t, draw, { jobId: id, how: state, at })
}

/** How the contract stands after each end. */
export const stateAfter = { release: 'released', refund: 'refunded', resolve: 'split' } as const

type Done = { readonly act: DealAct; readonly transaction?: Hex | undefined; readonly change?: Partial<DealRow> }

/** The contract did what was asked. */
export async function noteDone(t: Tx, asked: DealRow, { act, transaction, change = {} }: Done): Promise<void> {
  const known = await t.table(deals).getForUpdate(asked.id)
  if (!known?.open) return
  const { taken: _, ...deal } = known
  const entry = transaction === undefined ? [] : [{ act, hash: transaction }]
  const isKnown = deal.transactions.some(({ hash }) => hash === transaction)
  const transactions = isKnown ? deal.transactions : [...deal.transactions, ...entry]
  await t.table(deals).put(anew({ ...deal, ...changeOf(act), ...change, transactions }))
}

function changeOf(act: DealAct): Partial<DealRow> {
  switch (act) {
    case 'deposit':
      return { state: 'held' }
    case 'markDelivered':
    case 'markDisputed':
      return { closed: true }
    case 'release':
    case 'refund':
    case 'resolve':
      return { state: stateAfter[act], open: false }
    case 'emergencyWithdraw':
      return { state: 'withdrawn', open: false }
    case 'extend':
    case 'drop':
      return {}
  }
}

/** The contract has paid the buyer as it was asked to; for the transaction that ends the job. */
export async function noteWithdrawn(t: Tx, id: string, transaction: Hex | undefined): Promise<void> {
  const deal = await t.table(deals).getForUpdate(id)
  if (deal) await noteDone(t, deal, { act: 'emergencyWithdraw', transaction })
}

type PutOff = { readonly error: string; readonly at: number; readonly change?: Partial<DealRow> }

/** It was not done, and is asked for again at `at`. */
export async function notePutOff(t: Tx, id: string, { error, at, change = {} }: PutOff): Promise<void> {
  const deal = await t.table(deals).getForUpdate(id)
  if (!deal?.open) return
  const tried = { ...deal, ...change, next_attempt_at: at, attempts: deal.attempts + 1, last_error: error }
  const next = followed(tried)
  await t.table(deals).put(next.state === 'none' && next.wants_end !== null && !next.sent ? dropped(next) : next)
}

/** From here on a deposit under these terms may be on its way: they stay as they are. */
export async function noteDeposit(t: Tx, id: string, terms: { deadline: number; covers: number | null }) {
  const deal = await t.table(deals).getForUpdate(id)
  if (!deal?.open || deal.state !== 'none' || deal.sent || deal.wants_end !== null) return deal
  return t.table(deals).put(followed({ ...deal, ...terms, sent: true }))
}

/** What was put off is due at once. */
export async function noteDue(t: Tx, id: string): Promise<void> {
  const deal = await t.table(deals).getForUpdate(id)
  if (deal?.due) await t.table(deals).put({ ...deal, next_attempt_at: 0 })
}
