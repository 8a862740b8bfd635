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

/** What is known of a cron; `/health.crons` is read off this row. Times are business time. */
export const CronRow = z.strictObject({
  /** Name of the cron. */
  id: z.string(),
  version: z.int(),
  /** Since when there is this cron here; a young one is not stale. */
  created_at: z.int(),
  paused_at: z.int().nullable(),
  /** Times of the schedule up to here were served, or replaced by one later run. */
  served_until: z.int(),
  last_success: z.int().nullable(),
  last_skipped: z.int().nullable(),
  last_failure: z.int().nullable(),
  /** Why the latest run was skipped; null when it was not. */
  skip_reason: z.string().nullable(),
  /** Newest first, at most `MAX_CRON_RUNS`. */
  runs: z.array(CronRun).max(MAX_CRON_RUNS),
})
export type CronRow = z.infer<typeof CronRow>
