import type { Job } from '../../nouns/jobs.ts'
import { canGiveBack, rulingDialog, withdrawDialog } from '../job/dialogs.ts'
import { fetchJob } from '../job/rows.ts'
import { askUser, refuse, type Sent } from '../shell/ask.ts'
import { cronOf, runDialog } from '../shell/cron-dialogs.ts'
import type { DialogSpec } from '../shell/dialog.ts'
import type { Need } from '../shell/needs.ts'
import { pauseDialog, shellCommand } from '../shell/pause-dialog.ts'
import { ask as send } from '../shell/queries.ts'
import type { Host } from '../shell/screen.ts'

/** Opens the remedy's dialog, or shows the command. */
export async function mend(host: Host, need: Need): Promise<void> {
  const spec = await dialogFor(host, need)
  if (spec === undefined) refuse(host, `${need.sentence}  → ${need.fix}`)
  else askUser(host, spec)
}

async function dialogFor(host: Host, need: Need): Promise<DialogSpec | undefined> {
  switch (need.kind) {
    case 'dispute':
      return disputeOf(host, need.subject)
    case 'cron':
      return runOf(host, need.subject)
    case 'payout':
      return runOf(host, 'provider-settlement')
    case 'overdue':
      return runOf(host, 'escrow-monitor')
    case 'sanctions_list':
      return runOf(host, 'ofac-sdn-refresh')
    case 'delivery':
      return replayDialog(host, need)
    case 'platform':
      return pauseDialog(host)
    case 'escrow':
      return escrowDialog(host)
    default:
      return undefined
  }
}

/** Opens the refund dialog of an item's job. */
export async function giveBack(host: Host, id: string): Promise<void> {
  const job = await jobOf(host, id)
  if (job === undefined) refuse(host, `${id} cannot be read.`)
  else if (canGiveBack(job)) askUser(host, withdrawDialog(host, job))
  else refuse(host, `Nothing is held for ${id}: it is ${job.status}.`)
}

async function disputeOf(host: Host, id: string): Promise<DialogSpec | undefined> {
  const job = await jobOf(host, id)
  return job && rulingDialog(host, job)
}

async function jobOf(host: Host, id: string): Promise<Job | undefined> {
  const found = await fetchJob(host.link, { id, admin: true })(AbortSignal.timeout(READ_MS))
  return found.ok ? found.value?.job : undefined
}

const READ_MS = 5_000

function runOf(host: Host, name: string): DialogSpec | undefined {
  const cron = cronOf(host, name)
  return cron && runDialog(host, cron)
}

/** Replays a dead delivery. */
function replayDialog(host: Host, { subject, who, sentence }: Need): DialogSpec {
  return {
    title: 'SEND A DELIVERY AGAIN',
    facts: () => [
      ['delivery', subject],
      ['of', who],
      ['so far', sentence],
      ['What it does', 'it is sent anew under the same event id; no money moves'],
    ],
    verb: 'Send',
    command: () => shellCommand(host, ['admin', 'webhooks', 'replay', subject]),
    send: (): Sent =>
      send(
        host.link,
        { name: 'replayForOperator', asked: { params: { id: subject } } },
        () => `${subject} is sent again.`,
      ),
  }
}

function escrowDialog(host: Host): DialogSpec {
  return {
    title: 'LET MONEY ENTER AND LEAVE ESCROW',
    facts: () => [['What it does', 'holds and releases go on; refunds never stopped']],
    verb: 'Unpause',
    command: () => shellCommand(host, ['admin', 'escrow', 'unpause']),
    send: (): Sent =>
      send(host.link, { name: 'unpauseEscrow', asked: {} }, ({ changed }) =>
        changed ? 'Escrow goes on.' : 'Escrow was going on already.',
      ),
  }
}
