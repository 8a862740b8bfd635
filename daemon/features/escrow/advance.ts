import { type Usdc, usdc } from '../../../src/core/money.ts'
import { DAY_MS, MINUTE_MS, SECOND_MS, unixSeconds } from '../../../src/core/time.ts'
import type { Context } from '../../kernel/context.ts'
import type { EscrowAct, EscrowDeal, EscrowFailure, EscrowPort, EscrowResult } from '../../ports/chain/escrow.ts'
import { commit } from '../../store/draw.ts'
import { actOf } from './next-act.ts'
import { differs, isEnded, noteDeposit, noteDone, noteEnd, notePutOff, noteSeen, stateAfter } from './observe.ts'
import { type DealAct, type DealRow, deals } from './rows.ts'

/** Time after a job's deadline when the contract lets the buyer claim a refund. The marketplace refunds earlier. */
const BACKSTOP_MS = 7 * DAY_MS
/** Maximum time until a deadline that the contract accepts, minus a margin for the chain's clock. */
const LONGEST_WAIT_MS = 179 * DAY_MS
/** First retry delay. It doubles after each failure, up to `LONGEST_RETRY_MS`. */
const FIRST_RETRY_MS = SECOND_MS
const LONGEST_RETRY_MS = MINUTE_MS
const MAX_DOUBLINGS = 6
/** How often to check whether an external call is final. */
const AWAITED_MS = 10 * SECOND_MS
/** Maximum actions for one deal in a row, in case a node keeps contradicting itself. */
const MAX_STEPS = 8

export type Advancing = {
  readonly ctx: Context
  readonly port: EscrowPort
  /** Waits for the answer of the escrow port, unless the daemon stops first. */
  readonly unlessStopped: <T>(answer: Promise<T>) => Promise<T>
}

/** Performs all due actions of a deal, one by one. Postpones actions that fail. */
export async function advance(parts: Advancing, id: string): Promise<void> {
  for (let n = 0; n < MAX_STEPS; n += 1) {
    const deal = await parts.ctx.store.table(deals).get(id)
    if (!deal?.due || deal.next_attempt_at > parts.ctx.clock.wall()) return
    const act = actOf(deal)
    if (act) await step(parts, deal, act)
    else await seeEnd(parts, deal.id)
  }
  await putOff(parts, id, { error: 'the contract returns a different state on each read' })
}

async function step(parts: Advancing, known: DealRow, act: DealAct): Promise<void> {
  const { ctx, port, unlessStopped } = parts
  if (act === 'drop') return putOff(parts, known.id, { error: 'the job expired before the deposit' })
  const seen = await unlessStopped(port.dealOf(known.id))
  if (isEnded(seen)) {
    return isAsWanted(known, seen) ? ask(parts, known, act) : seeEnd(parts, known.id)
  }
  if (differs(known, seen)) return ctx.store.tx((t) => noteSeen(t, { id: known.id, seen }))
  if (act === 'deposit') return deposit(parts, known)
  if (act === 'extend') return extend(parts, known)
  return ask(parts, known, act)
}

/** Whether the contract has already ended the deal as the job wants, even if an external call did it. */
export function isAsWanted({ state, wants_end: end }: DealRow, seen: EscrowDeal): boolean {
  return state === 'held' && end !== null && seen.state === stateAfter[end]
}

async function ask(parts: Advancing, deal: DealRow, act: DealAct): Promise<void> {
  const { ctx, port, unlessStopped } = parts
  if (act === 'deposit' || act === 'drop' || act === 'extend') throw new Error(`${act} does not release funds`)
  const result = await unlessStopped(port.act(askedOf(act, deal)))
  if (!result.ok) return refused(parts, deal, result)
  if (isForeign(result) && deal.wants_end !== null) return seeEnd(parts, deal.id)
  return ctx.store.tx((t) => noteDone(t, deal, { act, transaction: result.transaction }))
}

/** Whether an external transaction had already done the requested action. */
export function isForeign(result: EscrowResult & { ok: true }): boolean {
  return result.already && result.transaction === undefined
}

/** Reads how an external call ended a deal, and records it (see `noteEnd`). */
export async function seeEnd({ ctx, port, unlessStopped }: Advancing, id: string): Promise<void> {
  const end = await unlessStopped(port.endOf(id))
  const again = ctx.clock.wall() + AWAITED_MS
  await commit(ctx, (t, draw) => noteEnd(t, draw, { id, end, at: ctx.clock.now(), again }))
}

async function deposit(parts: Advancing, known: DealRow): Promise<void> {
  const { ctx, port, unlessStopped } = parts
  // A deposit that was never sent goes to the contract of today's pay-to key.
  const terms = { deadline: deadlineOf(ctx, known), covers: known.wants_deadline, refund_to: ctx.chain.payTo }
  // Store the terms before sending, so that a retry sends the same terms.
  const deal = await ctx.store.tx((t) => noteDeposit(t, known.id, terms))
  if (!deal?.sent || deal.deadline === null) return
  const { id: job, buyer, refund_to: refundTo, net, fee } = deal
  const asked = { job, buyer, refundTo, net, fee, deadline: BigInt(deal.deadline) }
  const result = await unlessStopped(port.deposit(asked))
  if (result.ok) {
    return ctx.store.tx((t) => noteDone(t, deal, { act: 'deposit', transaction: result.transaction }))
  }
  return refused(parts, deal, result)
}

async function extend(parts: Advancing, deal: DealRow): Promise<void> {
  const { ctx, port, unlessStopped } = parts
  const deadline = Math.max(deadlineOf(ctx, deal), deal.deadline ?? 0)
  const change = { deadline, covers: deal.wants_deadline }
  if (deadline === deal.deadline) return ctx.store.tx((t) => noteDone(t, deal, { act: 'extend', change }))
  const result = await unlessStopped(port.act({ act: 'extend', job: deal.id, deadline: BigInt(deadline) }))
  if (!result.ok) return refused(parts, deal, result)
  return ctx.store.tx((t) => noteDone(t, deal, { act: 'extend', transaction: result.transaction, change }))
}

/** The contract's deadline in Unix seconds: machine time plus the job's remaining time plus `BACKSTOP_MS`. */
function deadlineOf({ clock }: Context, { wants_deadline: wanted }: DealRow): number {
  const left = wanted === null ? 0 : Math.max(0, wanted - clock.now())
  return unixSeconds(clock.wall() + Math.min(left + BACKSTOP_MS, LONGEST_WAIT_MS))
}

function askedOf(act: Exclude<DealAct, 'deposit' | 'drop' | 'extend'>, { id: job, to_buyer }: DealRow): EscrowAct {
  if (act !== 'resolve') return { act, job }
  const toBuyer: Usdc = to_buyer ?? usdc(0n)
  return { act, job, toBuyer }
}

const sentences: Readonly<Record<EscrowFailure, string>> = {
  paused: 'the contract is paused',
  ended: 'the contract released the funds to someone else',
  not_held: 'the contract does not hold the funds',
  other_terms: 'the contract holds the funds with different terms',
  refused: 'the contract rejects the call',
  unavailable: 'the chain does not answer',
}

async function refused(parts: Advancing, deal: DealRow, result: EscrowResult & { ok: false }): Promise<void> {
  const { failure, reason } = result
  const error = reason === undefined ? sentences[failure] : `${sentences[failure]}: ${reason}`
  // A refused deposit is not in flight, so its terms may change.
  const isSure = deal.state === 'none' && (failure === 'paused' || failure === 'refused')
  await putOff(parts, deal.id, { error, ...(isSure ? { change: { sent: false } } : {}) })
}

type Delay = { readonly error: string; readonly change?: Partial<DealRow> }

export async function putOff({ ctx }: Advancing, id: string, { error, change = {} }: Delay): Promise<void> {
  const deal = await ctx.store.table(deals).get(id)
  const doublings = Math.min(deal?.attempts ?? 0, MAX_DOUBLINGS)
  const at = ctx.clock.wall() + Math.min(FIRST_RETRY_MS * 2 ** doublings, LONGEST_RETRY_MS)
  await ctx.store.tx((t) => notePutOff(t, id, { error, at, change }))
}
