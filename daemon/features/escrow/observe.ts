import type { Hex } from '../../../src/core/hex.ts'
import type { EscrowDeal, EscrowEnd } from '../../ports/chain/escrow.ts'
import type { Draw, Tx } from '../../store/port.ts'
import { leftContract } from './contract.ts'
import { anew, dropped } from './deal.ts'
import { followed } from './next-act.ts'
import { type DealAct, type DealRow, deals } from './rows.ts'

export function differs(deal: DealRow, seen: EscrowDeal): boolean {
  if (deal.taken || deal.state !== seen.state) return true
  return seen.state === 'held' && (deal.closed !== seen.timeoutClosed || deal.deadline !== Number(seen.deadline))
}

/** Whether the money has left the contract, by whatever call. */
export function isEnded({ state }: EscrowDeal): boolean {
  return state !== 'none' && state !== 'held'
}

/** Records the contract's state for a deal whose money has not left the contract. */
export async function noteSeen(t: Tx, { id, seen }: { id: string; seen: EscrowDeal }): Promise<void> {
  const deal = await t.table(deals).getForUpdate(id)
  if (!deal?.open || isEnded(seen) || !differs(deal, seen)) return
  const { state } = seen
  if (state === 'none') {
    // The chain lost the deposit, or this node has not seen it. Send it again under the same id.
    await t.table(deals).put(anew({ ...deal, state, sent: true }))
    return
  }
  const known = { ...deal, state, closed: seen.timeoutClosed, deadline: Number(seen.deadline), sent: true }
  await t.table(deals).put(anew(known))
}

type EndNote = {
  readonly id: string
  /** Undefined if the chain still shows the money in the contract. */
  readonly end: EscrowEnd | undefined
  /** Business time. */
  readonly at: number
  /** Time of the next check, machine milliseconds. */
  readonly again: number
}

/**
 * Records that an external call moved the money. A call whose block is not final does not count yet: if a
 * reorganisation drops the block, nobody resends the call. A final call that paid the buyer also ends the job.
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
    const last_error = `an external call released the funds (${state}); the block is not final yet`
    const waiting = { next_attempt_at: again, attempts: 0, last_error }
    // The contract held the money before the external call, even if the response to the deposit was lost.
    const held = { state: 'held', sent: true } as const
    await t.table(deals).put(followed({ ...rest, ...held, ...waiting, taken: { state, transaction } }))
    return
  }
  await t.table(deals).put(anew({ ...rest, state, open: false }))
  if (state === 'timed_out' || state === 'withdrawn') await leftContract.call(t, draw, { jobId: id, how: state, at })
}

/** The contract's state after each way to end a deal. */
export const stateAfter = { release: 'released', refund: 'refunded', resolve: 'split' } as const

type Done = { readonly act: DealAct; readonly transaction?: Hex | undefined; readonly change?: Partial<DealRow> }

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

/** Records that the contract paid the buyer on request; call it in the transaction that ends the job. */
export async function noteWithdrawn(t: Tx, id: string, transaction: Hex | undefined): Promise<void> {
  const deal = await t.table(deals).getForUpdate(id)
  if (deal) await noteDone(t, deal, { act: 'emergencyWithdraw', transaction })
}

type PutOff = { readonly error: string; readonly at: number; readonly change?: Partial<DealRow> }

/** Records a failed action; it is retried at `at`. */
export async function notePutOff(t: Tx, id: string, { error, at, change = {} }: PutOff): Promise<void> {
  const deal = await t.table(deals).getForUpdate(id)
  if (!deal?.open) return
  const tried = { ...deal, ...change, next_attempt_at: at, attempts: deal.attempts + 1, last_error: error }
  const next = followed(tried)
  await t.table(deals).put(next.state === 'none' && next.wants_end !== null && !next.sent ? dropped(next) : next)
}

/** Stores a deposit's terms. They cannot change later, since the deposit may be in flight after this transaction. */
export async function noteDeposit(t: Tx, id: string, terms: Pick<DealRow, 'deadline' | 'covers' | 'refund_to'>) {
  const deal = await t.table(deals).getForUpdate(id)
  if (!deal?.open || deal.state !== 'none' || deal.sent || deal.wants_end !== null) return deal
  return t.table(deals).put(followed({ ...deal, ...terms, sent: true }))
}

/** Makes a deal's postponed action due now. */
export async function noteDue(t: Tx, id: string): Promise<void> {
  const deal = await t.table(deals).getForUpdate(id)
  if (deal?.due) await t.table(deals).put({ ...deal, next_attempt_at: 0 })
}
