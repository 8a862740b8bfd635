import { z } from 'zod'
import { CronRun, MAX_CRON_RUNS } from '../../src/model/delivery.ts'
import { type AnyCollection, defineCollection, stored } from '../store/port.ts'
/** State of a cron, as shown in `/health.crons`. Times are business time. */
export const CronRow = z.strictObject({
  ...stored,
  /** Creation time. Staleness counts from here until the first run. */
  created_at: z.int(),
  paused_at: z.int().nullable(),
  /** Scheduled times up to this one need no run any more. */
  served_until: z.int(),
  last_success: z.int().nullable(),
  last_skipped: z.int().nullable(),
  last_failure: z.int().nullable(),
  /** Why the latest run was skipped; null if it was not. */
  skip_reason: z.string().nullable(),
  /** Newest first, at most `MAX_CRON_RUNS`. */
  runs: z.array(CronRun).max(MAX_CRON_RUNS),
})
export type CronRow = z.infer<typeof CronRow>

export const crons = defineCollection('crons', { schema: CronRow, indexes: [] })

export const cronCollections: readonly AnyCollection[] = [crons]
