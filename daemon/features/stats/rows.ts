import { z } from 'zod'
import type { AnyCollection } from '../../store/port.ts'
import { defineCollection, stored } from '../../store/port.ts'
/** Counts of one UTC day in business time; the key is the day's date. */
export const WatchDayRow = z.strictObject({
  ...stored,
  trust_queries: z.int(),
  explorer_interactions: z.int(),
  distinct_callers: z.int(),
  /** Salt for hashing the day's callers, in hex; null once the day is closed. */
  salt: z.string().nullable(),
  closed: z.boolean(),
})
export type WatchDayRow = z.infer<typeof WatchDayRow>

/** A caller of a day; deleted when the day is closed. The key is date, colon, salted hash. */
export const WatchCallerRow = z.strictObject({ ...stored, date: z.string() })
export type WatchCallerRow = z.infer<typeof WatchCallerRow>

export const watchDays = defineCollection('watch_days', {
  schema: WatchDayRow,
  indexes: [
    { name: 'open', fields: ['id'], where: { field: 'closed', equals: false } },
    { name: 'closed', fields: ['id'], order: 'desc', where: { field: 'closed', equals: true } },
  ],
})

export const watchCallers = defineCollection('watch_callers', {
  schema: WatchCallerRow,
  indexes: [{ name: 'date', fields: ['date'] }],
})

export const statsCollections: readonly AnyCollection[] = [watchDays, watchCallers]
