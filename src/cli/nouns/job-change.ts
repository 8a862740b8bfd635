import { formatAmount } from '../../core/money.ts'
import { bold, cyan, green } from '../../text/text.ts'
import type { Io } from '../io.ts'
import { type Payment, pay } from '../paying.ts'
import type { SessionHost } from '../session.ts'
import type { Job } from './jobs.ts'

type Change = {
  readonly verb: 'verify' | 'dispute'
  readonly job: string
  readonly body: Readonly<Record<string, unknown>>
}
type Host = SessionHost & { session(): ReturnType<typeof import('../session.ts').openSession> }

/** A buyer's word on a delivery, paid as such calls are. */
export async function changeJob(host: Host, { verb, job, body }: Change) {
  const session = await host.session()
  const path = `/v1/jobs/${encodeURIComponent(job)}/${verb}`
  const idempotencyKey = host.globals.idempotencyKey ?? crypto.randomUUID()
  const { answer, payment } = await pay(host, session, { method: 'POST', path, body, idempotencyKey })
  return { ...(answer.body as Job), call_payment: shown(payment) } // the answer of the row
}

function shown({ method, amount }: Payment) {
  return { method, amount: formatAmount(amount), asset: 'USDC' }
}

type Changed = Awaited<ReturnType<typeof changeJob>>

export function showChanged(what: string, job: Changed, io: Io): void {
  const { escrow, call_payment: paid } = job
  io.line(`${green('✓')} ${what}   ${bold(job.job_id)}   ${job.status}   paid $${paid.amount} for the call`)
  if (escrow && escrow.status !== 'none')
    io.line(`  escrow    ${escrow.status}${escrow.next_event ? `, next ${escrow.next_event}` : ''}`)
  io.note(`  next: ${cyan(`souk jobs view ${job.job_id}`)}`)
}
