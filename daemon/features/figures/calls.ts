import type { Endpoint } from '../../../src/api/endpoint/define.ts'
import { api } from '../../../src/api/index.ts'
import { CALL_HOURS, type CallOutcome } from '../../../src/api/sections/admin-figures.ts'
import { keptIn } from '../../../src/core/record.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../src/core/time.ts'
import type { SeriesSpan } from '../../../src/model/words.ts'
import { defineResource } from '../../kernel/context.ts'
import { type CallRing, type CallSums, callRing, callSum, countsOf } from './buckets.ts'

const MINUTES_KEPT = DAY_MS / MINUTE_MS
/** Two weeks, so that a week can be compared with the one before, and a day to tell when counting began. */
export const HOURS_KEPT = (15 * DAY_MS) / HOUR_MS

export type AnsweredCall = {
  readonly endpoint: string
  readonly status: number
  readonly code: string | null
  readonly ms: number
  readonly requestId: string
}

type Seen = { readonly at: number; readonly ms: number; readonly status: number; readonly requestId: string }
type OfEndpoint = { readonly ring: CallRing; slowest: Seen | null; broken: Seen | null }

/** Counts and durations of calls, over wall time and per endpoint. The arrays do not grow. */
export type CallFigures = {
  /** Start of counting, except for the hours, which the rollup keeps over restarts. */
  readonly since: number
  readonly add: (call: AnsweredCall) => void
  /** Sums of the last `count` minutes or hours up to the one that contains `at`. */
  readonly within: (interval: Interval, at: number, count: number) => CallSums
  /** Adds counts of an hour from before the start. */
  readonly restore: (at: number, counts: readonly number[]) => void
  /** Hands over the counts by hour that are not stored yet. They stay unstored if `write` fails. */
  readonly save: (write: (hours: ReadonlyMap<number, readonly number[]>) => Promise<void>) => Promise<void>
  /** Endpoints called so far, with their sums over the last `hours`. */
  readonly byEndpoint: (hours: number) => readonly EndpointCalls[]
}

export type EndpointCalls = {
  readonly endpoint: string
  readonly sums: CallSums
  readonly byHour: readonly number[]
  readonly slowest: Seen | null
  readonly broken: Seen | null
}

export const callFigures = defineResource<CallFigures>('call-figures')

export type Interval = 'minute' | 'hour'
export const intervalMs = { minute: MINUTE_MS, hour: HOUR_MS } as const satisfies Record<Interval, number>

/** Length and number of the buckets in each span. */
export const spans = {
  hour: { bucketMs: MINUTE_MS, count: 60, interval: 'minute' },
  day: { bucketMs: 15 * MINUTE_MS, count: 96, interval: 'minute' },
  week: { bucketMs: HOUR_MS, count: (7 * DAY_MS) / HOUR_MS, interval: 'hour' },
} as const satisfies Record<SeriesSpan, { bucketMs: number; count: number; interval: Interval }>

export function outcomeOf({ status, code }: Pick<AnsweredCall, 'status' | 'code'>): CallOutcome {
  if (status === 402) return 'asked_to_pay'
  // A pause or a disabled endpoint is the operator's decision, not a failure.
  if (status === 410 || code === 'paused') return 'switched_off'
  if (status >= 500) return 'broken'
  return status >= 400 ? 'refused' : 'answered'
}

const ofOperators: ReadonlySet<string> = new Set([
  'getHealth',
  ...Object.entries<Endpoint>(api).flatMap(([name, { access }]) => (access.kind === 'admin' ? [name] : [])),
])
const isOperators = (endpoint: string) => ofOperators.has(endpoint)

/** @param endpoints - names of the API's endpoints. Calls of other paths count only in the sums by time. */
export function openCallFigures(wall: () => number, endpoints: ReadonlySet<string>): CallFigures {
  const minutes = callRing(MINUTE_MS, MINUTES_KEPT)
  const hours = callRing(HOUR_MS, HOURS_KEPT)
  const unsaved = unsavedHours()
  const rows = new Map<string, OfEndpoint>()

  function rowOf(name: string): OfEndpoint {
    return keptIn(rows, name, () => ({ ring: callRing(HOUR_MS, CALL_HOURS), slowest: null, broken: null }))
  }

  return {
    since: wall(),
    add({ endpoint, status, code, ms, requestId }) {
      const at = wall()
      const outcome = outcomeOf({ status, code })
      // Leave the operator's calls out of the sums by time, because they are not trade: an open cockpit polls all day.
      if (!isOperators(endpoint)) {
        minutes.add(at, outcome, ms)
        hours.add(at, outcome, ms)
        unsaved.add(at - (at % HOUR_MS), countsOf(outcome, ms))
      }
      if (!endpoints.has(endpoint)) return
      const row = rowOf(endpoint)
      row.ring.add(at, outcome, ms)
      const isOld = row.slowest !== null && row.slowest.at < at - CALL_HOURS * HOUR_MS
      if (row.slowest === null || isOld || ms > row.slowest.ms) row.slowest = { at, ms, status, requestId }
      if (outcome === 'broken') row.broken = { at, ms, status, requestId }
    },
    within: (interval, at, count) => (interval === 'hour' ? hours : minutes).sum(at, count),
    restore: hours.merge,
    save: unsaved.save,
    byEndpoint(back) {
      const now = wall()
      const hourly = (ring: CallRing) =>
        Array.from({ length: back }, (_, i) => ring.sum(now - (back - 1 - i) * HOUR_MS, 1).total)
      const from = now - back * HOUR_MS
      const recent = (seen: Seen | null) => (seen !== null && seen.at >= from ? seen : null)
      return [...rows].map(([endpoint, { ring, slowest, broken }]) => ({
        endpoint,
        sums: ring.sum(now, back),
        byHour: hourly(ring),
        slowest: recent(slowest),
        broken: recent(broken),
      }))
    },
  }
}

function unsavedHours(): Pick<CallFigures, 'save'> & {
  readonly add: (hour: number, counts: readonly number[]) => void
} {
  let unsaved = new Map<number, readonly number[]>()
  const add = (hour: number, added: readonly number[]) =>
    void unsaved.set(hour, callSum(unsaved.get(hour) ?? [], added))
  return {
    add,
    async save(write) {
      const taken = unsaved
      if (taken.size === 0) return
      unsaved = new Map()
      await write(taken).catch((error: unknown) => {
        for (const [hour, counts] of taken) add(hour, counts)
        throw error
      })
    },
  }
}
