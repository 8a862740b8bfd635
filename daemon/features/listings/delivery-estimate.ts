import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../src/core/time.ts'

/** A job's time limit is this many times its listing's estimate. */
const PATIENCE = 3
/** Shortest and longest time limit of a job (decisions §8). */
export const SHORTEST_DEADLINE_MS = DAY_MS
export const LONGEST_DEADLINE_MS = 14 * DAY_MS
/** Time limit for estimates without a time, such as "instant" or "soon". */
export const UNKNOWN_DEADLINE_MS = 7 * DAY_MS

const WEEK_MS = 7 * DAY_MS
const MONTH_MS = 30 * DAY_MS
/** Longer estimates are truncated. */
const MAX_ESTIMATE_CHARS = 200

/** Prefixes of unit names. The first prefix that matches counts, so `mo` comes before `m`. */
const units: readonly (readonly [prefix: string, ms: number])[] = [
  ['mo', MONTH_MS],
  ['s', SECOND_MS],
  ['m', MINUTE_MS],
  ['h', HOUR_MS],
  ['d', DAY_MS],
  ['w', WEEK_MS],
]

const NUMBER = String.raw`(\d{1,9}(?:\.\d{1,9})?)`
const UNIT = '(months?|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d|weeks?|wks?|w)'
const KIND_OF_DAY = '(?:(?:business|working|calendar) )?'
const TIME = new RegExp(String.raw`${NUMBER}(?:\s?(?:-|–|—|to|or)\s?${NUMBER})?[\s-]?${KIND_OF_DAY}${UNIT}\b`, 'g')

/**
 * Parses an estimate such as `"10 seconds"` to milliseconds. Of a range (`"1-3 days"`, `"90 min to 2 hours"`), the
 * upper end counts.
 * @returns undefined if the text has no time
 */
export function parseEstimate(text: string): number | undefined {
  const words = text.slice(0, MAX_ESTIMATE_CHARS).toLowerCase().replace(/\s+/g, ' ')
  const times = [...words.matchAll(TIME)].map(([, low, high, unit]) =>
    Math.round(Math.max(Number(low), Number(high ?? low)) * unitMs(unit as string)),
  )
  return times.length === 0 ? undefined : Math.max(...times)
}

function unitMs(unit: string): number {
  return (units.find(([prefix]) => unit.startsWith(prefix)) as (typeof units)[number])[1]
}

/** Time limit of a job with this estimate, in milliseconds. */
export function deadlineMs(estimate: string): number {
  const expected = parseEstimate(estimate)
  if (expected === undefined) return UNKNOWN_DEADLINE_MS
  return Math.min(Math.max(PATIENCE * expected, SHORTEST_DEADLINE_MS), LONGEST_DEADLINE_MS)
}
