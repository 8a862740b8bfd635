import { headersAt } from '../src/cli/account.ts'
import { andJson, type CommandContext, defineCall, defineCommand } from '../src/cli/command.ts'
import { CliError, usage } from '../src/cli/exit.ts'
import { DOCUMENT, readDocument } from '../src/cli/files/document.ts'
import { download, sending, showDownloaded } from '../src/cli/files/transfer.ts'
import { complaintOf, disputeHelp, disputeOptions, disputeText, heldOrAgreed } from '../src/cli/nouns/jobs/dispute.ts'
import {
  markRead,
  messageWords,
  readThread,
  sent,
  showMessage,
  showThread,
  type ThreadMessage,
} from '../src/cli/nouns/threads.ts'
import * as z from '../src/cli/params.ts'
import type { Session, SessionHost } from '../src/cli/session.ts'
import { pay } from '../src/cli/wallet/paying.ts'
import { MAX_RATING } from '../src/core/limits.ts'
import { formatAmount, parseAmount, ZERO } from '../src/core/money.ts'
import { compact } from '../src/core/record.ts'
import type { Thread } from '../src/nouns/threads.ts'
import { bold, byteSize, cyan, green } from '../src/text/text.ts'

type Proposal = NonNullable<Thread['proposal']>

export const threadsAccept = defineCommand({
  name: 'threads accept',
  summary: 'accept the offered price and pay it into escrow',
  pays: 'acceptPrice',
  description:
    'Asks for confirmation; skip it with --yes. Pays only the offer that it shows. With --proposal, it also refuses an offer that changed since you saw it.',
  args: z.object({ thread: z.string().meta({ description: 'id of the conversation' }) }),
  options: z.object({
    proposal: z.text({ description: 'accept only the offer with this `proposed_at`', value: 'time' }),
  }),
  examples: [
    'souk threads accept thr_0123456789abcdef --yes',
    'souk threads accept thr_0123456789abcdef --yes --pay x402 --json',
  ],
  async run(context) {
    const session = await context.session()
    const { thread: id } = context.args
    const proposal = await proposalOf(context, session, id)
    checkShown(context, proposal)
    await context.io.confirm(
      `Accept $${proposal.price}? You pay $${proposal.agent_price}, held until you accept the delivery.`,
    )
    const { answer: accepted, payment } = await pay(context, session, {
      endpoint: 'acceptPrice',
      asked: { params: { id }, body: { proposed_at: proposal.proposed_at } },
      stated: ({ amount }) => amount,
      shown: parseAmount(proposal.agent_price) ?? ZERO,
    })
    const { method, amount, transaction } = payment
    return { ...accepted, payment: { method, amount: formatAmount(amount), transaction } }
  },
  view({ job_id, payment, receipt_id }, io) {
    io.line(`${green('✓')} accepted   paid ${bold(`$${payment.amount}`)}   receipt ${receipt_id}   ${job_id} created`)
    io.note(`  next: ${cyan(io.hint(`souk jobs watch ${job_id}`))}`)
  },
})

/** @throws CliError conflict if the offer is not the one that `--proposal` names */
function checkShown({ args: { thread }, options }: Named, { proposed_at, agent_price }: Proposal): void {
  if (options.proposal === undefined || options.proposal === proposed_at) return
  const said = `The offer has changed: $${agent_price} since ${proposed_at}.`
  throw new CliError('conflict', said, { next: [`souk threads view ${thread}`] })
}

type Named = {
  readonly args: { readonly thread: string }
  readonly options: { readonly proposal?: string | undefined }
}

/** The open proposal. @throws CliError `conflict` without one */
async function proposalOf(host: Pick<SessionHost, 'places'>, session: Session, id: string): Promise<Proposal> {
  const { proposal, status } = await readThread(host, session, id)
  if (proposal?.status === 'open') return proposal
  const state = proposal === null ? `the conversation is ${status}` : `the proposal is ${proposal.status}`
  throw new CliError('conflict', `There is no offer to accept: ${state}.`, { next: [`souk threads send ${id} -m "…"`] })
}

export const threadsAttach = defineCommand({
  name: 'threads attach',
  summary: 'attach files to a conversation',
  description: 'At most 10 MiB each. Disputes can cite these files as evidence.',
  args: z.object({
    thread: z.string().meta({ description: 'id of the conversation' }),
    files: z.array(z.string()).meta({ description: 'files to attach' }),
  }),
  options: z.object({ message: z.text({ short: 'm', description: 'caption of the first file', value: 'text' }) }),
  examples: [
    'souk threads attach thr_0123456789abcdef book.pdf',
    'souk threads attach thr_0123456789abcdef book.pdf -m "As agreed" --json',
  ],
  async run(context) {
    const { thread, files } = context.args
    if (files.length === 0) throw usage('Name a file to attach.', { next: [`souk threads attach ${thread} FILE`] })
    const session = await context.session()
    const headers = await headersAt(context, session, thread)
    const attached = []
    for (const [at, path] of files.entries()) {
      const sent = sending(context, path)
      const body = compact({ message: at === 0 ? context.options.message : undefined })
      attached.push(
        await session
          .call('uploadThreadFile', { params: { id: thread }, body, headers, file: sent.file })
          .finally(() => sent.done()),
      )
    }
    return { thread_id: thread, files: attached }
  },
  rows: ({ files }) => files,
  view({ files }, io) {
    for (const { file_id, name, size_bytes } of files) {
      io.line(`${green('✓')} attached ${file_id}   ${name}   ${byteSize(size_bytes)}`)
    }
  },
})

export const threadsDecline = defineCommand({
  name: 'threads decline',
  summary: 'end a negotiation, or cancel a job that is not delivered',
  description: 'Cancelling a job refunds the full payment, after a confirmation.',
  args: z.object({ thread: z.string().meta({ description: 'id of the conversation' }) }),
  options: z.object({ reason: z.text({ description: 'reason, for the other party' }) }),
  examples: [
    'souk threads decline thr_0123456789abcdef',
    'souk threads decline thr_0123456789abcdef --reason "Too slow" --json',
  ],
  prints: 'declineThread',
  async run(context) {
    const session = await context.session()
    const { job_id } = await readThread(context, session, context.args.thread)
    if (job_id !== null) await context.io.confirm(`Cancel ${job_id}? The buyer is refunded.`)
    return session.call('declineThread', {
      params: { id: context.args.thread },
      body: compact({ reason: context.options.reason }),
    })
  },
  view: ({ thread_id, status, job }, io) =>
    io.line(
      `${green('✓')} ${thread_id} is ${status}${job ? `   ${job.job_id} ${job.escrow?.status ?? job.status}` : ''}`,
    ),
})

export const threadsDispute = defineCommand({
  name: 'threads dispute',
  summary: 'dispute a delivery; money in escrow stays there',
  description: disputeHelp,
  args: z.object({ thread: z.string().meta({ description: 'id of the conversation' }) }),
  options: z.object({ ...disputeOptions, category: disputeOptions.category.default('other') }),
  examples: [
    'souk threads dispute thr_0123456789abcdef --reason "Half of it is missing"',
    'souk threads dispute thr_0123456789abcdef --reason "Not mine" --category wrong_deliverable --json',
  ],
  prints: 'disputeThread',
  async run(context) {
    const session = await context.session()
    const { thread: id } = context.args
    const headers = await headersAt(context, session, id)
    const body = await complaintOf(context, session, id)
    const send = (must_hold: boolean) =>
      session.call('disputeThread', { params: { id }, body: { ...body, must_hold }, headers })
    return heldOrAgreed(send, { io: context.io, recordOnly: context.options.recordOnly })
  },
  view({ thread_id, job }, io) {
    const dispute = job?.dispute
    io.line(`${green('✓')} ${thread_id}: the dispute is ${dispute?.status ?? 'recorded'}   ${job?.job_id ?? ''}`)
    if (dispute) io.line(`  ${disputeText(dispute)}`)
  },
})

export const threadsDownload = defineCommand({
  name: 'threads download',
  summary: 'download a file of a conversation',
  description: 'The file is checked against its hash. A damaged file is deleted.',
  args: z.object({
    thread: z.string().meta({ description: 'id of the conversation' }),
    file: z.string().meta({ description: 'id of the file' }),
  }),
  options: z.object({
    output: z.text({ short: 'o', description: 'file or folder to write, - for stdout', value: 'file' }),
  }),
  examples: andJson('souk threads download thr_0123456789abcdef file_0123456789abcdef -o ./downloads --yes'),
  async run(context) {
    const { thread, file } = context.args
    const session = await context.session()
    const saved = await download(context, session, {
      endpoint: 'downloadThreadFile',
      asked: { params: { id: thread, fileId: file }, headers: await headersAt(context, session, thread) },
      output: context.options.output,
      otherwise: file,
    })
    return { thread_id: thread, file_id: file, ...saved }
  },
  view: showDownloaded,
})

const MAX_DAYS = 365

export const threadsPropose = defineCall({
  name: 'threads propose',
  summary: 'offer a price, as the provider; replaces your earlier offer',
  args: z.object({ thread: z.string().meta({ description: 'id of the conversation' }) }),
  options: z.object({
    price: z.string().meta({ description: 'your price in USDC, such as 25.00', value: 'usd' }),
    days: z.between(1, MAX_DAYS).optional().meta({ description: 'delivery time' }),
    delivery: z.text({ description: 'delivery time in words, such as "2 hours"', value: 'time' }),
    message: z.text({ short: 'm', description: 'message to send with the offer', value: 'text' }),
  }),
  examples: [
    'souk threads propose thr_0123456789abcdef --price 0.50',
    'souk threads propose thr_0123456789abcdef --price 0.50 --days 3 -m "By Friday" --json',
  ],
  asks: 'proposePrice',
  asked(context) {
    const { price, days, delivery, message } = context.options
    if (days !== undefined && delivery !== undefined) throw usage('Give the delivery time once: --days or --delivery.')
    return {
      params: { id: context.args.thread },
      body: { price, ...compact({ message, estimated_delivery: delivery ?? inDays(days) }) },
    }
  },
  view({ thread_id, proposal }, io) {
    if (!proposal) return
    const { price, agent_price, expires_at } = proposal
    io.line(`${green('✓')} offered ${bold(`$${price}`)}   the buyer pays $${agent_price}   ${thread_id}`)
    io.line(`  open until ${expires_at}`)
  },
})

function inDays(days: number | undefined): string | undefined {
  return days === undefined ? undefined : `${days} day${days === 1 ? '' : 's'}`
}

export const threadsSend = defineCommand({
  name: 'threads send',
  summary: 'send a message in a conversation',
  ...messageWords,
  examples: [
    'souk threads send thr_0123456789abcdef "Could you do ten?"',
    'souk threads send thr_0123456789abcdef -m "When?" --json',
  ],
  prints: 'postThreadMessage',
  run: async (context) => (await context.session()).call('postThreadMessage', await sent(context)),
})

export const threadsUpdate = defineCall({
  name: 'threads update',
  summary: 'update a job, as its provider: started, delivered or failed',
  args: z.object({ thread: z.string().meta({ description: 'id of the conversation' }) }),
  options: z.object({
    status: z.enum(['in_progress', 'completed', 'failed']).meta({ description: 'status of the work' }),
    deliverable: z.text({ description: `deliverable: ${DOCUMENT}, - for stdin`, value: 'file' }),
    progress: z.text({ description: 'progress', value: 'text' }),
    notes: z.text({ description: 'message to send with the update', value: 'text' }),
  }),
  examples: [
    'souk threads update thr_0123456789abcdef --status in_progress --progress 40',
    'souk threads update thr_0123456789abcdef --status completed --deliverable deliverable.json --json',
  ],
  asks: 'updateThread',
  async asked(context) {
    const { status, deliverable: file, progress, notes } = context.options
    const deliverables = file === undefined ? undefined : await readDocument(context.io, file)
    return { params: { id: context.args.thread }, body: { status, ...compact({ deliverables, progress, notes }) } }
  },
  view: ({ thread_id, status, job_id }, io) => io.line(`${green('✓')} ${thread_id} is ${status}   ${job_id ?? ''}`),
})

export const threadsVerify = defineCommand({
  name: 'threads verify',
  summary: 'accept a delivery and pay the provider',
  args: z.object({ thread: z.string().meta({ description: 'id of the conversation' }) }),
  options: z.object({
    rating: z.between(1, MAX_RATING).optional().meta({ description: 'rating, 1 to 5' }),
    comment: z.text({ description: 'comment', value: 'text' }),
  }),
  examples: [
    'souk threads verify thr_0123456789abcdef',
    'souk threads verify thr_0123456789abcdef --rating 5 --comment "Just right" --json',
  ],
  prints: 'verifyThread',
  async run(context) {
    const { answer } = await pay(context, await context.session(), {
      endpoint: 'verifyThread',
      asked: { params: { id: context.args.thread }, body: compact(context.options) },
    })
    return answer
  },
  view: ({ thread_id, status, job_id }, io) => io.line(`${green('✓')} ${thread_id} is ${status}   ${job_id ?? ''}`),
})

const POLL_MS = 1_000

const options = z.object({ follow: z.flag({ description: 'keep printing new messages until ctrl-c' }) })
type Context = CommandContext<{ thread: string }, z.output<typeof options>>

export const threadsView = defineCommand({
  name: 'threads view',
  summary: 'show a conversation: state, price, messages',
  args: z.object({ thread: z.string().meta({ description: 'id of the conversation' }) }),
  options,
  examples: ['souk threads view thr_0123456789abcdef', 'souk threads view thr_0123456789abcdef --json'],
  run: (context): Promise<Thread | ThreadMessage> | AsyncIterable<Thread | ThreadMessage> =>
    context.options.follow ? followed(context) : read(context),
  rows: (data) => ('proposal' in data ? (data.messages ?? []) : [data]),
  view(data, io) {
    if (!('proposal' in data)) return showMessage(data, io)
    showThread(data, io)
    for (const message of data.messages ?? []) showMessage(message, io)
    if (data.status === 'negotiating') io.note(`  next: ${cyan(io.hint(`souk threads accept ${data.thread_id}`))}`)
  },
})

async function read(context: Context): Promise<Thread> {
  const session = await context.session()
  const thread = await readThread(context, session, context.args.thread)
  await markRead(context, session, thread)
  return thread
}

/** The conversation, then each new message. */
async function* followed(context: Context): AsyncGenerator<Thread | ThreadMessage> {
  let thread = await read(context)
  yield thread
  const seen = new Set(thread.messages?.map(({ id }) => id))
  while (thread.status !== 'cancelled' && !context.signal.aborted) {
    await context.system.sleep(POLL_MS, context.signal)
    thread = await read(context)
    for (const message of thread.messages ?? []) {
      if (seen.has(message.id)) continue
      seen.add(message.id)
      yield message
    }
  }
}
