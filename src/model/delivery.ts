import { z } from 'zod'

const cronResults = ['success', 'skipped', 'failed'] as const
/** What started a run: its schedule, one or more times of it that were missed, a moved clock, an administrator. */
const cronTriggers = ['schedule', 'catch_up', 'clock', 'admin'] as const
export type CronTrigger = (typeof cronTriggers)[number]

/** Runs that a cron's row remembers. */
export const MAX_CRON_RUNS = 20

export const CronRun = z.strictObject({
  /** Business time at which it began. */
  at: z.int(),
  took_ms: z.int(),
  trigger: z.enum(cronTriggers),
  result: z.enum(cronResults),
  /** Why it was skipped or failed. */
  reason: z.string().nullable(),
})
export type CronRun = z.infer<typeof CronRun>

/**
 * Life of a message to a participant's endpoint (decisions §10): `pending` until it was taken (`delivered`), nobody
 * took it (`dead`), or it made no sense any more (`dropped`). A replay makes it `pending` again.
 */
export const deliveryStates = ['pending', 'delivered', 'dead', 'dropped'] as const
export type DeliveryState = (typeof deliveryStates)[number]

/** One try: when it began (wall time), what came back, or why nothing did. */
export const DeliveryAttempt = z.strictObject({
  at: z.int(),
  /** HTTP status, null when there was no answer. */
  status: z.int().nullable(),
  latency_ms: z.int(),
  /** null when the endpoint took it. */
  error: z.string().nullable(),
  /** Beginning of the answer. */
  excerpt: z.string(),
  /** Nothing of it left this machine. */
  never_sent: z.literal(true).exactOptional(),
})
export type DeliveryAttempt = z.infer<typeof DeliveryAttempt>
