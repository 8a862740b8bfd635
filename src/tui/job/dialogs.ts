import type { Problem } from '../../client/link.ts'
import { dollars, microOf } from '../../text/columns.ts'
import { clip } from '../../text/text.ts'
import { type DialogSpec, type Field, needed, reasonField, type Values } from '../shell/dialog.ts'
import { shellCommand } from '../shell/pause-dialog.ts'
import { ask } from '../shell/queries.ts'
import type { Host } from '../shell/screen.ts'
import { type JobOnScreen, readJob } from './facts.ts'
import { resolveJob } from './rows.ts'

const REASON_COLUMNS = 100
const outcomes = ['release', 'refund', 'split'] as const

/** Decides a dispute: money moves at once and for good. */
export function rulingDialog(host: Host, job: JobOnScreen): DialogSpec {
  return {
    title: 'DECIDE A DISPUTE',
    about: `${job.id}  ${clip(job.serviceName, 30)}`,
    amount: job.amount,
    facts: (values) => [
      ['job', `${job.id}  ${clip(job.serviceName, 30)}`],
      ['dispute', `${job.dispute?.category ?? ''}: ${clip(job.dispute?.reason ?? '', REASON_COLUMNS)}`],
      ['held', `${job.amount} = ${job.providerAmount} for the provider + ${job.fee} fee`],
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

const undecided: Problem = { kind: 'failed', sentence: 'It needs an outcome.', facts: [], next: [] }

const outcomeField = needed({ name: 'outcome', label: 'Outcome', choices: outcomes }, 'an outcome')

function buyerField({ amount }: JobOnScreen): Field {
  return {
    name: 'buyer',
    label: `Back to the buyer, of ${amount} (only for a split)`,
    check: (value, { outcome }) => {
      if (outcome !== 'split') return value === '' ? undefined : 'an amount is for a split only'
      const [part, whole] = [microOf(value), microOf(amount)]
      return part === undefined || whole === undefined || part > whole ? `needs 0 to ${amount}` : undefined
    },
  }
}

const reason = reasonField('Reason (both parties read it)')

function amountOf(typed: string): string {
  return typed.replace('$', '')
}

function effect({ amount, providerAmount }: JobOnScreen, { outcome, buyer = '' }: Values): string {
  if (outcome === 'release') return `the provider gets ${providerAmount}`
  if (outcome === 'refund') return `the buyer gets ${amount} back`
  const [part, whole] = [microOf(buyer), microOf(amount)]
  if (outcome !== 'split' || part === undefined || whole === undefined || part > whole) return 'money moves, final'
  return `${dollars(part)} to the buyer, ${dollars(whole - part)} as a sale`
}

/** Whether anything is held for a job that could go back. */
export function canGiveBack({ escrow }: JobOnScreen): boolean {
  return escrow === 'held'
}

/** Pays what is held for a job back to its buyer, whatever the job is waiting for: at once and for good. */
export function withdrawDialog(host: Host, job: JobOnScreen): DialogSpec {
  const what = `${job.id}  ${clip(job.serviceName, 30)}`
  return {
    title: 'GIVE THE MONEY BACK',
    about: what,
    amount: job.amount,
    facts: () => [
      ['job', what],
      ['it is', job.status.replaceAll('_', ' ')],
      ['held', `${job.amount}, paid by ${job.buyer} for ${job.provider}`],
      ['What happens', `${job.buyer} gets ${job.amount} back, ${job.provider} gets nothing, and the job ends`],
      ['Also', 'while escrow is paused; nobody can take it back'],
    ],
    fields: [reason],
    verb: 'Give back',
    command: ({ reason = '' }) =>
      shellCommand(host, ['admin', 'jobs', 'emergency-withdraw', job.id, '--reason', reason.trim() || '…']),
    send: async ({ reason = '' }) => {
      const asked = { params: { id: job.id }, body: { reason: reason.trim() } }
      const answer = await ask(host.link, { name: 'withdrawJob', asked }, readJob)
      if (!answer.ok) return answer
      return { ok: true, value: `Now ${answer.value.status}: ${job.buyer} gets ${job.amount} back.` }
    },
  }
}
