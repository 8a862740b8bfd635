import { formatAmount } from '../../../core/money.ts'
import { bold, cyan, green } from '../../../text/text.ts'
import type { Io } from '../../io.ts'
import type { Payment } from '../../wallet/paying.ts'
import { disputeText } from './dispute.ts'
import type { FetchedJob } from './jobs.ts'

/** A buyer's word on a delivery, with what was paid for the call. */
export function changedJob({ answer, payment }: { readonly answer: FetchedJob; readonly payment: Payment }) {
  return { ...answer, call_payment: shown(payment) }
}

function shown({ method, amount }: Payment) {
  return { method, amount: formatAmount(amount), asset: 'USDC' }
}

type Changed = ReturnType<typeof changedJob>

export function showChanged(what: string, job: Changed, io: Io): void {
  const { escrow, dispute, call_payment: paid } = job
  io.line(`${green('✓')} ${what}   ${bold(job.job_id)}   ${job.status}   paid $${paid.amount} for the call`)
  if (escrow && escrow.status !== 'none')
    io.line(`  escrow    ${escrow.status}${escrow.next_event ? `, next ${escrow.next_event}` : ''}`)
  if (dispute) io.line(`  dispute   ${disputeText(dispute)}`)
  io.note(`  next: ${cyan(io.hint(`souk jobs view ${job.job_id}`))}`)
}
