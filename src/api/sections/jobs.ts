import { z } from 'zod'
import { Address, Amount, idOf, Time } from '../../core/codecs.ts'
import { MAX_DELIVERY_BODY_BYTES, MAX_RATING, MAX_TEXT_CHARS } from '../../core/limits.ts'
import { usdc } from '../../core/money.ts'
import { SignedSale } from '../../core/offer-receipt.ts'
import {
  dealActs,
  dealStates,
  disputeCategories,
  escrowStatuses,
  jobDueEvents,
  jobStatuses,
  paymentMethods,
  rulings,
} from '../../model/job.ts'
import { KnownJson, KnownJsonObject } from '../../model/service.ts'
import { partyRoles } from '../../model/words.ts'
import { paged, pageQuery } from '../endpoint/common.ts'
import { endpointsWith, json, jsonBody, keyOrPaid, keyOrSignIn, keyOrToken } from '../endpoint/define.ts'
import { Message, messageQuery, NewMessage, Thread } from './threads.ts'

const endpoint = endpointsWith({ section: 'Jobs' })
const MAX_EVIDENCE_FILES = 20
const MAX_PROGRESS_CHARS = 100
export const JOB_READ_PRICE = usdc(1_000n)

const Buyer = z.strictObject({ participant_id: idOf('participant').nullable(), wallet: Address })

const JobVerification = z.strictObject({
  by: z.enum(['buyer', 'auto', 'ruling']),
  rating: z.int().nullable(),
  comment: z.string().nullable(),
  at: Time,
})

const JobDispute = z.strictObject({
  status: z.enum(['open', 'resolved', 'recorded']).meta({ description: 'recorded: no money is held' }),
  reason: z.string(),
  category: z.enum(disputeCategories),
  evidence: z.array(idOf('file')),
  proof: SignedSale.optional().meta({ description: 'the buyer’s offer and receipt, as this marketplace signed them' }),
  opened_at: Time,
  resolution: z.enum(rulings).nullable(),
  buyer_amount: Amount.nullable(),
  resolved_by: z.enum(['admin', 'system']).nullable(),
  resolution_reason: z.string().nullable(),
  resolved_at: Time.nullable(),
  decision: z
    .strictObject({
      by: z.enum(['operator', 'default']),
      outcome: z.enum(rulings).nullable().meta({ description: 'default ruling; null: none' }),
      at: Time.nullable().meta({
        description: 'time of the default ruling; null: the operator decides, without a time limit',
      }),
    })
    .nullable()
    .meta({ description: 'who decides an open dispute' }),
})

const EscrowContract = z
  .strictObject({
    state: z.enum(dealStates),
    waits: z.string().nullable().meta({ description: 'why the due step has not happened yet' }),
    transactions: z.array(z.strictObject({ act: z.enum(dealActs), transaction: z.string() })),
  })
  .meta({ description: 'only if a single job is read and its money is in the escrow contract' })

/** A job for its parties (decisions §8). */
export const Job = z
  .strictObject({
    id: idOf('job'),
    job_id: idOf('job'),
    service_id: idOf('service'),
    service_name: z.string().optional(),
    buyer: Buyer.optional(),
    provider_id: idOf('participant').optional(),
    status: z.enum(jobStatuses),
    input: KnownJsonObject.optional(),
    deliverables: z.array(KnownJson).optional(),
    notes: z.string().optional(),
    amount: Amount.optional(),
    fee: Amount.optional(),
    provider_amount: Amount.optional(),
    escrow: z
      .strictObject({
        status: z.enum(escrowStatuses),
        held_at: Time.nullable(),
        next_event: z.enum(jobDueEvents).nullable(),
        next_event_at: Time.nullable(),
        contract: EscrowContract.optional(),
      })
      .optional(),
    payment: z
      .strictObject({ method: z.enum(paymentMethods), transaction: z.string().nullable(), payer: Address })
      .optional(),
    receipt_id: idOf('receipt').optional(),
    thread_id: idOf('thread').optional(),
    posting_id: idOf('posting').nullable().optional(),
    subscription_id: idOf('subscription').optional().meta({ description: 'only if a subscription paid for the job' }),
    verification: JobVerification.nullable().optional(),
    dispute: JobDispute.nullable().optional(),
    timeline: z.array(z.strictObject({ at: Time, event: z.string(), detail: z.string() })).optional(),
    created_at: Time,
    dispatched_at: Time.nullable().optional(),
    completed_at: Time.nullable(),
    deadline_at: Time.nullable().optional(),
    ended_at: Time.nullable().optional(),
  })
  .meta({ id: 'Job', description: 'other callers who pay see only ids, status and times' })

export const ThreadWithJob = Thread.extend({ job: Job.optional() }).meta({ id: 'ThreadWithJob' })

/**
 * A provider's report (decisions §8). `deliverable`, `result` and `message` are aliases of `deliverables` and
 * `notes`; unknown members are ignored.
 */
export const JobUpdate = z
  .object({
    status: z.enum(['in_progress', 'completed', 'failed']),
    deliverables: KnownJson.optional().meta({
      description: 'required if `status` is completed; must match the listing’s schema',
    }),
    deliverable: KnownJson.optional(),
    result: KnownJson.optional(),
    notes: z.string().max(MAX_TEXT_CHARS).optional(),
    message: z.string().max(MAX_TEXT_CHARS).optional(),
    progress: z.union([z.number(), z.string().max(MAX_PROGRESS_CHARS)]).optional(),
  })
  .meta({ id: 'JobUpdate' })
export type JobUpdate = z.output<typeof JobUpdate>

/** Body with a higher size limit, because deliverables may be large. */
export const updateBody = jsonBody(JobUpdate, { maxBodyBytes: MAX_DELIVERY_BODY_BYTES })

export const VerifyBody = z.strictObject({
  rating: z.int().min(1).max(MAX_RATING).optional(),
  comment: z.string().max(MAX_TEXT_CHARS).optional(),
})

export const DisputeBody = z.strictObject({
  reason: z.string().max(MAX_TEXT_CHARS).regex(/\S/, 'required: describe the problem'),
  category: z.enum(disputeCategories),
  evidence: z.array(idOf('file')).max(MAX_EVIDENCE_FILES).optional(),
  proof: SignedSale.optional().meta({ description: 'signed offer and receipt of the purchase (x402 `offer-receipt`)' }),
  must_hold: z.boolean().optional().meta({ description: 'true: refuse, without a charge, if no money is held' }),
})

export const jobsApi = {
  getJob: endpoint({
    path: '/v1/jobs/:id',
    access: keyOrPaid(JOB_READ_PRICE, { orSignIn: true }),
    reply: json(Job),
    summary: 'job status',
  }),

  listJobs: endpoint({
    path: '/v1/jobs',
    access: keyOrSignIn,
    query: z.strictObject({
      status: z.enum(jobStatuses).optional(),
      role: z.enum(partyRoles).optional(),
      ...pageQuery,
    }),
    reply: json({
      jobs: z.array(Job).meta({ description: 'without input, deliverables and timeline: get the job for them' }),
      ...paged,
    }),
    summary: 'list own jobs',
  }),

  getJobMessages: endpoint({
    path: '/v1/jobs/:id/messages',
    access: keyOrToken,
    query: messageQuery,
    reply: json({ job_id: idOf('job'), thread_id: idOf('thread'), messages: z.array(Message), ...paged }),
    summary: 'job conversation',
  }),

  postJobMessage: endpoint({
    path: '/v1/jobs/:id/messages',
    access: keyOrToken,
    body: jsonBody(NewMessage),
    reply: json(Message),
    errors: ['not_found', 'conflict'],
    summary: 'post to the conversation',
  }),
}
