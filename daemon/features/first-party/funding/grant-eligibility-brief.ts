import type { Json } from '../../../../src/core/json.ts'
import { sentencesOf } from '../service/english.ts'
import { AUTOMATED_MS, defineService, textOf, wrongField } from '../service/service.ts'
import {
  type Applicant,
  applicantOf,
  budgetFit,
  daysLeft,
  eligibilityOf,
  isOneOf,
  LEAST_OVERLAP,
  OTHERS,
  overlapOf,
  termsOf,
  typesIn,
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
  check(input) {
    if (termsOf(textOf(input, 'profile')).length === 0) throw wrongField('profile', 'contains no search terms')
  },
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
  const isOpen = reasons.some(
    ({ rule, verdict }) => verdict === 'against' || (rule === 'requirement' && verdict === 'open'),
  )
  return known && !isOpen ? 'go' : 'unclear'
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
  const { applicant_types: all, eligibility_text: text } = notice
  const own = all.find(({ id }) => applicant.types.includes(id))
  // "Others" sends readers to the text.
  const isInText = !own && all.some(({ id }) => id === OTHERS) && text !== ''
  const told = isInText ? text : (own ?? all[0])?.description
  const quote = told?.slice(0, MAX_QUOTE_CHARS).toWellFormed() ?? null
  const field = isInText ? 'eligibility_text' : 'applicant_types'
  const base = { rule: 'applicant_type', evidence: { field, quote } } as const
  const verdicts = {
    match: { ...base, verdict: 'for', text: 'Your applicant type is eligible.' },
    mismatch: { ...base, verdict: 'against', text: 'Only other applicant types are eligible.', hard: true },
    unknown: { ...base, verdict: 'open', text: 'Is your applicant type eligible?' },
  } as const
  return verdicts[eligibilityOf(notice, applicant)]
}

function budgetReason(notice: Notice, applicant: Applicant): Reason | undefined {
  const fit = budgetFit(notice, applicant)
  if (!fit) return undefined
  const base = { rule: 'budget', evidence: { field: fit.by.field, quote: fit.by.quote } } as const
  if (fit.is === 'above') return { ...base, verdict: 'against', text: 'The budget is above the ceiling.', hard: true }
  return fit.is === 'below'
    ? { ...base, verdict: 'against', text: 'The budget is below the smallest award.' }
    : { ...base, verdict: 'for', text: 'The budget is within the award range.' }
}

const SHARE = /\b(?:cost[- ]?shar\w+|match(?:ing)? (?:funds?|contributions?|requirements?|of))\b/i
const NO_SHARE = /\b(?:no|not|without|neither)\b/i

function shareReason({ cost_sharing, told, eligibility_text, description }: Notice): Reason | undefined {
  const said = [eligibility_text, description]
    .flatMap(sentencesOf)
    .find((one) => SHARE.test(one) && /\b(?:required?|must|shall|at least)\b/i.test(one) && !NO_SHARE.test(one))
  const evidence = cost_sharing === true ? { field: 'cost_sharing', quote: told.cost_sharing } : undefined
  const quoted =
    said === undefined
      ? evidence
      : { field: eligibility_text.includes(said) ? 'eligibility_text' : 'description', quote: said }
  const text = 'Can you pay a share of the costs?'
  return quoted && { rule: 'cost_sharing', verdict: 'open', text, evidence: quoted }
}

const RESTRICTION = /\b(only|must be|limited to|restricted to)\b/i
const EXCLUSION = /\b(?:not eligible|ineligible|may not apply|cannot apply|(?:is|are) excluded)\b/i
/** A restriction that names all who may apply. */
const WHO_MAY_APPLY = /\b(?:only|limited to|restricted to)\b/i

/** A profile mentions a requirement if it contains more than this share of the requirement's longer words. */
const MET_SHARE = 0.5

/** A reason for each restriction in the eligibility text. */
function sentenceReasons(notice: Notice, applicant: Applicant): Reason[] {
  const sentences = sentencesOf(notice.eligibility_text)
  return sentences
    .filter((one) => RESTRICTION.test(one) || EXCLUSION.test(one))
    .slice(0, 5)
    .flatMap((sentence) => reasonOf(sentence, { notice, applicant }) ?? [])
}

function reasonOf(
  sentence: string,
  { notice, applicant }: { notice: Notice; applicant: Applicant },
): Reason | undefined {
  const quote = sentence.slice(0, MAX_QUOTE_CHARS).toWellFormed()
  const base = { rule: 'requirement', evidence: { field: 'eligibility_text', quote } } as const
  const named = typesIn(sentence)
  const isOwn = isOneOf(applicant.types, named)
  const isAboutOthers = named.length > 0 && applicant.types.length > 0 && isOwn === false
  if (EXCLUSION.test(sentence)) return isAboutOthers ? undefined : excluded(base, { isOwn: isOwn === true, quote })
  const isClosed = WHO_MAY_APPLY.test(sentence) && /\b(?:eligib\w+|appl(?:y|icants?))\b/i.test(sentence)
  if (isAboutOthers && isClosed) {
    // The list of applicant types and the text may contradict each other.
    const isListed = notice.applicant_types.some(({ id }) => applicant.types.includes(id))
    const text = 'Only other applicants may apply.'
    return { ...base, verdict: 'against', text, ...(isListed ? {} : { hard: true }) }
  }
  const isMet = meets(sentence, applicant, isOwn === true && isClosed)
  return isMet
    ? { ...base, verdict: 'for', text: 'Your profile meets this requirement.' }
    : { ...base, verdict: 'open', text: `Do you meet this: ${quote}` }
}

function excluded(
  base: Pick<Reason, 'rule' | 'evidence'>,
  { isOwn, quote }: { isOwn: boolean; quote: string },
): Reason {
  return isOwn
    ? { ...base, verdict: 'against', text: 'Your applicant type is excluded.', hard: true }
    : { ...base, verdict: 'open', text: `Does this exclude you: ${quote}` }
}

function meets(sentence: string, { profile }: Applicant, isNamed: boolean): boolean {
  // Words do not tell whether a limit in figures is kept.
  if (/\d/.test(sentence.replace(/501\(?c\S*/gi, ''))) return false
  if (isNamed) return true
  const own = new Set(termsOf(profile))
  const asked = termsOf(sentence.replace(RESTRICTION, ' ')).filter((term) => term.length > 4)
  return asked.filter((term) => own.has(term)).length > asked.length * MET_SHARE
}

function topicReason(notice: Notice, { profile }: Applicant): Reason {
  const base = { rule: 'topic', evidence: { field: 'title', quote: notice.title.slice(0, MAX_QUOTE_CHARS) } } as const
  return overlapOf(profile, notice) >= LEAST_OVERLAP
    ? { ...base, verdict: 'for', text: 'The topic of the notice matches your profile.' }
    : { ...base, verdict: 'open', text: 'Does the topic of the notice match your profile? They share few words.' }
}
