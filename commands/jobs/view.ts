import { readsAsOperator } from '../../src/cli/account.ts'
import { type CommandContext, defineCommand } from '../../src/cli/command.ts'
import { CliError } from '../../src/cli/exit.ts'
import { tryFolder } from '../../src/cli/files/transfer.ts'
import type { Io } from '../../src/cli/io.ts'
import { saveResult, shownResult } from '../../src/cli/nouns/jobs/deliverable.ts'
import { disputeText } from '../../src/cli/nouns/jobs/dispute.ts'
import { type FetchedJob, noFreeRead, overStates, readJob, waitForJob } from '../../src/cli/nouns/jobs/jobs.ts'
import * as z from '../../src/cli/params.ts'
import { watchOptions } from '../../src/cli/run/watched.ts'
import type { Session } from '../../src/cli/session.ts'
import { idPrefixes } from '../../src/core/id-prefixes.ts'
import { bold, byteSize, cyan, dim } from '../../src/text/text.ts'

/** The job itself, or the one that a receipt of one's own paid for. @throws CliError not_found */
async function jobIdOf(context: Host, session: Session, id: string): Promise<string> {
  if (!id.startsWith(idPrefixes.receipt)) return id
  const asked = { params: { id } }
  const { steps } = await ((await readsAsOperator(context, session))
    ? session.call('getRequestStory', asked)
    : session.call('getOwnStory', asked))
  const job = steps.find(({ kind }) => kind === 'job')?.id
  if (job) return job
  throw new CliError('not_found', `Receipt ${id} paid for no job.`, { next: [`souk why ${id}`] })
}

type Host = CommandContext<{ job: string }, unknown>

export const command = defineCommand({
  name: 'jobs view',
  summary: 'show a job: status, money, deliverable',
  args: z.object({ job: z.string().meta({ description: 'id of the job, or of its receipt (rcp_…)' }) }),
  options: z.object({
    save: z.string().optional().meta({ description: 'save the deliverable into a folder', value: 'dir' }),
    ...watchOptions,
  }),
  examples: ['souk jobs view job_0123456789abcdef', 'souk jobs view job_0123456789abcdef --save ./results'],
  like: 'getJob',
  async run(context) {
    const session = await context.session()
    const id = await jobIdOf(context, session, context.args.job)
    const { save } = context.options
    // Reading may cost a fee.
    if (save !== undefined) tryFolder(context, save)
    const job =
      context.globals.wait === false ? await readJob(context, session, id) : await waited(context, session, id)
    const files = save === undefined || !job.deliverables?.length ? [] : saveResult(save, id, job.deliverables)
    return { ...job, ...(save === undefined ? {} : { files }) }
  },
  view(job, io) {
    io.line(`${bold(job.job_id)}   ${job.status}   ${job.service_name ?? job.service_id}`)
    showMoney(job, io)
    io.line(`  created   ${job.created_at}${job.completed_at === null ? '' : `   completed ${job.completed_at}`}`)
    for (const { at, event, detail } of job.timeline ?? []) io.line(dim(`  ${at}  ${event}  ${detail}`))
    for (const { file, bytes } of job.files ?? []) io.line(`  saved     ${io.path(file)}   ${byteSize(bytes)}`)
    if (job.deliverables?.length && job.files === undefined) {
      io.line(shownResult(job.deliverables))
      io.note(`  save it: ${cyan(io.hint(`souk jobs view ${job.job_id} --save .`))}`)
    }
    const next = nextOf(job).map((line) => cyan(io.hint(line)))
    if (next.length > 0) io.note(`  next: ${next.join('    ')}`)
  },
})

/** What its buyer can do about it. */
function nextOf({ job_id: id, status, escrow }: FetchedJob): string[] {
  if (!overStates.includes(status)) return [`souk jobs watch ${id}`]
  if (status !== 'completed' || escrow?.status !== 'held') return []
  return [`souk jobs verify ${id} --rating 5`, `souk jobs dispute ${id} --reason "..."`]
}

async function waited(context: Host, session: Session, id: string): Promise<FetchedJob> {
  const ended = await waitForJob(context, session, id)
  if (ended.end === 'unreadable') throw noFreeRead(id)
  if (ended.end === 'pending') context.exit('pending')
  return ended.job
}

function showMoney({ amount, receipt_id, escrow, dispute }: FetchedJob, io: Io): void {
  if (amount !== undefined) io.line(`  amount    $${amount}${receipt_id ? `   receipt ${receipt_id}` : ''}`)
  if (escrow && escrow.status !== 'none') io.line(`  escrow    ${escrowText(escrow)}`)
  showContract(escrow?.contract, io)
  if (dispute) io.line(`  dispute   ${disputeText(dispute)}`)
}

/** Of a market whose escrow is a contract: the transactions that moved the money. */
function showContract(contract: NonNullable<FetchedJob['escrow']>['contract'], io: Io): void {
  if (contract === undefined) return
  const { state, waits, transactions } = contract
  io.line(`  contract  ${state}${waits === null ? '' : `; waits: ${waits}`}`)
  for (const { act, transaction } of transactions) io.line(dim(`    ${act}  ${transaction}`))
}

function escrowText(escrow: { status: string; next_event: string | null; next_event_at: string | null }): string {
  return escrow.next_event === null
    ? escrow.status
    : `${escrow.status}, ${escrow.next_event} at ${escrow.next_event_at}`
}
