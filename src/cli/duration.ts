import { isKeyOf } from '../core/record.ts'
import { codec } from './params.ts'

const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const
const unitMs = (unit = '') => (isKeyOf(UNIT_MS, unit) ? UNIT_MS[unit] : 0)
const PART = /(\d+(?:\.\d+)?)(ms|s|m|h|d)/g
const WHOLE = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/

/**
 * Parses a duration: `250ms`, `30s`, `1h30m`, `2d`; a bare number means seconds.
 * @returns milliseconds, or undefined if invalid
 */
export function parseDuration(text: string): number | undefined {
  if (/^\d+(\.\d+)?$/.test(text)) return Math.round(Number(text) * UNIT_MS.s)
  if (!WHOLE.test(text)) return undefined
  const parts = [...text.matchAll(PART)]
  return Math.round(parts.reduce((sum, part) => sum + Number(part[1]) * unitMs(part[2]), 0))
}

/** Formats milliseconds as a user types them: 5,400,000 as `1h30m`. */
function durationText(ms: number): string {
  const parts: string[] = []
  let left = ms
  for (const [unit, size] of Object.entries(UNIT_MS).toReversed()) {
    const count = Math.floor(left / size)
    left -= count * size
    if (count > 0) parts.push(`${count}${unit}`)
  }
  return parts.join('') || '0s'
}

/** Type of a duration flag: users type `30s` or `1h30m`, the program gets milliseconds. */
export const Duration = codec(parseDuration, 'must be a duration such as 30s or 1h30m', durationText)
