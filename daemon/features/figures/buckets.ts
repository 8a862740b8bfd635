import { type CallOutcome, callOutcomes } from '../../../src/api/sections/admin-figures.ts'
import { tableOf } from '../../../src/core/record.ts'
import { createRing } from './ring.ts'

/** Upper bounds of the duration steps. Longer calls belong to the last step. */
const STEPS_MS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024, 2_048] as const

const OUTCOMES = callOutcomes.length
const WIDTH = OUTCOMES + STEPS_MS.length

/** Call counts in a ring of equal intervals. A call costs two increments. */
export type CallRing = {
  readonly add: (at: number, outcome: CallOutcome, ms: number) => void
  readonly merge: (at: number, counts: readonly number[]) => void
  /** Sums the last `count` intervals up to the one that contains `at`. */
  readonly sum: (at: number, count: number) => CallSums
}

export type CallSums = ReturnType<typeof sumsOf>

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

export function callRing(intervalMs: number, length: number): CallRing {
  const ring = createRing<Float64Array>({ intervalMs, length, none: () => new Float64Array(WIDTH), plus: bumpAll })
  return {
    add: (at, outcome, ms) =>
      ring.change(at, (held) => {
        for (const place of placesOf(outcome, ms)) bump(held, place)
        return held
      }),
    merge: (at, counts) => ring.change(at, (held) => bumpAll(held, counts)),
    sum: (at, count) => sumsOf(ring.sum(at, count)),
  }
}

function bump(counts: Float64Array, at: number, by = 1): void {
  counts[at] = (counts[at] ?? 0) + by
}

function bumpAll(counts: Float64Array, added: Float64Array | readonly number[]): Float64Array {
  for (const [i, count] of added.entries()) bump(counts, i, count)
  return counts
}

function stepOf(ms: number): number {
  const step = STEPS_MS.findIndex((most) => ms <= most)
  return step < 0 ? STEPS_MS.length - 1 : step
}

function sumsOf(sums: Float64Array) {
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
