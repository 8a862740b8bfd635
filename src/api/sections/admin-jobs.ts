import { z } from 'zod'
import { Address, Amount, idOf, namedObject, Time } from '../../core/codecs.ts'
import { MAX_TEXT_CHARS } from '../../core/limits.ts'
import { jobStatuses, paymentMethods, rulings } from '../../model/job.ts'
import { paymentStates } from '../../model/payment.ts'
import { paged, pageQuery } from '../endpoint/common.ts'
import { adminEndpoint, json, jsonBody } from '../endpoint/define.ts'
import { jobFields } from '../endpoint/list-fields.ts'
import { jobOrders } from '../endpoint/list-orders.ts'
import { listQuery, searched } from '../endpoint/list-query.ts'
import { EventAbout, partyFilter } from './admin.ts'
import { Job } from './jobs.ts'
import { Attachment } from './thread-files.ts'
import { Thread } from './threads.ts'

const Reason = z.string().max(MAX_TEXT_CHARS).regex(/\S/, 'required: give a reason')

const SchemaReport = z.strictObject({
  ok: z.boolean(),
  details: z.array(z.strictObject({ path: z.string(), message: z.string() })),
})

const MarketJob = Job.extend({
  about: EventAbout.optional(),
  late: z.boolean().optional().meta({ description: 'job in progress past its deadline or promised time' }),
}).meta({ id: 'MarketJob' })

/** Evidence for a ruling, as of the time of the call. */
const JobBundle = namedObject('JobBundle', {
  generated_at: Time,
  job: MarketJob.meta({ description: 'the full job: input, deliverables and timeline' }),
  schema_report: z.strictObject({
    input: SchemaReport.nullable().meta({ description: 'the input, checked against the current listing' }),
    deliverables: SchemaReport.nullable().meta({ description: 'deliverables, checked with the listing at purchase' }),
  }),
  deliverable_hashes: z.array(
    z.strictObject({
      index: z.int(),
      bytes: z.int(),
      sha256: z.string().meta({ description: 'SHA-256 of the deliverable’s RFC 8785 form, hex' }),
    }),
  ),
  thread: Thread.meta({ description: 'the thread with all of its messages, oldest first' }),
  files: z.array(Attachment).meta({ description: 'files of the thread; the dispute lists those used as evidence' }),
  payment: z
    .strictObject({
      receipt_id: idOf('receipt'),
      endpoint: z.string(),
      method: z.enum(paymentMethods),
      state: z.enum(paymentStates),
      amount: Amount,
      payer: Address,
      transaction: z.string().nullable(),
      created_at: Time,
    })
    .nullable(),
  postings: z.array(
    z.strictObject({
      transaction_id: idOf('transaction'),
      kind: z.string(),
      at: Time,
      lines: z.array(z.strictObject({ account: z.string(), amount: Amount })),
    }),
  ),
})

export const rulingsApi = {
  listAllJobs: adminEndpoint({
    path: '/dashboard/api/admin/jobs',
    query: z.strictObject({
      status: z.enum(jobStatuses).optional(),
      ...partyFilter,
      ...listQuery(jobFields, jobOrders),
      ...pageQuery,
    }),
    reply: json({
      jobs: z.array(MarketJob).meta({ description: 'jobs without input, deliverables and timeline' }),
      ...paged,
      ...searched,
    }),
    summary: 'all jobs with filters',
  }),

  getJobBundle: adminEndpoint({
    path: '/dashboard/api/admin/jobs/:id/bundle',
    reply: json(JobBundle),
    summary: 'collect the evidence of a dispute: job, schemas, hashes, messages, postings',
  }),

  resolveJob: adminEndpoint({
    path: '/dashboard/api/admin/jobs/:id/resolve',
    body: jsonBody({
      outcome: z.enum(rulings),
      buyer_amount: Amount.optional().meta({ description: 'amount that a split refunds to the buyer' }),
      reason: Reason,
    }),
    reply: json(Job),
    errors: ['not_found', 'invalid_transition', 'paused'],
    summary: 'resolve a dispute: release, refund, split',
  }),

  withdrawJob: adminEndpoint({
    path: '/dashboard/api/admin/jobs/:id/emergency-withdraw',
    body: jsonBody({ reason: Reason }),
    reply: json(Job),
    errors: ['not_found', 'invalid_transition', 'conflict', 'unavailable'],
    summary: 'refund a held payment to its buyer',
  }),
}
