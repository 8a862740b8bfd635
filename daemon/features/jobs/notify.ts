import { formatAmount, type Usdc, ZERO } from '../../../src/core/money.ts'
import type { EventType } from '../../../src/model/event-types.ts'
import type { JsonObject } from '../../../src/model/service.ts'
import { emit } from '../../events/event-log.ts'
import { participantOfWallet } from '../../kernel/rows.ts'
import type { Draw, ReadTx, Tx } from '../../store/port.ts'
import type { ServiceRow } from '../listings/rows.ts'
import { addMessage } from '../threads/messages.ts'
import { type MessageRow, type ThreadRow, threads } from '../threads/rows.ts'
import { enqueue } from '../webhooks/queue.ts'
import { deciderOf, deciderSentence } from './dispute-decision.ts'
import type { JobEvent, JobRole, JobTransition } from './machine.ts'
import type { JobRow, KeptDeliverables } from './rows.ts'
import { followJob, proposalFacts } from './thread-step.ts'

/** Fields that a step changes, besides those that follow from the new status. */
export type JobChange = Partial<Pick<JobRow, keyof KeptDeliverables | 'notes' | 'verification' | 'dispute'>>

export type JobStep = {
  readonly event: JobEvent
  readonly by: JobRole
  readonly at: number
  /** Text added to the timeline and the conversation. */
  readonly detail?: string
  readonly change?: JobChange
  /** The buyer's part of a split. */
  readonly toBuyer?: Usdc
}

/** Message that each event writes to the conversation. */
const sentences: Readonly<Record<JobEvent, string>> = {
  dispatch: 'The job was sent to the provider.',
  start: 'The provider has started work.',
  deliver: 'The provider has delivered.',
  fail: 'The provider failed the job; the payment is refunded.',
  cancel: 'The job was cancelled; the payment is refunded.',
  expire: 'The deadline has passed; the payment is refunded.',
  verify: 'The delivery was verified.',
  release: 'The payment was released to the provider.',
  dispute: 'The buyer disputes the delivery.',
  dispute_undelivered: 'The deadline has passed without a delivery, and the buyer opened a dispute.',
  rule_release: 'The dispute was decided for the provider.',
  rule_refund: 'The dispute was decided for the buyer; the payment is refunded.',
  rule_split: 'The dispute was settled by splitting the payment.',
  emergency_withdraw: 'The marketplace cancelled the escrow; the payment is refunded.',
  claim_timeout: 'The deadline has passed; the escrow contract has refunded the buyer.',
  withdraw: 'The escrow was cancelled; the escrow contract has refunded the buyer.',
}

/** Messages that replace the usual ones for jobs covered by a subscription. */
const unpaidSentences: Partial<typeof sentences> = {
  fail: 'The provider failed the job.',
  cancel: 'The job was cancelled.',
  expire: 'The deadline has passed.',
  release: 'The job is done.',
}

type JobNotification = { readonly job: JobRow; readonly arrow: JobTransition; readonly step: JobStep }

/** Announces a step of a job in conversation, event log and webhooks, in the step's transaction. */
export async function tellStep(t: Tx, draw: Draw, told: JobNotification): Promise<void> {
  await moveThread(t, draw, told)
  await emitJob(t, draw, { job: told.job, at: told.step.at })
  if (told.arrow.effects.some((effect) => effect === 'tell_buyer')) await tellBuyer(t, draw, told)
}

async function moveThread(t: Tx, draw: Draw, { job, step }: JobNotification): Promise<void> {
  const thread = await t.table(threads).getForUpdate(job.thread_id)
  if (!thread) throw new Error(`${job.id} has no thread`)
  const { event, by, detail, at } = step
  const sentence = (job.amount === ZERO ? unpaidSentences[event] : undefined) ?? sentences[event]
  const decider = deciderOf(job.dispute)
  const body = [sentence, decider ? deciderSentence(decider) : '', detail].filter(Boolean).join(' ')
  const author: MessageRow['author_role'] = by === 'admin' ? 'system' : by
  const message = { author_role: author, type: event === 'deliver' ? 'delivery' : 'status', body, now: at } as const
  await followJob(t, draw, { thread, status: job.status, message })
}

type EmittedJob = {
  readonly job: JobRow
  /** The input, if this step dispatches the job. */
  readonly input?: JobRow['input']
  readonly at: number
}

/**
 * Emits `job.<status>` to both parties. A provider can work from events alone, so a dispatch event has all data of the
 * webhook (decisions §10), with paths instead of full URLs.
 */
export async function emitJob(t: Tx, draw: Draw, { job, input, at }: EmittedJob): Promise<void> {
  const facts = { job_id: job.id, service_id: job.service_id, status: job.status, amount: formatAmount(job.amount) }
  for (const participantId of await partiesOf(t, job)) {
    const isSent = input !== undefined && participantId === job.provider_id
    const data = { ...facts, ...(isSent ? dispatchOf(job, input, '') : {}), ...decisionFacts(job) }
    await emit(t, draw, { type: `job.${job.status}`, participantId, subject: { kind: 'job', id: job.id }, data, at })
  }
}

function decisionFacts({ dispute }: JobRow): JsonObject {
  const decider = deciderOf(dispute)
  if (decider === null) return {}
  const { by, outcome, at } = decider
  return { decision: { by, outcome, at: at === null ? null : new Date(at).toISOString() } }
}

/** Reminds both parties and the operator of an open dispute. */
export async function remindOf(t: Tx, draw: Draw, { job, at }: { job: JobRow; at: number }): Promise<void> {
  const type = 'job.dispute_undecided'
  const subject = { kind: 'job', id: job.id }
  const data = {
    job_id: job.id,
    service_id: job.service_id,
    disputed_at: job.dispute === null ? null : new Date(job.dispute.opened_at).toISOString(),
    ...decisionFacts(job),
  }
  for (const participantId of await partiesOf(t, job)) await emit(t, draw, { type, participantId, subject, data, at })
}

/** Ids of the provider and, if registered, the buyer. */
async function partiesOf(t: ReadTx, job: JobRow): Promise<string[]> {
  const buyer = await participantOfWallet(t, job.buyer_wallet)
  return buyer ? [job.provider_id, buyer.id] : [job.provider_id]
}

/** Tells the buyer's endpoint how the job ended: `job.completed` or `job.failed`. */
async function tellBuyer(t: Tx, draw: Draw, { job, arrow, step }: JobNotification): Promise<void> {
  const buyer = await participantOfWallet(t, job.buyer_wallet)
  if (!buyer) return
  const { id: job_id, service_id, service_name, thread_id, notes } = job
  await enqueue(t, draw, {
    participantId: buyer.id,
    jobId: job_id,
    type: arrow.to === 'completed' ? 'job.completed' : 'job.failed',
    data: { job_id, service_id, service_name, thread_id, status: arrow.to, notes },
    now: step.at,
  })
}

type Dispatched = Required<Pick<EmittedJob, 'job' | 'input'>> & { readonly baseUrl: string; readonly now: number }

/** Sends a job to its provider's endpoint (decisions §10). A provider without an endpoint reads the event log. */
export async function dispatchJob(t: Tx, draw: Draw, { job, input, baseUrl, now }: Dispatched): Promise<void> {
  await enqueue(t, draw, {
    participantId: job.provider_id,
    serviceId: job.service_id,
    jobId: job.id,
    type: 'job_dispatch',
    data: dispatchOf(job, input, baseUrl),
    now,
  })
}

function dispatchOf(
  { id, service_id, service_name, thread_id, posting_id }: JobRow,
  input: JobRow['input'],
  baseUrl: string,
): JsonObject {
  return {
    job_id: id,
    service_id,
    service_name,
    brief: input,
    callback_url: `${baseUrl}/v1/threads/${thread_id}/update`,
    thread_id,
    ...(posting_id === null ? {} : { posting_id }),
  }
}

type Accepted = { readonly job: JobRow; readonly thread: ThreadRow; readonly now: number }

/** Tells the provider, before the dispatch, that its price was accepted and paid. */
export async function tellAccepted(t: Tx, draw: Draw, { job, thread, now }: Accepted): Promise<void> {
  const { id: job_id, service_id, service_name, provider_id: participantId } = job
  await enqueue(t, draw, {
    participantId,
    serviceId: service_id,
    jobId: job_id,
    type: 'price_accepted',
    data: {
      thread_id: thread.id,
      job_id,
      service_id,
      service_name,
      ...(thread.proposal ? proposalFacts(thread.proposal) : {}),
    },
    now,
  })
}

type Unpaid = { readonly service: ServiceRow; readonly jobId: string; readonly buyer: string; readonly now: number }

/** Tells the provider that the buyer's payment failed after the service had run, and that the result is withheld. */
export async function tellUnpaid(t: Tx, draw: Draw, { service, jobId, buyer: sender, now }: Unpaid): Promise<void> {
  const type = 'job.unpaid'
  const data = { job_id: jobId, service_id: service.id, service_name: service.name }
  const participantId = service.provider_id
  await emit(t, draw, { type, participantId, subject: { kind: 'job', id: jobId }, data, at: now })
  await enqueue(t, draw, { participantId, serviceId: service.id, jobId, sender, type, data, now })
}

type Aside = {
  readonly job: JobRow
  readonly type: EventType
  /** Message in the conversation. */
  readonly body: string
  readonly data: JsonObject
  readonly at: number
}

/** Announces a buyer's statement, such as a rating, that does not change the job's state. */
export async function sayAside(t: Tx, draw: Draw, { job, type, body, data, at }: Aside): Promise<void> {
  const thread = await t.table(threads).getForUpdate(job.thread_id)
  if (!thread) throw new Error(`${job.id} has no thread`)
  await addMessage(t, draw, { thread, message: { author_role: 'buyer', type: 'status', body, now: at } })
  const subject = { kind: 'job', id: job.id }
  const facts = { service_id: job.service_id, ...data }
  for (const participantId of await partiesOf(t, job)) {
    await emit(t, draw, { type, participantId, subject, data: facts, at })
  }
}
