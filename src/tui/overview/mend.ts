import { mendOf } from '../../nouns/attention.ts'
import type { Job } from '../../nouns/jobs.ts'
import { canGiveBack, rulingDialog, withdrawDialog } from '../job/dialogs.ts'
import { fetchJob } from '../job/rows.ts'
import { cronOf, replayDialog, replayOf, runDialog } from '../shell/act-dialogs.ts'
import { refuse, type Sent, shellCommand } from '../shell/ask.ts'
import { type DialogSpec, reasonField } from '../shell/dialog.ts'
import { askAll } from '../shell/marks.ts'
import type { Need } from '../shell/needs.ts'
import { pauseDialog } from '../shell/pause-dialog.ts'
import { ask as send } from '../shell/queries.ts'
import type { Host } from '../shell/screen.ts'
import { openNeed } from './walk.ts'

/** Opens the dialog that fixes the problems of a row. If there is no such dialog, opens the record concerned. */
export async function mend(host: Host, need: Need): Promise<void> {
  const specs = await dialogsFor(host, need)
  if (specs.length === 0) await openNeed(host, need)
  else askAll(host, specs)
}

const cronsOf: Readonly<Partial<Record<Need['kind'], string>>> = {
  ...{ payout: 'provider-settlement', stuck: 'escrow-monitor', sanctions_list: 'ofac-sdn-refresh' },
}

async function dialogsFor(host: Host, need: Need): Promise<readonly DialogSpec[]> {
  switch (need.kind) {
    case 'dispute':
      return (await jobsOf(host, [need])).map((job) => rulingDialog(host, job))
    case 'overdue':
      return withdrawals(host, mendable(need))
    case 'delivery':
      return mendable(need).map(({ subject, who, sentence }) => replayDialog(host, { id: subject, who, sentence }))
    case 'endpoint':
      return unsentTo(host, need)
    case 'unserved_period':
      return [settleDialog(host, need)]
    case 'platform':
      return [pauseDialog(host)]
    case 'escrow':
      return [escrowDialog(host)]
    case 'cron':
      return runOf(host, need.subject)
    default:
      return runOf(host, cronsOf[need.kind] ?? '')
  }
}

const mendable = ({ of }: Need) => of.filter((one) => mendOf(one) !== undefined)

/** Opens the refund dialog of a job. */
export async function giveBack(host: Host, id: string): Promise<void> {
  const specs = await withdrawals(host, [{ subject: id }])
  if (specs.length > 0) askAll(host, specs)
  else refuse(host, 'This job no longer holds money.')
}

async function withdrawals(host: Host, of: readonly Pick<Need, 'subject'>[]): Promise<readonly DialogSpec[]> {
  return (await jobsOf(host, of)).filter(canGiveBack).map((job) => withdrawDialog(host, job))
}

async function jobsOf({ link }: Host, of: readonly Pick<Need, 'subject'>[]): Promise<readonly Job[]> {
  const reads = of.map(({ subject: id }) => fetchJob(link, { id, admin: true })(AbortSignal.timeout(READ_MS)))
  return (await Promise.all(reads)).flatMap((found) => (found.ok && found.value ? [found.value.job] : []))
}

const READ_MS = 5_000

function runOf(host: Host, name: string): readonly DialogSpec[] {
  const cron = cronOf(host, name)
  return cron === undefined ? [] : [runDialog(host, cron)]
}

/** Dialogs that send what a listing's endpoint has not accepted again, one dialog for each delivery. */
async function unsentTo(host: Host, { subject, who }: Need): Promise<readonly DialogSpec[]> {
  const query = { limit: String(SENT_AGAIN_MAX), filter: `service:${subject} status:dead,pending` }
  const found = await send(host.link, { name: 'getWebhooks', asked: { query } }, ({ deliveries }) => deliveries)
  return found.ok ? found.value.map((one) => replayDialog(host, replayOf(one, who))) : []
}

const SENT_AGAIN_MAX = 50

/** Dialog that credits the subscriber for a period that was not provided. */
function settleDialog(host: Host, { id, who, amount, sentence, fix }: Need): DialogSpec {
  const period = id.slice('unserved '.length)
  const participant = /adjust (p_[0-9a-f]{16})/.exec(fix)?.[1] ?? ''
  const credit = amount.slice(1)
  return {
    title: 'CREDIT AN UNSERVED PERIOD',
    about: `${who}  ${amount}`,
    amount,
    facts: () => [
      ['subscriber', who],
      ['so far', sentence],
      ['What happens', `${amount} is added to the balance of ${who}, and the period counts as settled`],
    ],
    fields: [reasonField('Reason (the subscriber reads it)')],
    verb: 'Settle',
    command: ({ reason = '' }) =>
      shellCommand(host, ['admin', 'adjust', participant, credit, '--settles', period, '--reason', reason || '…']),
    send: ({ reason = '' }): Sent =>
      send(
        host.link,
        {
          name: 'adjustBalance',
          asked: { params: { id: participant }, body: { amount: credit, reason: reason.trim(), settles: period } },
        },
        () => `${amount} was added to the balance of ${who}. The period is settled.`,
      ),
  }
}

function escrowDialog(host: Host): DialogSpec {
  return {
    title: 'RESUME ESCROW',
    facts: () => [['What it does', 'holds and releases resume; refunds were never paused']],
    verb: 'Unpause',
    command: () => shellCommand(host, ['admin', 'escrow', 'unpause']),
    send: (): Sent =>
      send(host.link, { name: 'unpauseEscrow', asked: {} }, ({ changed }) =>
        changed ? 'Escrow is resumed.' : 'Escrow was not paused.',
      ),
  }
}
