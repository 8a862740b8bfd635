import { formatAmount } from '../../../src/core/money.ts'
import { compact } from '../../../src/core/record.ts'
import type { Leg } from '../../../src/model/ledger.ts'
import type { JsonObject, SaleTerms } from '../../../src/model/service.ts'
import { hashSecret } from '../../kernel/identity.ts'
import { nextMembers } from '../../kernel/machine.ts'
import { largeText } from '../../store/blobs.ts'
import type { Draft, Draw, Tx } from '../../store/port.ts'
import { legsOf, type Split } from '../ledger/legs.ts'
import { deadlineMs, parseEstimate } from '../listings/delivery-estimate.ts'
import type { ServiceRow } from '../listings/rows.ts'
import type { PaymentRow } from '../payments/rows.ts'
import type { Payer } from '../payments/seller.ts'
import type { ThreadRow } from '../threads/rows.ts'
import { beginWatch } from './downtime.ts'
import { nextOf } from './job-deadlines.ts'
import { dispatchJob, emitJob, tellAccepted } from './notify.ts'
import { insertJob, type JobRow, keepDeliverables, keepInput } from './rows.ts'
import { negotiate, openThread } from './thread-step.ts'

const ACCESS_TOKEN_BYTES = 32

/** An order: from a purchase, an accepted proposal or an award. */
export type JobOrder = {
  readonly service: Pick<ServiceRow, 'id' | 'name' | 'provider_id'>
  /** Terms as quoted. They apply to the job even if the listing's terms change. */
  readonly terms: SaleTerms
  readonly payer: Payer
  readonly payment: Pick<PaymentRow, 'id' | 'receipt_id' | 'method' | 'transaction' | 'created_at'>
  readonly split: Split
  readonly input: JsonObject
  readonly postingId?: string
  /** The subscription that covers the job, if any. */
  readonly subscriptionId?: string | undefined
  readonly now: number
}

export type EscrowOrder = JobOrder & {
  /** Ledger account that the price comes from: `ext`, or the hold of a balance payment. */
  readonly source: string
  /** Conversation of the order's negotiation, locked by this transaction. If absent, a conversation is opened. */
  readonly thread?: ThreadRow
  readonly baseUrl: string
}

export type OpenedJob = {
  readonly job: JobRow
  /** Ledger legs that move the price into escrow; the caller posts them. */
  readonly legs: readonly Leg[]
  /** Access token of an anonymous buyer, shown once. */
  readonly accessToken: string | undefined
}

/**
 * Opens a job with its money in escrow (decisions §8). Within the caller's transaction, writes the job and its
 * conversation, and queues the call to the provider.
 */
export async function openEscrowJob(t: Tx, draw: Draw, order: EscrowOrder): Promise<OpenedJob> {
  const { terms, split, now, thread, baseUrl } = order
  const accessToken = newAccessToken(draw, order.payer)
  const deadline_at = now + deadlineMs(terms.estimated_delivery)
  const next = nextOf({ status: 'dispatched', service_type: terms.service_type, deadline_at }, now)
  const isHeld = split.agent > 0n
  await beginWatch(t, now)
  const job = await insertJob(t, {
    ...jobOf(draw, order, accessToken),
    ...(await keepInput(order.input, draw.file)),
    ...(thread ? { thread_id: thread.id } : {}),
    status: 'dispatched',
    deliverable_schema: terms.deliverable_schema,
    escrow_status: isHeld ? 'held' : 'none',
    held_at: isHeld ? now : null,
    open: next !== null,
    ...nextMembers(next),
    timeline: [paidEntry(order), { at: now, event: 'dispatched', detail: '' }],
    dispatched_at: now,
    deadline_at,
  })
  await talkAbout(t, draw, { job, thread, now })
  const { input } = order
  await emitJob(t, draw, { job, input, at: now })
  await dispatchJob(t, draw, { job, input, baseUrl, now })
  const legs = legsOf.escrowHold({ source: order.source, jobId: job.id, amount: split.agent })
  return { job, legs, accessToken }
}

export type InstantOrder = JobOrder & {
  readonly result: JobRow['deliverables'][number]
  /** Ids that were already sent to the provider (default: new ones). */
  readonly ids?: { readonly job: string; readonly thread: string } | undefined
}

/** Writes the job of an instant service, already delivered and paid. */
export async function openInstantJob(t: Tx, draw: Draw, order: InstantOrder): Promise<Omit<OpenedJob, 'legs'>> {
  const { now, result, ids } = order
  const accessToken = newAccessToken(draw, order.payer)
  const draft = { ...jobOf(draw, order, accessToken), ...(ids ? { id: ids.job, thread_id: ids.thread } : {}) }
  const job = await insertJob(t, {
    ...draft,
    ...(await keepInput(order.input, draw.file)),
    ...(await keepDeliverables([result], largeText([result]), draw.file)),
    status: 'completed',
    timeline: [paidEntry(order), { at: now, event: 'completed', detail: 'delivered instantly' }],
    dispatched_at: now,
    completed_at: now,
    ended_at: now,
    ended_by: 'provider',
  })
  await openThreadOf(t, job, now)
  await emitJob(t, draw, { job, at: now })
  return { job, accessToken }
}

function newAccessToken(draw: Draw, { participant }: Payer): string | undefined {
  return participant ? undefined : `jt_${draw.bytes(ACCESS_TOKEN_BYTES).toString('hex')}`
}

function paidEntry({ payment, split }: JobOrder) {
  const detail = `${formatAmount(split.agent)} USDC by ${payment.method}`
  return { at: payment.created_at, event: 'paid', detail }
}

function jobOf(draw: Draw, order: JobOrder, accessToken: string | undefined): Draft<JobRow> {
  const { service, terms, payer, payment, split } = order
  return {
    id: draw.id('job'),
    service_id: service.id,
    service_name: service.name,
    service_type: terms.service_type,
    deliverable_schema: null,
    buyer_wallet: payer.wallet,
    buyer_id: payer.participant?.id ?? null,
    provider_id: service.provider_id,
    thread_id: draw.id('thread'),
    posting_id: order.postingId ?? null,
    ...compact({ subscription_id: order.subscriptionId }),
    receipt_id: payment.receipt_id,
    payment_id: payment.id,
    payment_method: payment.method,
    transaction: payment.transaction,
    status: 'created',
    input: {},
    deliverables: [],
    deliverables_apart: false,
    notes: '',
    amount: split.agent,
    fee: split.fee,
    provider_amount: split.net,
    escrow_status: 'none',
    held_at: null,
    open: false,
    next_event: null,
    next_event_at: null,
    verification: null,
    dispute: null,
    access_token_hash: accessToken === undefined ? null : hashSecret(accessToken),
    timeline: [],
    created_at: order.now,
    dispatched_at: null,
    completed_at: null,
    deadline_at: null,
    estimate_ms: parseEstimate(terms.estimated_delivery) ?? null,
    ended_at: null,
    ended_by: null,
  }
}

type Talk = { readonly job: JobRow; readonly thread: ThreadRow | undefined; readonly now: number }

/** Continues the conversation of the negotiation for the job, or opens a new conversation. */
async function talkAbout(t: Tx, draw: Draw, { job, thread, now }: Talk): Promise<void> {
  if (!thread) return openThreadOf(t, job, now)
  const body = `The buyer accepted and paid $${formatAmount(job.amount)}; the payment is in escrow.`
  const step = { event: 'accept', by: 'buyer', jobId: job.id, body, at: now } as const
  await tellAccepted(t, draw, { job, thread: await negotiate(t, draw, { thread, step }), now })
}

async function openThreadOf(t: Tx, job: JobRow, now: number): Promise<void> {
  const { thread_id: id, service_id, buyer_wallet, buyer_id: agent_id, provider_id } = job
  await openThread(t, { sides: { id, service_id, buyer_wallet, agent_id, provider_id }, job, now })
}
