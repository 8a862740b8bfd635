import type { Json } from '../../../../src/core/json.ts'

export type FindingStatus = 'pass' | 'warn' | 'fail'
export type Finding = {
  /** Stable, so that programs can rely on it. */
  readonly id: string
  readonly status: FindingStatus
  readonly message: string
  readonly evidence?: string
  readonly weight: number
}

/** What a rule found; undefined if the rule cannot decide. */
export type Judged = readonly [status: FindingStatus, message: string, evidence?: string | undefined] | undefined
export type Rule<Subject> = {
  readonly id: string
  readonly weight: number
  readonly judge: (subject: Subject) => Judged
}

export function rule<Subject>(id: string, weight: number, judge: Rule<Subject>['judge']): Rule<Subject> {
  return { id, weight, judge }
}

const MAX_SHOWN = 5

/** Passes if nothing was found. Otherwise shows the first; `#` in the message is their number. */
export function none(found: readonly string[], good: string, [status, bad]: readonly [FindingStatus, string]): Judged {
  const shown = found.slice(0, MAX_SHOWN).join(', ')
  return found.length === 0 ? ['pass', good] : [status, bad.replace('#', String(found.length)), shown]
}

const MAX_FINDINGS = 100
const MAX_EVIDENCE_CHARS = 300
const credits = { pass: 1, warn: 0.4, fail: 0 } as const
export const badness = { fail: 0, warn: 1, pass: 2 } as const
const WHOLE = 100

export type FindingsReport = {
  readonly score: number
  /** Worst first. */
  readonly findings: readonly Finding[]
  /** Ids of undecided rules; they do not affect the score. */
  readonly undecided: readonly string[]
}

export function judgeBy<Subject>(rules: readonly Rule<Subject>[], subject: Subject): FindingsReport {
  const findings: Finding[] = []
  const undecided: string[] = []
  for (const { id, weight, judge } of rules) {
    const judged = judge(subject)
    if (!judged) undecided.push(id)
    else findings.push(findingOf(id, weight, judged))
  }
  return { score: scoreOf(findings), findings: findings.sort(worstFirst), undecided }
}

function findingOf(id: string, weight: number, [status, message, evidence]: NonNullable<Judged>): Finding {
  const shown = evidence?.slice(0, MAX_EVIDENCE_CHARS).toWellFormed()
  return { id, status, message, ...(shown ? { evidence: shown } : {}), weight }
}

/** Weighted share of passed rules in percent. A warning counts as less than half a pass. */
function scoreOf(findings: readonly Finding[]): number {
  const whole = findings.reduce((sum, { weight }) => sum + weight, 0)
  if (whole === 0) return 0
  const got = findings.reduce((sum, { weight, status }) => sum + weight * credits[status], 0)
  return Math.round((WHOLE * got) / whole)
}

function worstFirst(a: Finding, b: Finding): number {
  return badness[a.status] - badness[b.status] || b.weight - a.weight || (a.id < b.id ? -1 : 1)
}

export function shownFindings(findings: readonly Finding[]): { [member: string]: Json } {
  const shown = findings.slice(0, MAX_FINDINGS).map((finding) => ({ ...finding }))
  return { findings: shown, ...(findings.length > MAX_FINDINGS ? { findings_truncated: true } : {}) }
}
