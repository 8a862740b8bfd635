import { z } from 'zod'
import { Address } from '../core/hex.ts'
import { idOf } from '../core/id.ts'
import { Amount, usdc } from '../core/money.ts'
import { jobStatuses, paymentMethods } from '../model/job.ts'
import { JsonObject } from '../model/service.ts'
import { Time } from './common.ts'
import { defineEndpoint, json, keyOrPaid } from './endpoint.ts'

const section = 'Jobs'
export const JOB_READ_PRICE = usdc(1_000n)

const Buyer = z.strictObject({ participant_id: idOf('participant').nullable(), wallet: Address })

/** The whole job record, for its parties (decisions §8). */
export const Job = z
  .strictObject({
    id: idOf('job'),
    job_id: idOf('job'),
    service_id: idOf('service'),
    service_name: z.string().optional(),
    buyer: Buyer.optional(),
    provider_id: idOf('participant').optional(),
    status: z.enum(jobStatuses),
    input: JsonObject.optional(),
    deliverables: z.array(z.json()).optional(),
    notes: z.string().optional(),
    amount: Amount.optional(),
    fee: Amount.optional(),
    provider_amount: Amount.optional(),
    escrow: z
      .strictObject({
        status: z.enum(['none', 'held', 'released', 'refunded', 'split']),
        held_at: Time.nullable(),
        next_event: z.string().nullable(),
        next_event_at: Time.nullable(),
      })
      .optional(),
    payment: z
      .strictObject({ method: z.enum(paymentMethods), transaction: z.string().nullable(), payer: Address })
      .optional(),
    receipt_id: idOf('receipt').optional(),
    thread_id: idOf('thread').optional(),
    posting_id: idOf('posting').nullable().optional(),
    verification: z.json().optional(),
    dispute: z.json().optional(),
    timeline: z.array(z.strictObject({ at: Time, event: z.string(), detail: z.string() })).optional(),
    created_at: Time,
    dispatched_at: Time.nullable().optional(),
    completed_at: Time.nullable(),
    deadline_at: Time.nullable().optional(),
  })
  .meta({ id: 'Job', description: 'a paying stranger sees only ids, status and times' })

export const getJob = defineEndpoint({
  method: 'GET',
  path: '/v1/jobs/:id',
  access: keyOrPaid(JOB_READ_PRICE),
  section,
  reply: json(Job),
  errors: ['not_found', 'forbidden', 'paused'],
  summary: 'job status',
})
