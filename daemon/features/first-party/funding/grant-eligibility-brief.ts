import type { Json } from '../../../../src/core/json.ts'
import { sentencesOf } from '../service/english.ts'
import { AUTOMATED_MS, defineService, textOf } from '../service/service.ts'
import {
  type Applicant,
  applicantOf,
  budgetFit,
  daysLeft,
  eligibilityOf,
  LEAST_OVERLAP,
  overlapOf,
  termsOf,
} from './fit.ts'
import { knownNotice, type Notice } from './notice.ts'

const DEFAULT_DAYS = 14
const MAX_QUOTE_CHARS = 1_000

type Reason = {
  readonly rule: string
  readonly verdict: 'for' | 'against' | 'open'
  readonly text: string
  /** Passage of the notice; null if the notice says nothing. */
  readonly evidence: { readonly field: string; readonly quote: string | null }
  /** Whether this reason alone disqualifies the applicant. */
  readonly hard?: true
}

/** Decides whether an application is worthwhile, with evidence from the notice. */
export const grantEligibilityBrief = defineService({
  slug: 'grant_eligibility_brief',
  needs: ['grants'],
  timeoutMs: AUTOMATED_MS,
  async read(input, ctx) {
    return { notice: await knownNotice(ctx, textOf(input, 'opportunity_id')), at: ctx.now() }
  },
  make(input, { notice, at }): Json {
    const applicant = applicantOf(input, DEFAULT_DAYS)
    const reasons = [
      statusReason(notice, { applicant, at }),
      typeReason(notice, applicant),
      budgetReason(notice, applicant),
      shareReason(notice),
      ...sentenceReasons(notice, applicant),
      topicReason(notice, applicant),
    ].filter((reason) => reason !== undefined)
    const open = reasons.filter(({ verdict }) => verdict === 'open')
    const decision = decisionOf(reasons)
    return {
      grant_eligibility_brief: {
        opportunity_id: notice.id,
        title: notice.title,
        decision,
        confidence: Math.round((1 - open.length / Math.max(1, reasons.length)) * 100) / 100,
        reasons: reasons.map(({ hard: _, ...reason }) => ({ ...reason, evidence: { ...reason.evidence } })),
        reason_lines: reasons.map(({ verdict, text }) => `${verdict}: ${text}`),
        open_questions: open.map(({ text }) => text),
        facts: {
          closes_at: notice.closes_at,
          days_left: daysLeft(notice, at),
          award_floor: notice.award_floor,
          award_ceiling: notice.award_ceiling,
          applicant_types: notice.applicant_types.map(({ description }) => description),
          cost_sharing: notice.cost_sharing,
        },
        url: notice.url,
        not_checked: ['documents attached to the notice'],
        fetched_at: new Date(at).toISOString(),
        engine: { name: 'grants.gov', version: '1', kind: 'upstream', fetched_at: new Date(at).toISOString() },
      },
    }
  },
})

function decisionOf(reasons: readonly Reason[]): 'go' | 'no_go' | 'unclear' {
  if (reasons.some(({ hard, verdict }) => hard && verdict === 'against')) return 'no_go'
  const known = ['status', 'applicant_type', 'topic'].every((rule) =>
    reasons.some((one) => one.rule === rule && one.verdict === 'for'),
  )
  return known && !reasons.some(({ rule, verdict }) => rule === 'requirement' && verdict === 'open') ? 'go' : 'unclear'
}

function statusReason(notice: Notice, { applicant, at }: { applicant: Applicant; at: number }): Reason {
  const days = daysLeft(notice, at)
  const base = { rule: 'status', evidence: { field: 'closes_at', quote: notice.told.closes_at } } as const
  if (notice.status === 'closed') return { ...base, verdict: 'against', text: 'The notice is closed.', hard: true }
  if (notice.is_estimate)
    return { ...base, verdict: 'open', text: 'When will the notice open? It is a forecast: you cannot apply yet.' }
  if (days === null) return { ...base, verdict: 'open', text: 'When does the notice close?' }
  if (days >= applicant.daysNeeded) return { ...base, verdict: 'for', text: `${days} days are left.` }
  return { ...base, verdict: 'against', text: `${days} days are left; you need ${applicant.daysNeeded}.`, hard: true }
}

function typeReason(notice: Notice, applicant: Applicant): Reason {
  const own = notice.applicant_types.find(({ id }) => applicant.types.includes(id)) ?? notice.applicant_types[0]
  const quote = own?.description.slice(0, MAX_QUOTE_CHARS).toWellFormed() ?? null
  const base = { rule: 'applicant_type', evidence: { field: 'applicant_types', quote } } as const
  const verdicts = {
    match: { ...base, verdict: 'for', text: 'Your applicant type is eligible.' },
    mismatch: { ...base, verdict: 'against', text: 'Only other applicant types are eligible.', hard: true },
    unknown: { ...base, verdict: 'open', text: 'Is your applicant type eligible?' },
  } as const
  return verdicts[eligibilityOf(notice, applicant)]
}

function budgetReason(notice: Notice, applicant: Applicant): Reason | undefined {
  const fit = budgetFit(notice, applicant)
  const field = fit === 'below' || notice.award_ceiling === null ? 'award_floor' : 'award_ceiling'
  const base = { rule: 'budget', evidence: { field, quote: notice.told[field] } } as const
  if (fit === 'unknown') return undefined
  if (fit === 'above') return { ...base, verdict: 'against', text: 'The budget is above the ceiling.', hard: true }
  return fit === 'below'
    ? { ...base, verdict: 'against', text: 'The budget is below the smallest award.' }
    : { ...base, verdict: 'for', text: 'The budget is within the award range.' }
}

function shareReason({ cost_sharing, told }: Notice): Reason | undefined {
  const evidence = { field: 'cost_sharing', quote: told.cost_sharing }
  const text = 'Can you pay a share of the costs?'
  return cost_sharing === true ? { rule: 'cost_sharing', verdict: 'open', text, evidence } : undefined
}

const RESTRICTION = /\b(only|must be|limited to|restricted to)\b/i

/** A profile mentions a requirement if it contains more than this share of the requirement's longer words. */
const MET_SHARE = 0.5

/** A reason for each restriction in the eligibility text. */
function sentenceReasons({ eligibility_text }: Notice, { profile }: Applicant): Reason[] {
  const own = new Set(termsOf(profile))
  const sentences = sentencesOf(eligibility_text).filter((sentence) => RESTRICTION.test(sentence))
  return sentences.slice(0, 5).map((sentence) => {
    const quote = sentence.slice(0, MAX_QUOTE_CHARS).toWellFormed()
    const asked = termsOf(sentence.replace(RESTRICTION, ' ')).filter((term) => term.length > 4)
    const isMet = asked.filter((term) => own.has(term)).length > asked.length * MET_SHARE
    return {
      rule: 'requirement',
      verdict: isMet ? 'for' : 'open',
      text: isMet ? 'Your profile mentions this requirement.' : `Do you meet this: ${quote}`,
      evidence: { field: 'eligibility_text', quote },
    }
  })
}

function topicReason(notice: Notice, { profile }: Applicant): Reason {
  const base = { rule: 'topic', evidence: { field: 'title', quote: notice.title.slice(0, MAX_QUOTE_CHARS) } } as const
  return overlapOf(profile, notice) >= LEAST_OVERLAP
    ? { ...base, verdict: 'for', text: 'The topic of the notice matches your profile.' }
    : { ...base, verdict: 'open', text: 'Does the topic of the notice match your profile? They share few words.' }
}
