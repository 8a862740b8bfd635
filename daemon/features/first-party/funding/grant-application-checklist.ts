import { AppError } from '../../../../src/core/error.ts'
import type { Json } from '../../../../src/core/json.ts'
import { DAY_MS } from '../../../../src/core/time.ts'
import { sentencesOf } from '../service/english.ts'
import { AUTOMATED_MS, defineService, textOf } from '../service/service.ts'
import { applicantOf, budgetFit, daysLeft, limitsOf, OTHERS, UNRESTRICTED } from './fit.ts'
import { daysUntil, knownNotice, type Notice } from './notice.ts'

const DEFAULT_DAYS = 21
const MAX_QUOTE_CHARS = 1_000

/** Steps of an application for one notice, with due days and sources. */
export const grantApplicationChecklist = defineService({
  slug: 'grant_application_checklist',
  needs: ['grants'],
  timeoutMs: AUTOMATED_MS,
  async read(input, ctx) {
    return { notice: await knownNotice(ctx, textOf(input, 'opportunity_id')), at: ctx.now() }
  },
  make(input, { notice, at }): Json {
    if (notice.status === 'closed') throw new AppError('provider_failed', `The notice closed on ${notice.closes_at}.`)
    const applicant = applicantOf(input, DEFAULT_DAYS)
    const { daysNeeded } = applicant
    const items = itemsOf(notice, { at, daysNeeded })
    const days = daysLeft(notice, at)
    const fit = budgetFit(notice, applicant)
    const warnings = [
      ...(notice.is_estimate ? ['The notice is a forecast: you cannot apply yet, and its dates may change.'] : []),
      ...(days === null ? ['The notice has no closing date, so no due dates are given.'] : []),
      ...(days !== null && days < daysNeeded ? [`${days} days are left; you need ${daysNeeded}.`] : []),
      ...(items.some(({ isLate }) => isLate) ? ['Some steps should have begun before today; they are due today.'] : []),
      ...(items.some(({ id, due }) => id.startsWith('date_') && daysUntil(due ?? '', at) < 0)
        ? ['The notice names a date that has passed.']
        : []),
      ...(fit?.is === 'above' ? [`The budget is above the ceiling of ${fit.by.amount} USD.`] : []),
    ]
    return {
      grant_application_checklist: {
        opportunity_id: notice.id,
        number: notice.number,
        title: notice.title,
        agency: notice.agency,
        closes_at: notice.closes_at,
        days_left: days,
        url: notice.url,
        items: items.map(({ isLate: _, ...item }) => item).sort((one, other) => dueTime(one) - dueTime(other) || 0),
        warnings,
        not_checked: ['documents attached to the notice', 'holidays'],
        fetched_at: new Date(at).toISOString(),
        engine: { name: 'grants.gov', version: '1', kind: 'upstream', fetched_at: new Date(at).toISOString() },
      },
    }
  },
})

/** What has no date comes last; two of those keep their order. */
const dueTime = ({ due }: { readonly due: string | null }) =>
  due === null ? Number.POSITIVE_INFINITY : Date.parse(due)

type Step = {
  readonly id: string
  readonly task: string
  /** Days before the closing date; a value between 0 and 1 is a share of the days that the applicant needs. */
  readonly before: number
  /** The due day itself, if the notice names one. */
  readonly on?: string
  readonly mandatory: true | false | 'unknown'
  readonly source: string
  readonly evidence_kind: 'field' | 'text' | 'rule'
}

/** Days before closing by which to register, since federal registrations take weeks. */
const REGISTRATION_DAYS = 42

function itemsOf(notice: Notice, { at, daysNeeded }: { readonly at: number; readonly daysNeeded: number }) {
  const steps = stepsOf(notice)
  return steps.map(({ before, on, ...step }) => {
    if (on !== undefined) return { ...step, due: on, isLate: false }
    const days = before > 0 && before < 1 ? Math.ceil(before * daysNeeded) : before
    const { due, isLate } = dueDay(notice.closes_at, { days, at })
    return { ...step, due, isLate }
  })
}

const stepBy =
  (evidence_kind: Step['evidence_kind']) =>
  (id: string, step: Pick<Step, 'task' | 'before' | 'source'>): Step => ({
    id,
    mandatory: true,
    evidence_kind,
    ...step,
  })
const rule = stepBy('rule')
const field = stepBy('field')

function stepsOf(notice: Notice): Step[] {
  return [
    rule('registration', {
      task: 'Have an active SAM.gov registration with a UEI',
      before: REGISTRATION_DAYS,
      source: 'Grants.gov requires the registration of organizations, which takes weeks.',
    }),
    rule('workspace', {
      task: 'Open a workspace in Grants.gov and assign the roles',
      before: 0.9,
      source: 'Applications are submitted from a workspace.',
    }),
    proofStep(notice),
    ...requiredSentences(notice),
    ...datedSentences(notice),
    ...notice.attachments.map((name, at) =>
      field(`attachment_${at + 1}`, { task: `Read ${name}`, before: 0.9, source: 'synopsisAttachmentFolders' }),
    ),
    usual('narrative', { task: 'Write the project narrative', before: 0.4 }),
    budgetStep(notice),
    ...(notice.cost_sharing ? [costShare] : []),
    usual('letters', { task: 'Collect letters of support', before: 0.3 }),
    field('submission', {
      task: 'Submit early enough to fix a rejected application',
      before: 2,
      source: 'responseDateStr',
    }),
  ]
}

const usual = (id: string, step: Pick<Step, 'task' | 'before'>): Step => ({
  ...rule(id, { ...step, source: "Usually required; see the notice's documents." }),
  mandatory: 'unknown',
})
const costShare = field('cost_share', {
  task: 'Get a written commitment for your cost share',
  before: 0.5,
  source: 'costSharing',
})

function proofStep({ applicant_types }: Notice): Step {
  const types = applicant_types.map(({ description }) => description).join(', ')
  if (applicant_types.some(({ id }) => id === OTHERS || id === UNRESTRICTED)) {
    const source = 'applicantEligibilityDesc'
    return field('eligibility', { task: 'Read in the eligibility text whether you may apply', before: 0.9, source })
  }
  if (types === '') {
    const source = 'The notice lists no eligible applicant types.'
    return rule('eligibility', { task: 'Find out whether you may apply', before: 0.9, source })
  }
  const task = `Gather proof that you are one of: ${types}`
  return field('eligibility', { task, before: 0.9, source: 'applicantTypes' })
}

function budgetStep(notice: Notice): Step {
  const { floor, ceiling } = limitsOf(notice)
  const bounds = [floor ? `from ${floor.amount}` : [], ceiling ? `up to ${ceiling.amount}` : []].flat().join(' ')
  const step = { task: `Write the budget and its justification${bounds && ` (${bounds} USD)`}`, before: 0.4 }
  const by = ceiling ?? floor
  if (!by) return usual('budget', step)
  return by.field.startsWith('award_')
    ? field('budget', { ...step, source: by.field })
    : stepBy('text')('budget', { ...step, source: by.quote ?? by.field })
}

/** Sentences that say what an applicant must be, and what an application must have. */
function requiredSentences({ eligibility_text, description }: Notice): Step[] {
  const asked = sentencesOf(description).filter((sentence) => OF_APPLICATION.test(sentence) && !DATE.test(sentence))
  const found = [
    ...sentencesOf(eligibility_text).map((sentence) => ({ sentence, task: 'Show that you meet this requirement' })),
    ...asked.map((sentence) => ({ sentence, task: 'Do what the notice asks of an application' })),
  ].filter(({ sentence }) => /\b(must|required?|only|limited to|restricted to|shall)\b/i.test(sentence))
  return found.slice(0, MAX_REQUIREMENTS).map(({ sentence, task }, at) => ({
    id: `requirement_${at + 1}`,
    task,
    before: 0.7,
    mandatory: true,
    source: sentence.slice(0, MAX_QUOTE_CHARS).toWellFormed(),
    evidence_kind: 'text',
  }))
}

const MAX_REQUIREMENTS = 10
const OF_APPLICATION =
  /\b(?:letters? of (?:intent|inquiry)|(?:pre-?)?applica(?:tions?|nts?)|proposals?|submissions?)\b/i

const DATE = /\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}\.? \d{1,2}, \d{4}\b/
const MAX_DATES = 5

/** Steps for dates that the description sets, such as for a pre-application. */
function datedSentences({ description }: Notice): Step[] {
  const found = description
    .split('\n')
    .flatMap(sentencesOf)
    .flatMap((sentence) => {
      const [day] = DATE.exec(sentence) ?? []
      return day !== undefined && /\b(due|deadline|no later than|submit\w*|by)\b/i.test(sentence)
        ? [{ day, sentence }]
        : []
    })
  return found.slice(0, MAX_DATES).map(({ day, sentence }, at) => ({
    id: `date_${at + 1}`,
    task: `Meet the date of the notice: ${day}`,
    on: new Date(`${day} UTC`).toISOString().slice(0, 10),
    before: 0,
    mandatory: 'unknown',
    source: sentence.slice(0, MAX_QUOTE_CHARS).toWellFormed(),
    evidence_kind: 'text',
  }))
}

const SATURDAY = 6
const SUNDAY = 0

/** Due day of a step: `days` before the closing date, moved back to a working day, but not before today. */
function dueDay(
  closes: string | null,
  { days, at }: { days: number; at: number },
): { due: string | null; isLate: boolean } {
  if (closes === null) return { due: null, isLate: false }
  let due = Date.parse(closes) - days * DAY_MS
  while ([SATURDAY, SUNDAY].includes(new Date(due).getUTCDay())) due -= DAY_MS
  const today = Math.floor(at / DAY_MS) * DAY_MS
  return { due: new Date(Math.max(due, today)).toISOString().slice(0, 10), isLate: due < today }
}
