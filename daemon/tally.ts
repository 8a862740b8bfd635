import { HOUR_MS } from '../src/core/time.ts'
import type { Clock } from './ports/clock.ts'

const WINDOW_HOURS = 24
/** Names of one group; labels that strangers choose cannot grow it further. */
const MAX_NAMES = 200
const OTHER = 'other'

/**
 * Counts of the last 24 hours of business time, by group and name, for `/health.launch`. In memory: a refusal
 * must not cost a write, and a restart begins a new count.
 */
export type Tally = {
  readonly add: (group: string, name: string) => void
  readonly lastDay: (group: string) => Record<string, number>
}

type Counts = Map<string, number>

export function createTally(clock: Pick<Clock, 'now'>): Tally {
  const groups = new Map<string, Map<number, Counts>>()
  const hour = () => Math.floor(clock.now() / HOUR_MS)

  function hoursOf(group: string): Map<number, Counts> {
    const hours = groups.get(group) ?? new Map<number, Counts>()
    groups.set(group, hours)
    for (const old of hours.keys()) if (old <= hour() - WINDOW_HOURS) hours.delete(old)
    return hours
  }

  return {
    add(group, name) {
      const hours = hoursOf(group)
      const counts = hours.get(hour()) ?? new Map<string, number>()
      hours.set(hour(), counts)
      const kept = counts.has(name) || counts.size < MAX_NAMES ? name : OTHER
      counts.set(kept, (counts.get(kept) ?? 0) + 1)
    },
    lastDay(group) {
      const sums = new Map<string, number>()
      for (const counts of hoursOf(group).values()) {
        for (const [name, count] of counts) sums.set(name, (sums.get(name) ?? 0) + count)
      }
      return Object.fromEntries(sums)
    },
  }
}
