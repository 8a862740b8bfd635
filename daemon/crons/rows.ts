import { z } from 'zod'
import { CronRun, MAX_CRON_RUNS } from '../../src/model/delivery.ts'
import { type AnyCollection, defineCollection } from '../store/port.ts'
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

export const crons = defineCollection('crons', {
  schema: CronRow,
  key: 'id',
  indexes: [],
})

export const cronCollections: readonly AnyCollection[] = [crons]
