import type { FeedbackSummary } from './registries.ts'

/** Precision in which the reference registry adds. */
const SUM_DECIMALS = 18

export type Rated = { readonly value: bigint; readonly value_decimals: number }

/**
 * `getSummary` of the ERC-8004 reference registry: the mean in 18 decimals, truncated to the number of
 * decimals that was used most often; the lowest wins a tie.
 */
export function summaryOf(feedback: readonly Rated[]): FeedbackSummary {
  if (feedback.length === 0) return { count: 0n, value: 0n, valueDecimals: 0 }
  const used = new Map<number, number>()
  let sum = 0n
  for (const { value, value_decimals } of feedback) {
    used.set(value_decimals, (used.get(value_decimals) ?? 0) + 1)
    sum += value * 10n ** BigInt(SUM_DECIMALS - value_decimals)
  }
  const count = BigInt(feedback.length)
  const valueDecimals = mostUsed(used)
  return { count, value: sum / count / 10n ** BigInt(SUM_DECIMALS - valueDecimals), valueDecimals }
}

function mostUsed(used: ReadonlyMap<number, number>): number {
  const [most] = [...used].sort(([one, oneTimes], [other, otherTimes]) => otherTimes - oneTimes || one - other)
  return most?.[0] ?? 0
}
