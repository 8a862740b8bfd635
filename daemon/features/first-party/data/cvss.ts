import { ownOf } from '../../../../src/core/record.ts'

/* Base scores of CVSS 3.0 and 3.1 by their published equations. */

const weights: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  AV: { N: 0.85, A: 0.62, L: 0.55, P: 0.2 },
  AC: { L: 0.77, H: 0.44 },
  UI: { N: 0.85, R: 0.62 },
  C: { H: 0.56, L: 0.22, N: 0 },
  I: { H: 0.56, L: 0.22, N: 0 },
  A: { H: 0.56, L: 0.22, N: 0 },
  // Privileges required, for unchanged and changed scope.
  'PR/U': { N: 0.85, L: 0.62, H: 0.27 },
  'PR/C': { N: 0.85, L: 0.68, H: 0.5 },
}

/** Base score from 0 to 10 with one decimal; undefined for an unsupported version or an incomplete vector. */
export function cvssScore(vector: string): number | undefined {
  if (!/^CVSS:3\.[01]\//.test(vector)) return undefined
  const parts = vector.split('/')
  const metric = (name: string) => parts.find((part) => part.startsWith(`${name}:`))?.slice(name.length + 1) ?? ''
  const weight = (name: string, key = name) => ownOf(weights[key] ?? {}, metric(name)) ?? Number.NaN
  const isChanged = metric('S') === 'C'
  const base = 1 - (1 - weight('C')) * (1 - weight('I')) * (1 - weight('A'))
  const impact = isChanged ? 7.52 * (base - 0.029) - 3.25 * (base - 0.02) ** 15 : 6.42 * base
  const exploit = 8.22 * weight('AV') * weight('AC') * weight('PR', `PR/${metric('S')}`) * weight('UI')
  if (Number.isNaN(impact + exploit)) return undefined
  return impact <= 0 ? 0 : roundedUp(Math.min(10, (isChanged ? 1.08 : 1) * (impact + exploit)))
}

/** Rounds up to tenths with integer arithmetic, as CVSS 3.1 defines. */
function roundedUp(score: number): number {
  const whole = Math.round(score * 100_000)
  return whole % 10_000 === 0 ? whole / 100_000 : (Math.floor(whole / 10_000) + 1) / 10
}

/** Severity of a score, by the thresholds of CVSS 3. */
export function severityOfScore(score: number): 'critical' | 'high' | 'moderate' | 'low' | 'unknown' {
  if (score >= 9) return 'critical'
  if (score >= 7) return 'high'
  if (score >= 4) return 'moderate'
  return score > 0 ? 'low' : 'unknown'
}
