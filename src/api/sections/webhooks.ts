import { z } from 'zod'
import { idOf } from '../../core/codecs.ts'
import { deliveryStates } from '../../model/delivery.ts'
import { pageQuery, Time } from '../endpoint/common.ts'
import { admin, defineEndpoint, json, key } from '../endpoint/define.ts'
import { deliveryFields } from '../endpoint/list-fields.ts'
import { listQuery, searched } from '../endpoint/list-query.ts'

const page = { total: z.int(), limit: z.int(), offset: z.int() }
const status = z.enum(deliveryStates)

/** A webhook delivery with its kept attempts (decisions §10). */
export const Delivery = z
  .strictObject({
    id: idOf('delivery'),
    delivery_id: idOf('delivery'),
    event_id: idOf('event').meta({ description: 'sent as webhook-id: the same for all retries and replays' }),
    type: z.string(),
    status,
    reason: z.string().nullable().meta({ description: 'reason for the failure' }),
    participant_id: idOf('participant'),
    service_id: idOf('service').nullable(),
    job_id: idOf('job').nullable(),
    url: z.string(),
    created_at: Time,
    next_attempt_at: Time.nullable(),
    ended_at: Time.nullable(),
    attempts: z.array(
      z.strictObject({
        at: Time,
        status: z.int().nullable().meta({ description: 'HTTP status, null without an answer' }),
        latency_ms: z.int(),
        error: z.string().nullable(),
        response_excerpt: z.string(),
      }),
    ),
  })
  .meta({ id: 'Delivery' })

export const serviceTestApi = {
  testService: defineEndpoint({
    method: 'POST',
    path: '/v1/services/:id/test',
    access: key('provider'),
    section: 'Discovery and listings',
    reply: json(
      z.strictObject({
        delivered: z.boolean(),
        status: z.int().nullable().meta({ description: 'HTTP status, null without an answer' }),
        latency_ms: z.int(),
        signature_headers: z.record(z.string(), z.string()).meta({ description: 'headers as sent' }),
        response_excerpt: z.string(),
        error: z.string().optional(),
      }),
    ),
    errors: ['forbidden', 'not_found'],
    summary: 'sends a synthetic webhook payload, returns delivery diagnostics',
  }),
}

export const deliveriesApi = {
  listDeliveries: defineEndpoint({
    method: 'GET',
    path: '/v1/webhooks/deliveries',
    access: key('provider'),
    origin: 'ours',
    section: 'Account',
    query: z.strictObject({ status: status.optional(), ...pageQuery }),
    reply: json(z.strictObject({ deliveries: z.array(Delivery), ...page })),
    errors: ['invalid_request'],
    summary: 'own webhook deliveries with all attempts',
  }),

  replayDelivery: defineEndpoint({
    method: 'POST',
    path: '/v1/webhooks/deliveries/:id/replay',
    access: key('provider'),
    origin: 'ours',
    section: 'Account',
    reply: json(Delivery),
    errors: ['not_found', 'conflict'],
    summary: 'send a delivery again',
  }),
}

export const webhookAdminApi = {
  replayForOperator: defineEndpoint({
    method: 'POST',
    path: '/dashboard/api/admin/webhooks/:id/replay',
    access: admin,
    origin: 'ours',
    section: 'Administration',
    reply: json(Delivery),
    errors: ['not_found', 'conflict'],
    summary: 'send a delivery again',
  }),

  getWebhooks: defineEndpoint({
    method: 'GET',
    path: '/dashboard/api/admin/webhooks',
    access: admin,
    origin: 'ours',
    section: 'Administration',
    query: z.strictObject({
      status: status.optional(),
      participant: idOf('participant').optional(),
      ...listQuery(deliveryFields),
      ...pageQuery,
    }),
    reply: json(
      z.strictObject({
        deliveries: z.array(Delivery),
        ...page,
        ...searched,
        counts: z.record(status, z.int()).meta({ description: 'deliveries in each status, of all participants' }),
      }),
    ),
    errors: ['invalid_request'],
    summary: 'all deliveries',
  }),
}
