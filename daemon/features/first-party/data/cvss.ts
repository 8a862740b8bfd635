import { ownOf } from '../../../../src/core/record.ts'

/* Base scores of CVSS 2, 3.0 and 3.1 by their published equations. Version 4 uses tables and is not supported. */

type Weights = Readonly<Record<string, Readonly<Record<string, number>>>>

const v3: Weights = {
  AV: { N: 0.85, A: 0.62, L: 0.55, P: 0.2 },
  AC: { L: 0.77, H: 0.44 },
  UI: { N: 0.85, R: 0.62 },
  C: { H: 0.56, L: 0.22, N: 0 },
  I: { H: 0.56, L: 0.22, N: 0 },
  A: { H: 0.56, L: 0.22, N: 0 },
}
/** Weights of the metric "privileges required", for unchanged and changed scope. */
const privileges: Weights = { U: { N: 0.85, L: 0.62, H: 0.27 }, C: { N: 0.85, L: 0.68, H: 0.5 } }

const v2: Weights = {
  AV: { N: 1, A: 0.646, L: 0.395 },
  AC: { L: 0.71, M: 0.61, H: 0.35 },
  Au: { N: 0.704, S: 0.56, M: 0.45 },
  C: { N: 0, P: 0.275, C: 0.66 },
  I: { N: 0, P: 0.275, C: 0.66 },
  A: { N: 0, P: 0.275, C: 0.66 },
}

const MOST = 10

/** Base score from 0 to 10 with one decimal; undefined for an unsupported version or an incomplete vector. */
export function cvssScore(vector: string): number | undefined {
  const [head = ''] = vector.split('/')
  const metrics = new Map<string, string>()
  for (const part of vector.split('/')) {
    const [name = '', value = ''] = part.split(':')
    metrics.set(name, value)
  }
  if (/^CVSS:3\.[01]$/.test(head)) return scoreOf3(metrics)
  return head.startsWith('CVSS:') ? undefined : scoreOf2(metrics)
}

type Metrics = ReadonlyMap<string, string>

function weigh(table: Weights, metrics: Metrics): Record<string, number> | undefined {
  const weights: Record<string, number> = {}
  for (const [name, values] of Object.entries(table)) {
    const value = metrics.get(name) ?? ''
    const weight = Object.hasOwn(values, value) ? values[value] : undefined
    if (weight === undefined) return undefined
    weights[name] = weight
  }
  return weights
}

function scoreOf3(metrics: Metrics): number | undefined {
  const weights = weigh(v3, metrics)
  const scope = metrics.get('S') ?? ''
  const privilege = ownOf(ownOf(privileges, scope) ?? {}, metrics.get('PR') ?? '')
  if (!weights || privilege === undefined) return undefined
  const { AV = 0, AC = 0, UI = 0, C = 0, I = 0, A = 0 } = weights
  const base = 1 - (1 - C) * (1 - I) * (1 - A)
  const isChanged = scope === 'C'
  const impact = isChanged ? 7.52 * (base - 0.029) - 3.25 * (base - 0.02) ** 15 : 6.42 * base
  const exploit = 8.22 * AV * AC * privilege * UI
  return impact <= 0 ? 0 : roundedUp(Math.min(MOST, (isChanged ? 1.08 : 1) * (impact + exploit)))
}

/** Rounds up to tenths with integer arithmetic, as CVSS 3.1 defines. */
function roundedUp(score: number): number {
  const whole = Math.round(score * 100_000)
  return whole % 10_000 === 0 ? whole / 100_000 : (Math.floor(whole / 10_000) + 1) / 10
}

function scoreOf2(metrics: Metrics): number | undefined {
  const weights = weigh(v2, metrics)
  if (!weights) return undefined
  const { AV = 0, AC = 0, Au = 0, C = 0, I = 0, A = 0 } = weights
  const impact = 10.41 * (1 - (1 - C) * (1 - I) * (1 - A))
  const exploit = 20 * AV * AC * Au
  const score = impact === 0 ? 0 : (0.6 * impact + 0.4 * exploit - 1.5) * 1.176
  return Math.round(score * 10) / 10
}

/** Severity of a score, by the thresholds of CVSS 3. */
export function severityOfScore(score: number): 'critical' | 'high' | 'moderate' | 'low' | 'unknown' {
  if (score >= 9) return 'critical'
  if (score >= 7) return 'high'
  if (score >= 4) return 'moderate'
  return score > 0 ? 'low' : 'unknown'
}
