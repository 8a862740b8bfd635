import { type CallOutcome, callOutcomes } from '../../../src/api/sections/admin-figures.ts'
import { tableOf } from '../../../src/core/record.ts'

/** Upper bounds of the duration steps. Longer calls belong to the last step. */
const STEPS_MS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024, 2_048] as const

const OUTCOMES = callOutcomes.length
const WIDTH = OUTCOMES + STEPS_MS.length

/** Call counts in a ring of equal intervals. A call costs two increments, and the memory use is fixed. */
export type CallRing = {
  readonly add: (at: number, outcome: CallOutcome, ms: number) => void
  /** Adds the counts of several calls. */
  readonly merge: (at: number, counts: readonly number[]) => void
  /** Sums the last `count` intervals up to the one that contains `at`. */
  readonly sum: (at: number, count: number) => CallSums
}

export type CallSums = {
  readonly calls: Readonly<Record<CallOutcome, number>>
  readonly total: number
  readonly p50: number | null
  readonly p95: number | null
}

/** Counts of a call, as rows store them: by outcome, then by duration step. */
export function countsOf(outcome: CallOutcome, ms: number): number[] {
  const counts = new Array<number>(WIDTH).fill(0)
  for (const place of placesOf(outcome, ms)) counts[place] = 1
  return counts
}

export function callSum(one: readonly number[], other: readonly number[]): number[] {
  const [longer, shorter] = one.length > other.length ? [one, other] : [other, one]
  return longer.map((count, i) => count + (shorter[i] ?? 0))
}

function placesOf(outcome: CallOutcome, ms: number): readonly number[] {
  return [callOutcomes.indexOf(outcome), OUTCOMES + stepOf(ms)]
}

export function callRing(stretchMs: number, length: number): CallRing {
  const counts = new Uint32Array(length * WIDTH)
  /** For each slot, the number of the interval whose counts it holds. */
  const holds = new Float64Array(length).fill(-1)

  /** @returns the index of the slot's first count; undefined if the interval of `at` was already overwritten */
  function placeFor(at: number): number | undefined {
    const stretch = Math.floor(at / stretchMs)
    const place = stretch % length
    const held = holds[place] ?? -1
    if (held > stretch) return undefined
    if (held < stretch) {
      holds[place] = stretch
      counts.fill(0, place * WIDTH, (place + 1) * WIDTH)
    }
    return place * WIDTH
  }

  return {
    add(at, outcome, ms) {
      const base = placeFor(at)
      if (base !== undefined) for (const place of placesOf(outcome, ms)) bump(counts, base + place)
    },
    merge(at, added) {
      const base = placeFor(at)
      if (base !== undefined) for (const [i, count] of added.entries()) bump(counts, base + i, count)
    },
    sum(at, count) {
      const last = Math.floor(at / stretchMs)
      const sums = new Float64Array(WIDTH)
      for (let stretch = last - Math.min(count, length) + 1; stretch <= last; stretch += 1) {
        const place = ((stretch % length) + length) % length
        if (holds[place] !== stretch) continue
        for (let i = 0; i < WIDTH; i += 1) sums[i] = (sums[i] ?? 0) + (counts[place * WIDTH + i] ?? 0)
      }
      return sumsOf(sums)
    },
  }
}

function bump(counts: Uint32Array, at: number, by = 1): void {
  counts[at] = (counts[at] ?? 0) + by
}

function stepOf(ms: number): number {
  const step = STEPS_MS.findIndex((most) => ms <= most)
  return step < 0 ? STEPS_MS.length - 1 : step
}

function sumsOf(sums: Float64Array): CallSums {
  const calls = tableOf(callOutcomes, (outcome) => sums[callOutcomes.indexOf(outcome)] ?? 0)
  const steps = sums.subarray(OUTCOMES)
  const total = steps.reduce((all, one) => all + one, 0)
  return { calls, total, p50: quantile(steps, total / 2), p95: quantile(steps, total * 0.95) }
}

/** Estimates a quantile. Assumes that durations are evenly distributed within a step. */
function quantile(steps: Float64Array, rank: number): number | null {
  let before = 0
  for (const [i, most] of STEPS_MS.entries()) {
    const here = steps[i] ?? 0
    if (here > 0 && before + here >= rank) {
      const least = STEPS_MS[i - 1] ?? 0
      return Math.round((least + ((most - least) * (rank - before)) / here) * 10) / 10
    }
    before += here
  }
  return null
}
