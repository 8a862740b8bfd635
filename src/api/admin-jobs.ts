import { z } from 'zod'
import { Address } from '../core/hex.ts'
import { idOf } from '../core/id.ts'
import { MAX_TEXT_CHARS } from '../core/limits.ts'
import { Amount } from '../core/money.ts'
import { jobStatuses, rulings } from '../model/job.ts'
import { partyRoles } from '../model/party.ts'
import { pageQuery } from './common.ts'
import { admin, defineEndpoint, json, jsonBody } from './endpoint.ts'
import { Job } from './jobs.ts'

const section = 'Administration'
const Reason = z.string().max(MAX_TEXT_CHARS).regex(/\S/, 'must say why')

export const listAllJobs = defineEndpoint({
  method: 'GET',
  path: '/dashboard/api/admin/jobs',
  access: admin,
  origin: 'ours',
  section,
  query: z.strictObject({
    status: z.enum(jobStatuses).optional(),
    participant: z
      .union([idOf('participant'), Address], 'must be a participant id or a wallet')
      .optional()
      .meta({ description: 'a party of the job: participant id or wallet' }),
    role: z.enum(partyRoles).optional().meta({ description: 'what that party is' }),
    ...pageQuery,
  }),
  reply: json(
    z.strictObject({
      jobs: z.array(Job).meta({ description: 'without input, deliverables and timeline' }),
      total: z.int(),
      limit: z.int(),
      offset: z.int(),
    }),
  ),
  errors: ['invalid_request'],
  summary: 'all jobs with filters',
})

export const resolveJob = defineEndpoint({
  method: 'POST',
  path: '/dashboard/api/admin/jobs/:id/resolve',
  access: admin,
  origin: 'ours',
  section,
  body: jsonBody(
    z.strictObject({
      outcome: z.enum(rulings),
      buyer_amount: Amount.optional().meta({ description: 'what a split gives back to the buyer' }),
      reason: Reason,
    }),
  ),
  reply: json(Job),
  errors: ['invalid_request', 'not_found', 'invalid_transition', 'paused'],
  summary: 'resolve a dispute: release, refund, split',
})

export const withdrawJob = defineEndpoint({
  method: 'POST',
  path: '/dashboard/api/admin/jobs/:id/emergency-withdraw',
  access: admin,
  origin: 'ours',
  section,
  body: jsonBody(z.strictObject({ reason: Reason })),
  reply: json(Job),
  errors: ['invalid_request', 'not_found', 'invalid_transition', 'conflict'],
  summary: 'pay a hold back to its buyer',
})
