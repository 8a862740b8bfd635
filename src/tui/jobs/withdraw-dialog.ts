import { clip } from '../../text/text.ts'
import type { DialogSpec } from '../shell/dialog.ts'
import { nameField, shellCommand, targetFacts } from '../shell/pause-dialog.ts'
import { ask } from '../shell/queries.ts'
import type { Host } from '../shell/screen.ts'
import { type JobOnScreen, readJob } from './facts.ts'
import { reasonField } from './ruling-dialog.ts'

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
      ...targetFacts(host),
      ['', ''],
      ['job', what],
      ['it is', job.status.replaceAll('_', ' ')],
      ['held', `${job.amount}, paid by ${job.buyer} for ${job.provider}`],
      ['What happens', `${job.buyer} gets ${job.amount} back, ${job.provider} gets nothing, and the job ends`],
      ['Also', 'while escrow is paused; nobody can take it back'],
    ],
    fields: [reasonField, ...nameField(host)],
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
