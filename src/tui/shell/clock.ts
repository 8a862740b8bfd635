import { type BusinessClock, fetchClock, SLOW_EVERY_MS } from './queries.ts'
import { type Query, useQuery } from './query.ts'
import type { Host } from './screen.ts'

/** A hook that fetches business time, which may be ahead of the machine's time and may be frozen. */
export function useClock({ link }: Host): Query<BusinessClock> {
  return useQuery(fetchClock(link), { name: 'clock', every: SLOW_EVERY_MS })
}

/** Current business time, if known. */
export function businessNow({ value, at }: Query<BusinessClock>, now: number): number | undefined {
  if (value?.now === undefined || at === undefined) return undefined
  // `now` is updated once a second, so it may be earlier than `at`, the time of the fetch.
  return value.frozen ? value.now : value.now + Math.max(0, now - at)
}
