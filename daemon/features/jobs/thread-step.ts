import { formatAmount } from '../../../src/core/money.ts'
import type { EventType } from '../../../src/model/event-types.ts'
import type { JobStatus } from '../../../src/model/job.ts'
import type { JsonObject } from '../../../src/model/service.ts'
import type { Proposal } from '../../../src/model/thread.ts'
import type { PartyRole } from '../../../src/model/words.ts'
import { emit } from '../../events/event-log.ts'
import { transition } from '../../kernel/machine.ts'
import { participantOfWallet } from '../../kernel/rows.ts'
import type { Draft, Draw, Tx } from '../../store/port.ts'
import { addMessage, type NewMessage, proposalStatusAt } from '../threads/messages.ts'
import { insertThread, type ThreadRow } from '../threads/rows.ts'
import { type NegotiationEvent, threadMachine, threadStatusOf } from './machine.ts'

/* All state changes of conversations. Each function locks or creates its conversation in the caller's transaction. */

type Opening = Pick<ThreadRow, 'id' | 'service_id' | 'buyer_wallet' | 'agent_id' | 'provider_id'>

/** Opens a conversation, for an inquiry or a job. */
export function openThread(
  t: Tx,
  {
    sides,
    job,
    now,
  }: { readonly sides: Opening; readonly job?: { id: string; status: JobStatus }; readonly now: number },
): Promise<ThreadRow> {
  const draft: Draft<ThreadRow> = {
    ...sides,
    job_id: job?.id ?? null,
    status: job ? threadStatusOf[job.status] : 'inquiry',
    proposal: null,
    message_count: 0,
    created_at: now,
    updated_at: now,
  }
  return insertThread(t, draft)
}

type Following = { readonly thread: ThreadRow; readonly status: JobStatus; readonly message: NewMessage }

/** Gives a conversation the status of its job (decisions §9) and adds a message. */
export async function followJob(t: Tx, draw: Draw, { thread, status, message }: Following): Promise<void> {
  await addMessage(t, draw, { thread: { ...thread, status: threadStatusOf[status] }, message })
}

export type NegotiationStep = {
  readonly by: PartyRole
  /** Message in the conversation. */
  readonly body: string
  readonly at: number
} /** `previous`: the proposal that the new one replaces, if any. */ & (
  | { readonly event: 'propose'; readonly proposal: Proposal; readonly previous: ThreadRow['previous'] | undefined }
  | { readonly event: 'accept'; readonly jobId: string }
  | { readonly event: 'decline' }
)

/**
 * Changes the state of a conversation that has no job yet. Writes its row, a message and events.
 * @throws AppError 409 `invalid_transition` with `from`, `to` and `allowed`; nothing is written then.
 */
export async function negotiate(
  t: Tx,
  draw: Draw,
  { thread, step }: { readonly thread: ThreadRow; readonly step: NegotiationStep },
): Promise<ThreadRow> {
  const { event, by, body, at } = step
  const arrow = transition(threadMachine, { event, from: thread.status, by })
  const { previous: _over, ...kept } = thread
  const changed = {
    ...kept,
    ...(step.event === 'propose' && step.previous ? { previous: step.previous } : {}),
    status: arrow.to,
    proposal: proposalAfter(thread.proposal, step),
    job_id: step.event === 'accept' ? step.jobId : thread.job_id,
  }
  const message: NewMessage = { author_role: by, type: event === 'propose' ? 'proposal' : 'status', body, now: at }
  const said = await addMessage(t, draw, { thread: changed, message })
  await emitThread(t, draw, { type: eventTypeOf[event], thread: said.thread, at })
  return said.thread
}

function proposalAfter(proposal: Proposal | null, step: NegotiationStep): Proposal | null {
  if (step.event === 'propose') return step.proposal
  if (proposal === null) return null
  // The caller has checked that the proposal was open when the buyer paid; at `step.at` it may have expired.
  if (step.event === 'accept') return { ...proposal, status: 'accepted' }
  return proposalStatusAt(proposal, step.at) === 'open' ? { ...proposal, status: 'declined' } : proposal
}

const eventTypeOf: Readonly<Record<NegotiationEvent, EventType>> = {
  propose: 'thread.proposal',
  accept: 'thread.accepted',
  decline: 'thread.cancelled',
}

type ThreadNotification = { readonly type: EventType; readonly thread: ThreadRow; readonly at: number }

/** Emits a negotiation event to both parties. After acceptance, the job emits the events. */
export async function emitThread(t: Tx, draw: Draw, { type, thread, at }: ThreadNotification): Promise<void> {
  const buyer = await participantOfWallet(t, thread.buyer_wallet)
  const { service_id, status, job_id, proposal } = thread
  const data: JsonObject = { service_id, status, job_id, ...(proposal ? { proposal: proposalFacts(proposal) } : {}) }
  for (const participantId of [thread.provider_id, ...(buyer ? [buyer.id] : [])]) {
    await emit(t, draw, { type, participantId, subject: { kind: 'thread', id: thread.id }, data, at })
  }
}

/** A proposal as shown in events and webhooks. */
export function proposalFacts(proposal: Proposal): JsonObject {
  return {
    price: formatAmount(proposal.price),
    agent_price: formatAmount(proposal.agent_price),
    provider_net_price: formatAmount(proposal.provider_net_price),
    message: proposal.message,
    ...(proposal.estimated_delivery === null ? {} : { estimated_delivery: proposal.estimated_delivery }),
    proposed_at: new Date(proposal.proposed_at).toISOString(),
    expires_at: new Date(proposal.expires_at).toISOString(),
  }
}
