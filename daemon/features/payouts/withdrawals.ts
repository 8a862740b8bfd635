import { AppError } from '../../../src/core/error.ts'
import { formatAmount, type Usdc } from '../../../src/core/money.ts'
import { emit } from '../../events/event-log.ts'
import { type Context, paused } from '../../kernel/context.ts'
import type { ParticipantRow } from '../../kernel/rows.ts'
import { pauseOf, readPlatform } from '../../kernel/switches.ts'
import type { Draw } from '../../store/draw.ts'
import type { ReadTx, Tx } from '../../store/port.ts'
import { countGasAct } from './gas.ts'
import { openPayout, openPayoutOf } from './payouts.ts'
import type { PayoutRow } from './rows.ts'

/** @throws AppError 503 while paid activity is paused. Call it in the transaction that moves the money. */
export async function refusePaused(t: ReadTx): Promise<void> {
  const platform = await readPlatform(t)
  if (platform.paused_at !== null) throw paused(pauseOf(platform))
}

type Withdrawal = {
  readonly participant: Pick<ParticipantRow, 'id' | 'wallet'>
  readonly kind: Extract<PayoutRow['kind'], 'withdrawal' | 'referral'>
  /** The participant's account. */
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
