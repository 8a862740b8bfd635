import type { z } from 'zod'
import { Message, type messageQuery, Thread } from '../../../src/api/sections/threads.ts'
import { AppError } from '../../../src/core/error.ts'
import { MAX_PAGE } from '../../../src/core/limits.ts'
import { compact, pick } from '../../../src/core/record.ts'
import { DAY_MS } from '../../../src/core/time.ts'
import type { Proposal } from '../../../src/model/thread.ts'
import { type ProposalStatus, proposalStatuses } from '../../../src/model/words.ts'
import { emit } from '../../events/event-log.ts'
import { defineMachine } from '../../kernel/machine.ts'
import { participantOfWallet } from '../../kernel/rows.ts'
import { offsetPage } from '../../store/each-page.ts'
import type { Draw, ReadTx, Tx } from '../../store/port.ts'
import { enqueue } from '../webhooks/queue.ts'
import { type MessageRow, messages, putThread, type ThreadRow } from './rows.ts'

/** How long a proposal can be accepted, in business time (decisions §9). */
export const PROPOSAL_LIFE_MS = 7 * DAY_MS

/** Proposal state machine. A conversation has at most one open proposal. A newer proposal makes it `superseded`. */
export const proposalMachine = defineMachine({
  noun: 'proposal',
  states: proposalStatuses,
  transitions: [
    { event: 'accept', from: ['open'], to: 'accepted', by: ['buyer'], effects: [] },
    { event: 'decline', from: ['open'], to: 'declined', by: ['buyer', 'provider'], effects: [] },
    { event: 'replace', from: ['open'], to: 'superseded', by: ['provider'], effects: [] },
    { event: 'expire', from: ['open'], to: 'expired', by: ['system'], effects: [] },
  ],
})

/** Status of a proposal at a given time. Expiry is computed here, not stored. */
export function proposalStatusAt({ status, expires_at }: Proposal, at: number): ProposalStatus {
  return status === 'open' && at >= expires_at ? 'expired' : status
}

/** A conversation with this many messages is full. Only status messages of jobs can still be added to it. */
export const MAX_MESSAGES = 1_000

export type NewMessage = Pick<MessageRow, 'author_role' | 'type' | 'body'> & {
  readonly fileId?: string
  readonly now: number
}

/** Appends to a locked conversation and notifies the other side. @returns the message and the updated thread */
export async function addMessage(
  t: Tx,
  draw: Draw,
  { thread, message }: { readonly thread: ThreadRow; readonly message: NewMessage },
): Promise<{ message: MessageRow; thread: ThreadRow }> {
  const { now, fileId, ...said } = message
  const row = await t.table(messages).insert({
    ...said,
    id: draw.id('message'),
    thread_id: thread.id,
    number: thread.message_count + 1,
    file_id: fileId ?? null,
    created_at: now,
  })
  const changed = await putThread(t, { ...thread, message_count: row.number, updated_at: now })
  await notifyOtherSide(t, draw, { thread: changed, message: row })
  return { message: row, thread: changed }
}

/** @throws AppError `conflict` when the conversation was cancelled or is full */
export function refuseClosed(thread: ThreadRow): void {
  if (thread.status === 'cancelled') throw new AppError('conflict', 'This conversation was cancelled.')
  if (thread.message_count >= MAX_MESSAGES) {
    throw new AppError('conflict', `This conversation is full: it has ${MAX_MESSAGES} messages.`)
  }
}

/** Message types sent to endpoints as `new_message`. Jobs and proposals have their own webhook messages. */
const saidToEndpoints: ReadonlySet<MessageRow['type']> = new Set(['message', 'file'])

/** Emits an event to the other side. It has no text, because only the parties may read the text. */
async function notifyOtherSide(
  t: Tx,
  draw: Draw,
  { thread, message }: { thread: ThreadRow; message: MessageRow },
): Promise<void> {
  const { author_role: author, type } = message
  const buyer = author === 'buyer' ? undefined : await participantOfWallet(t, thread.buyer_wallet)
  const hearers = [author === 'provider' ? undefined : thread.provider_id, buyer?.id]
  for (const participantId of hearers.filter((id) => id !== undefined)) {
    await emit(t, draw, {
      type: 'message.created',
      participantId,
      subject: { kind: 'thread', id: thread.id },
      data: { message_id: message.id, job_id: thread.job_id, author_role: author, type },
      at: message.created_at,
    })
    // The first message of an inquiry is announced as `thread_inquiry`.
    if (saidToEndpoints.has(type) && !(thread.status === 'inquiry' && message.number === 1))
      await callEndpoint(t, draw, { thread, message, participantId })
  }
}

type Heard = { readonly thread: ThreadRow; readonly message: MessageRow; readonly participantId: string }

/** Sender of a message; none if the marketplace wrote it. */
function senderOf(thread: ThreadRow, { author_role: author }: MessageRow): { readonly sender?: string } {
  if (author === 'buyer') return { sender: thread.buyer_wallet }
  return author === 'provider' ? { sender: thread.provider_id } : {}
}

/** Sends `new_message` (decisions §10). The provider gets it at the listing's own endpoint if there is one. */
async function callEndpoint(t: Tx, draw: Draw, { thread, message, participantId }: Heard): Promise<void> {
  await enqueue(t, draw, {
    participantId,
    ...(participantId === thread.provider_id ? { serviceId: thread.service_id } : {}),
    ...(thread.job_id === null ? {} : { jobId: thread.job_id }),
    ...senderOf(thread, message),
    type: 'new_message',
    data: {
      thread_id: thread.id,
      job_id: thread.job_id,
      service_id: thread.service_id,
      message_id: message.id,
      author_role: message.author_role,
      message: message.body,
      ...(message.file_id === null ? {} : { file_id: message.file_id }),
    },
    now: message.created_at,
  })
}

/** A page of messages, oldest first. Skips the newest `offset` messages. */
export async function readMessages(t: ReadTx, thread: ThreadRow, query: z.output<typeof messageQuery>) {
  const slice = { ...query, limit: query.limit ?? MAX_PAGE, index: 'thread', prefix: [thread.id] }
  const { rows, ...page } = await offsetPage(t.table(messages), slice)
  return { messages: rows.toReversed().map(messageView), ...page }
}

export function messageView({ file_id, ...row }: MessageRow): z.output<typeof Message> {
  return { ...pick(row, Message.shape), message_id: row.id, ...compact({ file_id: file_id ?? undefined }) }
}

/** A conversation without messages, for lists. */
export function threadView(row: ThreadRow, now: number): z.output<typeof Thread> {
  return { ...pick(row, Thread.shape), thread_id: row.id, proposal: proposalView(row.proposal, now) }
}

function proposalView(proposal: ThreadRow['proposal'], now: number): z.output<typeof Thread>['proposal'] {
  if (proposal === null) return null
  const { estimated_delivery, terms: _frozen, ...stored } = proposal
  const shown = { ...stored, status: proposalStatusAt(proposal, now) }
  return estimated_delivery === null ? shown : { ...shown, estimated_delivery }
}
