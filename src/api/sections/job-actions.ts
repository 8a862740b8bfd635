import { usdc } from '../../core/money.ts'
import { endpointsWith, json, jsonBody, key, paid } from '../endpoint/define.ts'
import { DisputeBody, Job, updateBody, VerifyBody } from './jobs.ts'

const endpoint = endpointsWith({ feature: 'escrow_jobs', section: 'Jobs' })
export const JOB_VERIFY_PRICE = usdc(1_000n)
export const JOB_DISPUTE_PRICE = usdc(5_000n)

const JobAnswer = json(Job.meta({ description: 'without input, deliverables and timeline: get the job for them' }))

export const jobActionsApi = {
  verifyJob: endpoint({
    path: '/v1/jobs/:id/verify',
    access: paid(JOB_VERIFY_PRICE),
    replacement: 'POST /v1/threads/{id}/verify',
    whileSuspended: true,
    body: jsonBody(VerifyBody),
    reply: JobAnswer,
    errors: ['not_found', 'invalid_transition'],
    summary: 'verify delivery, triggers escrow release',
  }),

  disputeJob: endpoint({
    path: '/v1/jobs/:id/dispute',
    access: paid(JOB_DISPUTE_PRICE),
    replacement: 'POST /v1/threads/{id}/dispute',
    whileSuspended: true,
    body: jsonBody(DisputeBody),
    reply: JobAnswer,
    errors: ['not_found', 'invalid_transition'],
    summary: 'dispute a delivery',
  }),

  updateJob: endpoint({
    path: '/v1/jobs/:id/update',
    access: key('provider'),
    replacement: 'POST /v1/threads/{id}/update',
    body: updateBody,
    reply: JobAnswer,
    errors: ['not_found', 'input_invalid', 'invalid_transition', 'conflict'],
    summary: 'provider updates job status',
  }),
}
