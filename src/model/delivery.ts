import { z } from 'zod'

const cronResults = ['success', 'skipped', 'failed'] as const
/** Causes of a cron run: its schedule, missed scheduled times, a clock move, an administrator. */
const cronTriggers = ['schedule', 'catch_up', 'clock', 'admin'] as const
export type CronTrigger = (typeof cronTriggers)[number]

export const MAX_CRON_RUNS = 20

export const CronRun = z.strictObject({
  /** Business time when the run started. */
  at: z.int(),
  took_ms: z.int(),
  trigger: z.enum(cronTriggers),
  result: z.enum(cronResults),
  /** Reason of a skip or failure. */
  reason: z.string().nullable(),
})
export type CronRun = z.infer<typeof CronRun>

/**
 * Delivery states (decisions §10): `pending`, `delivered`, `dead` (all attempts failed), `dropped` (obsolete). A
 * replayed delivery is `pending` again.
 */
export const deliveryStates = ['pending', 'delivered', 'dead', 'dropped'] as const
export type DeliveryState = (typeof deliveryStates)[number]

/** A delivery attempt: its start (wall time), and its response or failure. */
export const DeliveryAttempt = z.strictObject({
  at: z.int(),
  /** HTTP status; null without a response. */
  status: z.int().nullable(),
  latency_ms: z.int(),
  /** null on success. */
  error: z.string().nullable(),
  /** Beginning of the response. */
  excerpt: z.string(),
  /** Nothing was sent. */
  never_sent: z.literal(true).exactOptional(),
})
export type DeliveryAttempt = z.infer<typeof DeliveryAttempt>
