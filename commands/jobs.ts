import { headersAt, readsAsOperator } from '../src/cli/account.ts'
import { type CommandContext, defineCall, defineCommand, watchOptions } from '../src/cli/command.ts'
import { CliError } from '../src/cli/exit.ts'
import { DOCUMENT, readDocument, unjudged } from '../src/cli/files/document.ts'
import { tryFolder } from '../src/cli/files/transfer.ts'
import type { Io } from '../src/cli/io.ts'
import { saveResult, shownResult } from '../src/cli/nouns/jobs/deliverable.ts'
import { complaintOf, disputeHelp, disputeOptions, disputeText, mustHold } from '../src/cli/nouns/jobs/dispute.ts'
import { type FetchedJob, noFreeRead, overStates, readJob, waitForJob } from '../src/cli/nouns/jobs/jobs.ts'
import { columnsOf, pageOptions, showPage } from '../src/cli/nouns/lists.ts'
import * as z from '../src/cli/params.ts'
import type { Session } from '../src/cli/session.ts'
import { type Payment, pay } from '../src/cli/wallet/paying.ts'
import { freeReader } from '../src/cli/wallet/signing-in.ts'
import type { Queried } from '../src/client/asked.ts'
import { wordsOf } from '../src/client/call.ts'
import { idPrefixes } from '../src/core/id-prefixes.ts'
import type { Json } from '../src/core/json.ts'
import { MAX_RATING } from '../src/core/limits.ts'
import { formatAmount } from '../src/core/money.ts'
import { compact } from '../src/core/record.ts'
import { job } from '../src/nouns/jobs.ts'
import { bold, byteSize, cyan, dim, green } from '../src/text/text.ts'

export const jobsDispute = defineCommand({
  name: 'jobs dispute',
  summary: 'dispute a delivery; money in escrow stays there',
  pays: 'disputeJob',
  description: disputeHelp,
  args: z.object({ job: z.string().meta({ description: 'id of the job' }) }),
  options: z.object(disputeOptions),
  examples: [
    'souk jobs dispute job_0123456789abcdef --reason "Half of it is missing"',
    'souk jobs dispute job_0123456789abcdef --category wrong_deliverable --reason "Another page" --json',
  ],
  async run(context) {
    const { recordOnly } = context.options
    const params = { id: context.args.job }
    const session = await context.session()
    const complaint = await complaintOf(context, session, params.id)
    const unpaid = wordsOf('disputeJob', { params, body: { ...complaint, must_hold: !recordOnly } })
    const must_hold = await mustHold(session, unpaid, { io: context.io, recordOnly })
    return changedJob(
      await pay(context, session, { endpoint: 'disputeJob', asked: { params, body: { ...complaint, must_hold } } }),
    )
  },
  view: (job, io) => showChanged('disputed', job, io),
})

export const jobsList = defineCommand({
  name: 'jobs list',
  summary: 'list your jobs as buyer and provider, newest first',
  description: 'Without an account, the wallet signs in for free.',
  options: z.object({
    status: z.text({ description: 'only in this state, such as dispatched', value: 'state' }),
    role: z.choice(['buyer', 'provider'], { description: 'only as buyer or as provider' }),
    ...pageOptions,
    ...watchOptions,
  }),
  examples: ['souk jobs list', 'souk jobs list --role buyer --status completed --json'],
  prints: 'listJobs',
  async run(context) {
    const { limit, page, status, role } = context.options
    const session = await context.session()
    const key = await session.apiKey()
    const read = freeReader(context, session)
    const answer = await read('listJobs', {
      query: unjudged<Queried<'listJobs'>>({ status, role, limit, offset: (page - 1) * limit }),
      headers: key === undefined ? {} : { 'x-api-key': key },
    })
    // Without any credential, `read` returned undefined. This call then fails with the error that asks for a key.
    return answer ?? session.call('listJobs', {})
  },
  rows: ({ jobs }) => jobs,
  columns: columnsOf(job, 'own'),
  view: (page, io) => showPage(job, page, { io, place: 'own' }),
})

export const jobsMessages = defineCall({
  name: 'jobs messages',
  summary: 'show the conversation of a job',
  args: z.object({ job: z.string().meta({ description: 'id of the job' }) }),
  examples: ['souk jobs messages job_0123456789abcdef', 'souk jobs messages job_0123456789abcdef --json'],
  asks: 'getJobMessages',
  asked: async (context) => ({
    params: { id: context.args.job },
    headers: await headersAt(context, await context.session(), context.args.job),
  }),
  rows: ({ messages }) => messages,
  columns: [
    { title: 'AT', value: ({ created_at: at }) => at },
    { title: 'WHO', value: ({ author_role: role }) => role },
    { title: 'TYPE', value: ({ type }) => type },
    { title: 'TEXT', value: ({ body }) => body, flexible: true },
  ],
  view({ messages }, io) {
    for (const { created_at: at, author_role: role, body } of messages) io.line(`${at}  ${role}  ${body}`)
    if (messages.length === 0) io.note('no messages yet')
  },
})

export const jobsSend = defineCall({
  name: 'jobs send',
  summary: 'send a message in the conversation of a job',
  args: z.object({
    job: z.string().meta({ description: 'id of the job' }),
    text: z.string().meta({ description: 'message' }),
  }),
  examples: ['souk jobs send job_0123456789abcdef "Thank you"', 'souk jobs send job_0123456789abcdef "When?" --json'],
  asks: 'postJobMessage',
  asked: async (context) => ({
    params: { id: context.args.job },
    body: { message: context.args.text },
    headers: await headersAt(context, await context.session(), context.args.job),
  }),
  view: ({ id }, io) => io.line(`${green('✓')} sent   ${id}`),
})

const options = z.object({
  status: z.choice(['in_progress', 'completed', 'failed'], {
    description: 'new status (default: completed with a deliverable, else in_progress)',
  }),
  progress: z.text({ description: 'progress, such as 40%', value: 'text' }),
  deliverable: z.text({ description: `deliverable: ${DOCUMENT}, - for stdin`, value: 'file' }),
  notes: z.text({ description: 'message to the buyer', value: 'text' }),
})
type Context = CommandContext<{ job: string }, z.output<typeof options>>

export const jobsUpdate = defineCall({
  name: 'jobs update',
  summary: 'update or deliver a job, as its provider',
  args: z.object({ job: z.string().meta({ description: 'id of the job' }) }),
  options,
  examples: [
    'souk jobs update job_0123456789abcdef --progress 40%',
    'souk jobs update job_0123456789abcdef --deliverable deliverable.json',
    'souk jobs update job_0123456789abcdef --status failed --notes "The page is gone" --json',
  ],
  asks: 'updateJob',
  async asked(context) {
    const { progress, notes, deliverable, status = deliverable ? 'completed' : 'in_progress' } = context.options
    return {
      params: { id: context.args.job },
      body: { status, ...compact({ progress, notes }), ...(await delivered(context, deliverable)) },
    }
  },
  view: (job, io) => io.line(`${green('✓')} ${bold(job.job_id)}   ${job.status}`),
})

async function delivered(context: Context, file: string | undefined): Promise<{ deliverables?: Json }> {
  if (file === undefined) return {}
  return { deliverables: await readDocument(context.io, file) }
}

export const jobsVerify = defineCommand({
  name: 'jobs verify',
  summary: 'accept a delivery and release the payment to the provider',
  pays: 'verifyJob',
  args: z.object({ job: z.string().meta({ description: 'id of the job' }) }),
  options: z.object({
    rating: z.between(1, MAX_RATING).optional().meta({ description: 'rating, 1 to 5' }),
    comment: z.text({ description: 'comment', value: 'text' }),
  }),
  examples: [
    'souk jobs verify job_0123456789abcdef',
    'souk jobs verify job_0123456789abcdef --rating 5 --comment "Quick and right"',
  ],
  run: async (context) => {
    const asked = { params: { id: context.args.job }, body: compact(context.options) }
    return changedJob(await pay(context, await context.session(), { endpoint: 'verifyJob', asked }))
  },
  view: (job, io) => showChanged('verified', job, io),
})

/** Returns `id`, or the id of the job if `id` is a receipt. @throws CliError not_found if the receipt has no job */
async function jobIdOf(context: ViewContext, session: Session, id: string): Promise<string> {
  if (!id.startsWith(idPrefixes.receipt)) return id
  const asked = { params: { id } }
  const { steps } = await ((await readsAsOperator(context, session))
    ? session.call('getRequestStory', asked)
    : session.call('getOwnStory', asked))
  const job = steps.find(({ kind }) => kind === 'job')?.id
  if (job) return job
  throw new CliError('not_found', `Receipt ${id} belongs to no job.`, { next: [`souk why ${id}`] })
}

type ViewContext = CommandContext<{ job: string }, unknown>

export const jobsView = defineCommand({
  name: 'jobs view',
  summary: 'show a job: status, money, deliverable',
  pays: 'getJob',
  args: z.object({ job: z.string().meta({ description: 'id of the job, or of its receipt (rcp_…)' }) }),
  options: z.object({
    save: z.text({ description: 'save the deliverable into a folder', value: 'dir' }),
    ...watchOptions,
  }),
  examples: ['souk jobs view job_0123456789abcdef', 'souk jobs view job_0123456789abcdef --save ./results'],
  like: 'getJob',
  async run(context) {
    const session = await context.session()
    const id = await jobIdOf(context, session, context.args.job)
    const { save } = context.options
    // Checks the folder first, because reading the job may cost a fee.
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

function nextOf({ job_id: id, status, escrow }: FetchedJob): string[] {
  if (!overStates.includes(status)) return [`souk jobs watch ${id}`]
  if (status !== 'completed' || escrow?.status !== 'held') return []
  return [`souk jobs verify ${id} --rating 5`, `souk jobs dispute ${id} --reason "..."`]
}

async function waited(context: ViewContext, session: Session, id: string): Promise<FetchedJob> {
  const ended = await waitForJob(context, session, id)
  if (ended.end === 'unreadable') throw noFreeRead(id)
  if (ended.end === 'pending') context.exit('pending')
  return ended.job
}

function showMoney({ amount, receipt_id, escrow, dispute, timeline = [] }: FetchedJob, io: Io): void {
  if (amount !== undefined) io.line(`  amount    $${amount}${receipt_id ? `   receipt ${receipt_id}` : ''}`)
  // Business time may be ahead of this machine's.
  const now = Math.max(io.now(), ...timeline.map(({ at }) => Date.parse(at)))
  if (escrow && escrow.status !== 'none') io.line(`  escrow    ${escrowText(escrow, now)}`)
  showContract(escrow?.contract, io)
  if (dispute) io.line(`  dispute   ${disputeText(dispute)}`)
}

function showContract(contract: NonNullable<FetchedJob['escrow']>['contract'], io: Io): void {
  if (contract === undefined) return
  const { state, waits, transactions } = contract
  io.line(`  contract  ${state}${waits === null ? '' : `; waits: ${waits}`}`)
  for (const { act, transaction } of transactions) io.line(dim(`    ${act}  ${transaction}`))
}

function escrowText({ status, next_event: event, next_event_at: at }: NonNullable<FetchedJob['escrow']>, now: number) {
  if (event === null || at === null) return status
  if (Date.parse(at) > now) return `${status}; next: ${event} at ${at}`
  return `${status}; ${event} is due since ${at}: waits for the next run of escrow-monitor, or the end of a pause`
}

const BAD_ENDS = ['failed', 'expired', 'cancelled', 'refunded']

export const jobsWatch = defineCommand({
  name: 'jobs watch',
  summary: 'wait until a job ends',
  description: 'Waiting costs nothing. Reading the job needs its token, the API key of the wallet, or a sign-in.',
  args: z.object({ job: z.string().meta({ description: 'id of the job' }) }),
  options: z.object({ exitStatus: z.flag({ description: 'exit with code 11 if it ended without a delivery' }) }),
  examples: ['souk jobs watch job_0123456789abcdef', 'souk jobs watch job_0123456789abcdef --exit-status --json'],
  prints: 'getJob',
  async run(context) {
    const session = await context.session()
    const { job: id } = context.args
    const waited = await waitForJob(context, session, id)
    if (waited.end === 'unreadable') throw noFreeRead(id)
    if (waited.end === 'pending') context.exit('pending')
    const { job } = waited
    if (context.options.exitStatus && BAD_ENDS.includes(job.status)) context.exit('check_failed')
    return job
  },
  view(job, io) {
    io.line(`${bold(job.job_id)}   ${job.status}`)
    io.note(`  next: ${cyan(io.hint(`souk jobs view ${job.job_id}`))}`)
  },
})

/** The job after a buyer's action, with the fee that was paid for the action. */
export function changedJob({ answer, payment }: { readonly answer: FetchedJob; readonly payment: Payment }) {
  return { ...answer, call_payment: { method: payment.method, amount: formatAmount(payment.amount), asset: 'USDC' } }
}

export function showChanged(what: string, job: ReturnType<typeof changedJob>, io: Io): void {
  const { escrow, dispute, call_payment: paid } = job
  io.line(`${green('✓')} ${what}   ${bold(job.job_id)}   ${job.status}   paid $${paid.amount} for the call`)
  if (escrow && escrow.status !== 'none') io.line(`  escrow    ${escrow.status}`)
  if (dispute) io.line(`  dispute   ${disputeText(dispute)}`)
  io.note(`  next: ${cyan(io.hint(`souk jobs view ${job.job_id}`))}`)
}
