export const SECOND_MS = 1_000
export const MINUTE_MS = 60 * SECOND_MS
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

/** Unix seconds, for x402 and webhooks. */
export function unixSeconds(epochMs: number): number {
  return Math.floor(epochMs / SECOND_MS)
}

/** Number of the UTC day in which a time lies. */
export function dayOf(epochMs: number): number {
  return Math.floor(epochMs / DAY_MS)
}
