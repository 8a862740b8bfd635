import { z } from 'zod'
import { idOf, namedObject, Time } from '../../core/codecs.ts'
import { deliveryStates } from '../../model/delivery.ts'
import { paged, pageQuery } from '../endpoint/common.ts'
import { accountEndpoint, adminEndpoint, defineEndpoint, json, key } from '../endpoint/define.ts'
import { deliveryFields } from '../endpoint/list-fields.ts'
import { listQuery, searched } from '../endpoint/list-query.ts'

const status = z.enum(deliveryStates)

/** A webhook delivery with its kept attempts (decisions §10). */
export const Delivery = namedObject('Delivery', {
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

export const serviceTestApi = {
  testService: defineEndpoint({
    method: 'POST',
    path: '/v1/services/:id/test',
    access: key('provider'),
    section: 'Discovery and listings',
    reply: json({
      delivered: z.boolean(),
      status: z.int().nullable().meta({ description: 'HTTP status, null without an answer' }),
      latency_ms: z.int(),
      signature_headers: z.record(z.string(), z.string()).meta({ description: 'headers as sent' }),
      response_excerpt: z.string(),
      error: z.string().optional(),
    }),
    summary: 'sends a synthetic webhook payload, returns delivery diagnostics',
  }),
}

export const deliveriesApi = {
  listDeliveries: accountEndpoint({
    path: '/v1/webhooks/deliveries',
    access: key('provider'),
    query: z.strictObject({ status: status.optional(), ...pageQuery }),
    reply: json({ deliveries: z.array(Delivery), ...paged }),
    summary: 'own webhook deliveries with all attempts',
  }),

  replayDelivery: accountEndpoint({
    method: 'POST',
    path: '/v1/webhooks/deliveries/:id/replay',
    access: key('provider'),
    reply: json(Delivery),
    errors: ['not_found', 'conflict'],
    summary: 'send a delivery again',
  }),
}

export const webhookAdminApi = {
  replayForOperator: adminEndpoint({
    method: 'POST',
    path: '/dashboard/api/admin/webhooks/:id/replay',
    reply: json(Delivery),
    errors: ['not_found', 'conflict'],
    summary: 'send a delivery again',
  }),

  getWebhooks: adminEndpoint({
    path: '/dashboard/api/admin/webhooks',
    query: z.strictObject({
      status: status.optional(),
      participant: idOf('participant').optional(),
      ...listQuery(deliveryFields),
      ...pageQuery,
    }),
    reply: json({
      deliveries: z.array(Delivery),
      ...paged,
      ...searched,
      counts: z.record(status, z.int()).meta({ description: 'deliveries in each status, of all participants' }),
    }),
    summary: 'all deliveries',
  }),
}
