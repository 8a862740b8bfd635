import type { z } from 'zod'
import type { Delivery } from '../../../src/api/sections/webhooks.ts'
import type { DeliveryRow } from './rows.ts'

/** A delivery for its owner and the administrator. It omits the body, which may be large. */
export function deliveryView(row: DeliveryRow): z.output<typeof Delivery> {
  return {
    id: row.id,
    delivery_id: row.id,
    event_id: row.event_id,
    type: row.type,
    status: row.state,
    reason: row.reason,
    participant_id: row.participant_id,
    service_id: row.service_id,
    job_id: row.job_id,
    url: row.url,
    created_at: row.created_at,
    next_attempt_at: row.next_at,
    ended_at: row.state === 'pending' ? null : row.at,
    attempts: row.attempts.map(({ excerpt, never_sent: _, ...attempt }) => ({ ...attempt, response_excerpt: excerpt })),
  }
}
