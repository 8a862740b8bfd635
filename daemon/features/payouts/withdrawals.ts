import { AppError } from '../../../src/core/error.ts'
import type { Wallet } from '../../../src/core/hex.ts'
import { formatAmount, formatPrice, type Usdc, usdc } from '../../../src/core/money.ts'
import { DAY_MS, dayOf, SECOND_MS } from '../../../src/core/time.ts'
import { emit } from '../../events/event-log.ts'
import { type Context, paused } from '../../kernel/context.ts'
import type { ParticipantRow } from '../../kernel/rows.ts'
import { pauseOf, readPlatform } from '../../kernel/switches.ts'
import { everyRow } from '../../store/each-page.ts'
import type { Draw, ReadTx, Tx } from '../../store/port.ts'
import { openPayout, openPayoutOf } from './payouts.ts'
import { gasDays, type PayoutRow } from './rows.ts'

/* Gas actions make the operator pay gas, for no fee: withdrawals, and refunds after a cancel (decisions §4). */

export const GAS_ACTS_A_DAY = 20
/** Minimum on-chain withdrawal. A smaller one must empty the balance, and is possible once a day for each wallet. */
export const SMALLEST_ON_CHAIN = usdc(1_000_000n)

type Machine = Pick<Context, 'chain' | 'clock'>

export function costsGas({ chain }: Pick<Context, 'chain'>): boolean {
  return chain.status !== undefined
}

/** The operator is notified when all wallets together exceed this number of gas actions on one day. */
export const GAS_ACTS_TOLD = 100
const PAGE_ROWS = 1_000

export async function gasActsToday({ store, clock }: Pick<Context, 'store' | 'clock'>): Promise<number> {
  const today = { index: 'day', prefix: [dayOf(clock.wall())], limit: PAGE_ROWS }
  return (await everyRow(store.table(gasDays), today)).reduce((sum, { acts }) => sum + acts, 0)
}

type GasAct = {
  readonly wallet: Wallet
  /** Whether the action withdraws a whole balance below `SMALLEST_ON_CHAIN`. */
  readonly empties?: boolean
}

/**
 * Counts an action that costs gas, in the action's transaction. Does nothing if gas is free.
 * @throws AppError `rate_limited` if the wallet has used up its actions of the day. Its money then stays where it is.
 */
export async function countGasAct(t: Tx, machine: Machine, { wallet, empties = false }: GasAct): Promise<void> {
  if (!costsGas(machine)) return
  const wall = machine.clock.wall()
  const day = dayOf(wall)
  const id = `${day}:${wallet}`
  const held = await t.table(gasDays).getForUpdate(id)
  const { acts, emptied } = held ?? { acts: 0, emptied: false }
  const retryAfter = Math.ceil(((day + 1) * DAY_MS - wall) / SECOND_MS)
  if (acts >= GAS_ACTS_A_DAY) {
    const sentence = `A wallet can withdraw or cancel ${GAS_ACTS_A_DAY} times a day: nothing was changed, try again tomorrow (UTC).`
    throw new AppError('rate_limited', sentence, { retryAfter })
  }
  if (empties && emptied) {
    const sentence = `A wallet can withdraw less than ${formatPrice(SMALLEST_ON_CHAIN)} only once a day: nothing was changed, try again tomorrow (UTC).`
    throw new AppError('rate_limited', sentence, { retryAfter })
  }
  await t.table(gasDays).put({ id, day, acts: acts + 1, emptied: emptied || empties })
}

/** @throws AppError 503 while paid activity is paused. Call it in the transaction that moves the money. */
export async function refusePaused(t: ReadTx): Promise<void> {
  const platform = await readPlatform(t)
  if (platform.paused_at !== null) throw paused(pauseOf(platform))
}

type Withdrawal = {
  readonly participant: Pick<ParticipantRow, 'id' | 'wallet'>
  readonly kind: Extract<PayoutRow['kind'], 'withdrawal' | 'referral'>
  readonly source: string
  readonly amount: Usdc
  /** Whether the withdrawal takes a whole balance that is below the minimum. */
  readonly empties?: boolean
  readonly now: number
  readonly ctx: Pick<Context, 'chain' | 'clock'>
}

/**
 * Sets a participant's money aside for its wallet. The refund cron sends it.
 * @throws AppError 409 while another payout of the wallet is open, 429 after the daily limit.
 */
export async function openWithdrawal(
  t: Tx,
  draw: Draw,
  { participant, kind, source, amount, empties = false, now, ctx }: Withdrawal,
): Promise<{ payout: PayoutRow; transactionId: string }> {
  const { id, wallet } = participant
  const open = await openPayoutOf(t, wallet)
  if (open) throw stillOpen(open)
  await countGasAct(t, ctx, { wallet, empties })
  const subject = { kind: 'participant', id }
  const transactionId = draw.id('transaction')
  const payout = await openPayout(t, draw, { kind, wallet, source, amount, ref: subject, transactionId, at: now })
  if (!payout) throw new Error(`no funds of ${source} are reserved`)
  const data = { amount: formatAmount(amount), to: 'wallet', payout_id: payout.id, transaction_id: transactionId }
  const type = kind === 'withdrawal' ? 'balance.withdrawn' : 'referral.withdrawn'
  await emit(t, draw, { type, participantId: id, subject, data, at: now })
  return { payout, transactionId }
}

function stillOpen({ id, amount, status }: PayoutRow): AppError {
  const message = `Payout ${id} of $${formatAmount(amount)} to this wallet is not finished (${status}): withdraw again afterwards.`
  return new AppError('conflict', message, { extra: { payout_id: id, payout_status: status } })
}
