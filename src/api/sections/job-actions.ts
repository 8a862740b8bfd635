import { z } from 'zod'
import { idOf } from '../../core/codecs.ts'
import { MAX_DELIVERY_BODY_BYTES, MAX_RATING, MAX_TEXT_CHARS } from '../../core/limits.ts'
import { usdc } from '../../core/money.ts'
import { disputeCategories } from '../../model/job.ts'
import { KnownJson } from '../../model/service.ts'
import { defineEndpoint, json, jsonBody, key, paid } from '../endpoint/define.ts'
import { Job } from './jobs.ts'

const section = 'Jobs'
const MAX_EVIDENCE_FILES = 20
const MAX_PROGRESS_CHARS = 100
export const JOB_VERIFY_PRICE = usdc(1_000n)
export const JOB_DISPUTE_PRICE = usdc(5_000n)

/**
 * A provider's report (decisions §8). `deliverable`, `result` and `message` are aliases of `deliverables` and
 * `notes`; unknown members are ignored.
 */
export const JobUpdate = z
  .object({
    status: z.enum(['in_progress', 'completed', 'failed']),
    deliverables: KnownJson.optional().meta({
      description: 'required if status is completed; must match the listing’s schema',
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

/** A buyer's verification. */
export const VerifyBody = z.strictObject({
  rating: z.int().min(1).max(MAX_RATING).optional(),
  comment: z.string().max(MAX_TEXT_CHARS).optional(),
})

/** A buyer's dispute. */
export const DisputeBody = z.strictObject({
  reason: z.string().max(MAX_TEXT_CHARS).regex(/\S/, 'required: describe the problem'),
  category: z.enum(disputeCategories),
  evidence: z.array(idOf('file')).max(MAX_EVIDENCE_FILES).optional(),
  must_hold: z.boolean().optional().meta({ description: 'true: refuse, without a charge, if no money is held' }),
})

const JobAnswer = json(Job.meta({ description: 'without input, deliverables and timeline: get the job for them' }))

export const jobActionsApi = {
  verifyJob: defineEndpoint({
    method: 'POST',
    path: '/v1/jobs/:id/verify',
    access: paid(JOB_VERIFY_PRICE),
    feature: 'escrow_jobs',
    replacement: 'POST /v1/threads/{id}/verify',
    whileSuspended: true,
    section,
    body: jsonBody(VerifyBody),
    reply: JobAnswer,
    errors: ['not_found', 'forbidden', 'invalid_transition', 'paused', 'deferred'],
    summary: 'verify delivery, triggers escrow release',
  }),

  disputeJob: defineEndpoint({
    method: 'POST',
    path: '/v1/jobs/:id/dispute',
    access: paid(JOB_DISPUTE_PRICE),
    feature: 'escrow_jobs',
    replacement: 'POST /v1/threads/{id}/dispute',
    whileSuspended: true,
    section,
    body: jsonBody(DisputeBody),
    reply: JobAnswer,
    errors: ['not_found', 'forbidden', 'invalid_transition', 'conflict', 'paused', 'deferred'],
    summary: 'dispute a delivery',
  }),

  updateJob: defineEndpoint({
    method: 'POST',
    path: '/v1/jobs/:id/update',
    access: key('provider'),
    feature: 'escrow_jobs',
    replacement: 'POST /v1/threads/{id}/update',
    section,
    body: updateBody,
    reply: JobAnswer,
    errors: ['not_found', 'forbidden', 'input_invalid', 'invalid_transition', 'conflict', 'too_large', 'deferred'],
    summary: 'provider updates job status',
  }),
}
