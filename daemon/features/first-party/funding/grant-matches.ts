import { z } from 'zod'
import { AppError } from '../../../../src/core/error.ts'
import type { Json } from '../../../../src/core/json.ts'
import { defineService, type JsonInput, type ServiceCtx, textOf, wrongField } from '../service/service.ts'
import { fromUpstream } from '../service/upstream.ts'
import {
  type Applicant,
  applicantOf,
  budgetFit,
  daysLeft,
  eligibilityOf,
  LEAST_OVERLAP,
  overlapOf,
  relevanceOf,
  sharedWords,
  termsOf,
  withoutKinds,
} from './fit.ts'
import { type Notice, noticeIfAny } from './notice.ts'

const KEEP_MS = 10 * 60_000
const ROWS = 25
const MAX_FOUND = 60
const MAX_DETAILS = 12
const MAX_QUERIES = 3
const MAX_EXCLUDED = 5
const DEFAULT_DAYS = 14
const DEFAULT_LIMIT = 5
const MAX_SHARED = 8

/** Grants.gov's documentation and responses name the agency differently; both names are accepted. */
const Hit = z.object({
  id: z.union([z.string().max(20), z.number()]),
  title: z.string().max(2_000),
  agencyName: z.string().max(500).nullish(),
  agency: z.string().max(500).nullish(),
})
type Hit = z.output<typeof Hit>
const Found = z.object({
  errorcode: z.number(),
  data: z.object({ hitCount: z.number().nullish(), oppHits: z.array(Hit).max(1_000).nullish() }).nullish(),
})

/** Funding notices that fit a profile, best first, and why other notices do not fit. */
export const grantMatches = defineService({
  slug: 'grant_matches',
  needs: ['grants'],
  check(input) {
    if (queriesOf(input).length === 0) throw wrongField('profile', 'contains no search terms')
  },
  async read(input, ctx) {
    const queries = queriesOf(input)
    const hits = new Map<string, Hit>()
    for (const query of queries) for (const hit of await search(ctx, query)) hits.set(String(hit.id), hit)
    const ranked = rankedIds([...hits.values()].slice(0, MAX_FOUND), {
      query: queries.join(' '),
      agency: agencyOf(input),
    })
    const details = await Promise.all(ranked.slice(0, MAX_DETAILS).map((id) => noticeIfAny(ctx, id)))
    return { searched: hits.size, notices: details.filter((one) => one !== undefined), queries, at: ctx.now() }
  },
  make(input, { searched, notices, queries, at }): Json {
    const applicant = applicantOf(input, DEFAULT_DAYS)
    const agency = agencyOf(input)
    const relevance = relevanceOf(`${applicant.profile} ${queries.join(' ')}`, notices)
    const judged = notices.map((notice, index) => ({
      notice,
      score: scoreOf(notice, applicant, { relevance: relevance[index] ?? 0 }),
      why: exclusionOf(notice, { applicant, agency, at }),
      // What an agency offers is told whatever its topic.
      isNear: agency !== '' || relevance[index] !== 0,
    }))
    const kept = judged.filter(({ why, isNear }) => isNear && why === undefined).sort((a, b) => b.score - a.score)
    if (kept.length === 0) throw new AppError('provider_failed', `No notice fits the profile (found: ${searched}).`)
    const limit = Number(input['limit'] ?? DEFAULT_LIMIT)
    return {
      grant_matches: {
        query: {
          terms: [...queries],
          agency: agency === '' ? null : agency,
          applicant_types: [...applicant.types],
          days_needed_to_apply: applicant.daysNeeded,
        },
        searched,
        matches: kept.slice(0, limit).map(({ notice, score }) => shown(notice, { applicant, score, at })),
        excluded: judged
          .filter(({ why }) => why !== undefined)
          .slice(0, MAX_EXCLUDED)
          .map(({ notice, why }) => ({ opportunity_id: notice.id, title: notice.title, reason: why ?? '' })),
        not_checked: [
          'documents attached to the notices',
          'notices outside the search results and those that share no word with the profile',
        ],
        searched_at: new Date(at).toISOString(),
        engine: { name: 'grants.gov', version: '1', kind: 'upstream', fetched_at: new Date(at).toISOString() },
      },
    }
  },
})

function agencyOf(input: JsonInput): string {
  return textOf(input, 'agency').trim().toLowerCase()
}

/** Search queries: the buyer's keywords, then the profile's phrases from last to first. The last phrase tells most. */
function queriesOf(input: JsonInput): string[] {
  const given = Array.isArray(input['keywords']) ? input['keywords'].map(String).join(' ').trim() : ''
  const phrases: string[][] = [[]]
  for (const word of withoutKinds(textOf(input, 'profile'))
    .toLowerCase()
    .match(/[\p{L}\p{N}-]+|\S/gu) ?? []) {
    if (termsOf(word).length > 0) phrases.at(-1)?.push(word)
    else phrases.push([])
  }
  const queries = [given, ...phrases.reverse().map((words) => words.slice(-2).join(' '))].filter(Boolean)
  return [...new Set(queries)].slice(0, MAX_QUERIES)
}

async function search({ engines, signal }: ServiceCtx<'grants'>, keyword: string): Promise<Hit[]> {
  const body = { rows: ROWS, startRecordNum: 0, keyword, oppStatuses: 'forecasted|posted' }
  const asked = engines.grants.ask({ path: '/search2', body, schema: Found, keepMs: KEEP_MS, signal })
  return (await fromUpstream(asked)).value.data?.oppHits ?? []
}

type Wanted = { readonly query: string; readonly agency: string }

/** Ids of the hits: hits of the requested agency first, then hits with more of the query's words in the title. */
function rankedIds(hits: readonly Hit[], { query, agency }: Wanted): string[] {
  const wanted = new Set(termsOf(query))
  const ranked = hits.map(({ id, title, agencyName, agency: code }) => ({
    id: String(id),
    isOfAgency: [agencyName, code].some((name) => name?.toLowerCase().includes(agency)),
    hits: termsOf(title).filter((term) => wanted.has(term)).length,
  }))
  return ranked.sort((a, b) => Number(b.isOfAgency) - Number(a.isOfAgency) || b.hits - a.hits).map(({ id }) => id)
}

const POINTS = { topic: 70, eligible: 15, eligibleUnknown: 5, budget: 10, time: 5 } as const

function scoreOf(notice: Notice, applicant: Applicant, { relevance }: { relevance: number }): number {
  const eligibility = eligibilityOf(notice, applicant) === 'match' ? POINTS.eligible : POINTS.eligibleUnknown
  const budget = budgetFit(notice, applicant)?.is === 'inside' ? POINTS.budget : 0
  // Even the best hit may be off topic.
  const topic = isOnTopic(notice, applicant) ? POINTS.topic : POINTS.topic / 2
  return Math.round(topic * relevance + eligibility + budget + POINTS.time)
}

function isOnTopic(notice: Notice, { profile }: Applicant): boolean {
  return overlapOf(profile, notice) >= LEAST_OVERLAP
}

type Judging = { readonly applicant: Applicant; readonly agency: string; readonly at: number }

/** Why a notice is excluded; undefined if it is not. */
function exclusionOf(notice: Notice, { applicant, agency, at }: Judging): string | undefined {
  const days = daysLeft(notice, at)
  if (notice.status === 'closed') return 'The notice is closed.'
  if (days !== null && days < applicant.daysNeeded) return `${days} days are left; you need ${applicant.daysNeeded}.`
  if (eligibilityOf(notice, applicant) === 'mismatch') return 'Only other applicant types are eligible.'
  if (agency !== '' && !notice.agency.toLowerCase().includes(agency)) return 'The notice is from another agency.'
  return budgetFit(notice, applicant)?.is === 'above' ? 'The budget is above the largest award.' : undefined
}

function shown(notice: Notice, { applicant, score, at }: { applicant: Applicant; score: number; at: number }): Json {
  const { id, number, title, agency, status, opens_at, closes_at, award_floor, award_ceiling, cost_sharing, url } =
    notice
  const eligibility = eligibilityOf(notice, applicant)
  const days = daysLeft(notice, at)
  const shared = sharedWords(applicant.profile, notice).slice(0, MAX_SHARED)
  return {
    opportunity_id: id,
    number,
    title,
    agency,
    status,
    opens_at,
    closes_at,
    days_left: days,
    award_floor,
    award_ceiling,
    cost_sharing,
    eligibility,
    score: Math.min(100, score),
    reasons: [
      ...(shared.length > 0 ? [`The notice shares words with your profile: ${shared.join(', ')}.`] : []),
      ...(eligibility === 'match' ? ['Your applicant type is eligible.'] : []),
      ...(budgetFit(notice, applicant)?.is === 'inside' ? ['The budget is within the award range.'] : []),
    ],
    cautions: [
      ...(eligibility === 'unknown' ? ['The applicant types do not show whether you are eligible.'] : []),
      ...(cost_sharing ? ['Cost sharing is required.'] : []),
      ...(isOnTopic(notice, applicant) ? [] : ['The notice shares few words with your profile: check its topic.']),
      ...(notice.is_estimate ? ['The notice is a forecast: you cannot apply yet, and its dates may change.'] : []),
      ...(days === null ? ['The notice has no closing date.'] : []),
      ...(budgetFit(notice, applicant)?.is === 'below' ? ['The budget is below the smallest award.'] : []),
    ],
    url,
  }
}
