import { HOUR_MS } from '../../src/core/time.ts'
import type { Clock } from '../ports/clock.ts'
import type { Reader, Store, Tx } from '../store/port.ts'
import { defineResource } from './context.ts'
import { type TallyRow, tallies } from './rows.ts'

const WINDOW_HOURS = 24
/** Maximum number of names per group, because untrusted users choose some labels. */
const MAX_NAMES = 200
const OTHER = 'other'

/**
 * Counts of the last 24 hours of business time, by group and name, for `/health.launch`. Kept in memory and saved
 * together, because a refusal must not cost a write. A crash loses the last second.
 */
export type Tally = {
  readonly add: (group: string, name: string) => void
  readonly lastDay: (group: string) => Record<string, number>
  readonly save: () => Promise<void>
}

export const tally = defineResource<Tally>('tally')

type Groups = Map<string, Map<string, number>>

export async function openTally({ store, clock }: { store: Store; clock: Pick<Clock, 'now'> }): Promise<Tally> {
  const thisHour = () => Math.floor(clock.now() / HOUR_MS)
  const hours = await readHours(store.table(tallies), windowTo(thisHour()))
  const unsaved = new Set<number>()

  function countsOf(hour: number, group: string): Map<string, number> {
    const groups: Groups = hours.get(hour) ?? new Map()
    const counts = groups.get(group) ?? new Map<string, number>()
    hours.set(hour, groups.set(group, counts))
    return counts
  }

  return {
    add(group, name) {
      const hour = thisHour()
      const counts = countsOf(hour, group)
      const kept = counts.has(name) || counts.size < MAX_NAMES ? name : OTHER
      counts.set(kept, (counts.get(kept) ?? 0) + 1)
      unsaved.add(hour)
    },
    lastDay(group) {
      const sums = new Map<string, number>()
      for (const hour of windowTo(thisHour())) {
        for (const [name, count] of hours.get(hour)?.get(group) ?? []) sums.set(name, (sums.get(name) ?? 0) + count)
      }
      return Object.fromEntries(sums)
    },
    async save() {
      const changed = [...unsaved].map((hour) => ({ hour, counts: plainOf(hours.get(hour)) }))
      unsaved.clear()
      if (changed.length === 0) return
      const over = [...hours.keys()].filter((hour) => !windowTo(thisHour()).includes(hour))
      await store.tx(async (t) => {
        for (const { hour, counts } of changed) await writeHour(t, hour, counts)
        for (const hour of over) await t.table(tallies).delete(String(hour))
      })
      for (const hour of over) hours.delete(hour)
    },
  }
}

function windowTo(hour: number): number[] {
  return Array.from({ length: WINDOW_HOURS }, (_, back) => hour - back)
}

async function readHours(table: Reader<TallyRow>, hours: readonly number[]): Promise<Map<number, Groups>> {
  const rows = await table.getMany(hours.map(String))
  return new Map(rows.map((row) => [Number(row.id), groupsOf(row.counts)]))
}

type Plain = TallyRow['counts']

async function writeHour(t: Tx, hour: number, counts: Plain): Promise<void> {
  const table = t.table(tallies)
  await table.getForUpdate(String(hour))
  await table.put({ id: String(hour), counts })
}

function groupsOf(plain: Plain): Groups {
  return new Map(Object.entries(plain).map(([group, counts]) => [group, new Map(Object.entries(counts))]))
}

function plainOf(groups: Groups | undefined): Plain {
  return Object.fromEntries([...(groups ?? [])].map(([group, counts]) => [group, Object.fromEntries(counts)]))
}
