import type { z } from 'zod'
import { Delivery } from '../../../src/api/sections/webhooks.ts'
import { pick } from '../../../src/core/record.ts'
import type { DeliveryRow } from './rows.ts'

/** A delivery for its owner and the administrator. It omits the body, which may be large. */
export function deliveryView(row: DeliveryRow): z.output<typeof Delivery> {
  return {
    ...pick(row, Delivery.shape),
    delivery_id: row.id,
    status: row.state,
    next_attempt_at: row.next_at,
    ended_at: row.state === 'pending' ? null : row.at,
    attempts: row.attempts.map(({ excerpt, never_sent: _, ...attempt }) => ({ ...attempt, response_excerpt: excerpt })),
  }
}
