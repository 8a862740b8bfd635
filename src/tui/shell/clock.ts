import { type BusinessClock, fetchClock, SLOW_EVERY_MS } from './queries.ts'
import { type Query, useQuery } from './query.ts'
import type { Host } from './screen.ts'

/** A hook: how business time stands to the machine's. */
export function useClock({ link }: Host): Query<BusinessClock> {
  return useQuery(fetchClock(link), { name: 'clock', every: SLOW_EVERY_MS })
}

/** Business time now, as far as it is known. */
export function businessNow({ value, at }: Query<BusinessClock>, now: number): number | undefined {
  if (value?.now === undefined || at === undefined) return undefined
  // The time shown may be a second older than what was fetched since.
  return value.frozen ? value.now : value.now + Math.max(0, now - at)
}
