import { z } from 'zod'

export const cronResults = ['success', 'skipped', 'failed'] as const
/** What started a run: its schedule, one or more times of it that were missed, a moved clock, an administrator. */
export const cronTriggers = ['schedule', 'catch_up', 'clock', 'admin'] as const
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
