import type { Problem } from '../../client/link.ts'
import type { Job } from '../../nouns/jobs.ts'
import { dollars, microOf } from '../../text/columns.ts'
import { clip, safe } from '../../text/text.ts'
import { type DialogSpec, type Field, needed, reasonField, type Values } from '../shell/dialog.ts'
import { shellCommand } from '../shell/pause-dialog.ts'
import { ask } from '../shell/queries.ts'
import type { Host } from '../shell/screen.ts'
import { shownJob } from './facts.ts'
import { resolveJob } from './rows.ts'

const REASON_COLUMNS = 100
const outcomes = ['release', 'refund', 'split'] as const

/** Dialog that decides a dispute. The money moves immediately, and this cannot be undone. */
export function rulingDialog(host: Host, job: Job): DialogSpec {
  const { service, amount, providerAmount, fee } = shownJob(job)
  const what = `${job.id}  ${clip(service, 30)}`
  return {
    title: 'DECIDE A DISPUTE',
    about: what,
    amount,
    facts: (values) => [
      ['job', what],
      ['dispute', `${job.dispute?.category ?? ''}: ${clip(safe(job.dispute?.reason ?? ''), REASON_COLUMNS)}`],
      ['held', `${amount} = ${providerAmount} for the provider + ${fee} fee`],
      ['What happens', effect(job, values)],
    ],
    fields: [outcomeField, buyerField(job), reason],
    verb: 'Decide',
    command: ({ outcome = '', buyer = '', reason = '' }) => {
      const split = outcome === 'split' ? ['--buyer-amount', amountOf(buyer) || '…'] : []
      const words = ['--outcome', outcome || '…', ...split, '--reason', reason.trim() || '…']
      return shellCommand(host, ['admin', 'jobs', 'resolve', job.id, ...words])
    },
    send: async (values) => {
      const { buyer = '', reason = '' } = values
      const outcome = outcomes.find((one) => one === values.outcome)
      if (outcome === undefined) return { ok: false, problem: undecided }
      const ruling = { outcome, buyerAmount: outcome === 'split' ? amountOf(buyer) : '', reason: reason.trim() }
      const answer = await resolveJob(host.link, job.id, ruling)
      if (!answer.ok) return answer
      return { ok: true, value: `Now ${answer.value.status}: ${effect(job, values)}.  → v all, tab money` }
    },
  }
}

const undecided: Problem = { kind: 'failed', sentence: 'Choose an outcome.', facts: [], next: [] }

const outcomeField = needed({ name: 'outcome', label: 'Outcome', choices: outcomes }, 'an outcome')

function buyerField(job: Job): Field {
  const { amount } = shownJob(job)
  return {
    name: 'buyer',
    label: `Amount for the buyer, out of ${amount} (only for a split)`,
    check: (value, { outcome }) => {
      if (outcome !== 'split') return value === '' ? undefined : 'only a split takes an amount'
      const [part, whole] = [microOf(value), microOf(amount)]
      return part === undefined || whole === undefined || part > whole ? `needs 0 to ${amount}` : undefined
    },
  }
}

const reason = reasonField('Reason (both parties read it)')

function amountOf(typed: string): string {
  return typed.replace('$', '')
}

function effect(job: Job, { outcome, buyer = '' }: Values): string {
  const { amount, providerAmount } = shownJob(job)
  if (outcome === 'release') return `the provider gets ${providerAmount}`
  if (outcome === 'refund') return `the buyer gets ${amount} back`
  const [part, whole] = [microOf(buyer), microOf(amount)]
  if (outcome !== 'split' || part === undefined || whole === undefined || part > whole) return 'money moves, final'
  return `${dollars(part)} to the buyer, ${dollars(whole - part)} counts as a sale`
}

/** Whether the job holds money that can be refunded. */
export function canGiveBack({ escrow }: Job): boolean {
  return escrow?.status === 'held'
}

/** Dialog that refunds the held money of a job immediately. This cannot be undone. */
export function withdrawDialog(host: Host, job: Job): DialogSpec {
  const { service, buyer, provider, amount } = shownJob(job)
  const what = `${job.id}  ${clip(service, 30)}`
  return {
    title: 'REFUND THE BUYER',
    about: what,
    amount,
    facts: () => [
      ['job', what],
      ['it is', job.status.replaceAll('_', ' ')],
      ['held', `${amount}, paid by ${buyer} for ${provider}`],
      ['What happens', `${buyer} is refunded ${amount}, ${provider} gets nothing, and the job ends`],
      ['Also', 'works even while escrow is paused; cannot be undone'],
    ],
    fields: [reason],
    verb: 'Give back',
    command: ({ reason = '' }) =>
      shellCommand(host, ['admin', 'jobs', 'emergency-withdraw', job.id, '--reason', reason.trim() || '…']),
    send: async ({ reason = '' }) => {
      const asked = { params: { id: job.id }, body: { reason: reason.trim() } }
      const answer = await ask(host.link, { name: 'withdrawJob', asked }, ({ status }) => status)
      if (!answer.ok) return answer
      return { ok: true, value: `Now ${answer.value}: ${buyer} gets ${amount} back.` }
    },
  }
}
