import { functionWords, sentencesOf } from '../service/english.ts'
import { daysUntil, type Notice } from './notice.ts'

const LARGE_BUSINESS = '22'
/** Grants.gov's applicant types, by words in a profile. */
const kinds: readonly (readonly [words: RegExp, ids: readonly string[]])[] = [
  [
    /\b(non[- ]?profits?(?! (?:universit|colleg))|not[- ]for[- ]profits?|501\(?c\)?\(?3\)?|charit(y|ies)|foundation|ngo)\b/i,
    ['12', '13'],
  ],
  [/\bsmall business(es)?\b|\bstartups?\b/i, ['23']],
  [/(?<!not[- ])\bfor[- ]profit\b|\b(compan(y|ies)|corporations?|(?<!small )business(es)?)\b/i, [LARGE_BUSINESS, '23']],
  [/\bcount(y|ies)\b/i, ['01']],
  [/\b(city|cities|town|township|municipal\w*)\b/i, ['02']],
  [/\bstate (?:\w+ ){0,2}(governments?|agenc(y|ies)|departments?)\b/i, ['00']],
  [/\b(tribal|tribes?|native american)\b/i, ['07', '11']],
  [/\b(universit(y|ies)|colleges?|higher education)\b/i, ['06', '20']],
  [/\b(school districts?|k-?12)\b/i, ['05']],
  [/\bindividuals?\b/i, ['21']],
]
/** The applicant type "unrestricted", and "others", of which the notice tells more in its text. */
export const UNRESTRICTED = '99'
export const OTHERS = '25'

/** Where a profile goes on to what the applicant does, and for whom. */
const WHAT_IT_DOES =
  /\b(?:that|which|who|whose|to|for(?![- ]profit)|in|on|with|helping|serving|supporting|working|assisting)\b/i

export type Applicant = ReturnType<typeof applicantOf>

export function applicantOf(input: { readonly [field: string]: unknown }, daysNeeded: number) {
  const text = (field: string) => (typeof input[field] === 'string' ? input[field] : '')
  const budget = input['project_budget_usd']
  const days = input['days_needed_to_apply']
  return {
    profile: [text('profile'), text('eligibility')].filter(Boolean).join(' '),
    types: typesIn(text('eligibility') || (text('profile').split(WHAT_IT_DOES)[0] ?? '')),
    budget: typeof budget === 'number' ? budget : undefined,
    daysNeeded: typeof days === 'number' ? days : daysNeeded,
  }
}

/** A text with `;` in the place of kinds of applicants, which are no topic. */
export function withoutKinds(text: string): string {
  return kinds.reduce((rest, [words]) => rest.replaceAll(new RegExp(words, 'gi'), ';'), text)
}

/** Grants.gov's applicant types that a text names. */
export function typesIn(text: string): string[] {
  return [...new Set(kinds.filter(([words]) => words.test(text)).flatMap(([, ids]) => ids))]
}

export function eligibilityOf({ applicant_types }: Notice, { types }: Applicant): 'match' | 'unknown' | 'mismatch' {
  const ids = applicant_types.map(({ id }) => id)
  const isOwn = isOneOf(types, ids)
  if (ids.includes(UNRESTRICTED) || isOwn === true) return 'match'
  if (isOwn === undefined || types.length === 0 || ids.length === 0 || ids.includes(OTHERS)) return 'unknown'
  return 'mismatch'
}

/** Whether an applicant of `types` is one of `ids`; undefined for a company of unknown size where only one size is. */
export function isOneOf(types: readonly string[], ids: readonly string[]): boolean | undefined {
  const own = types.filter((type) => ids.includes(type))
  if (own.length === 0) return false
  return own.length < types.length && types.includes(LARGE_BUSINESS) ? undefined : true
}

export type BudgetFit = { readonly is: 'inside' | 'above' | 'below' /** The limit that decides. */; readonly by: Limit }

/** Undefined if the budget or the limits of an award are unknown. */
export function budgetFit(notice: Notice, { budget }: Applicant): BudgetFit | undefined {
  const { floor, ceiling } = limitsOf(notice)
  if (budget === undefined) return undefined
  if (ceiling && budget > ceiling.amount) return { is: 'above', by: ceiling }
  if (floor && budget < floor.amount) return { is: 'below', by: floor }
  const by = ceiling ?? floor
  return by && { is: 'inside', by }
}

export function daysLeft({ closes_at }: Notice, now: number): number | null {
  return closes_at === null ? null : daysUntil(closes_at, now)
}

/** Stemmed words, so that `farmers` matches `farming`. */
export function termsOf(text: string): string[] {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? []
  return words
    .filter((word) => !functionWords.has(word))
    .map((word) => word.replace(/(ations?|ments?|ings?|ers?|ies|ed|es|s)$/, ''))
    .filter((word) => word.length > 2)
}

const K1 = 1.5
const B = 0.75
const TITLE_COUNTS = 3

/** BM25 score of each notice for a query, relative to the best notice: 0 to 1. */
export function relevanceOf(query: string, notices: readonly Notice[]): number[] {
  const documents = notices.map(({ title, categories, description, eligibility_text }) =>
    termsOf([`${title} `.repeat(TITLE_COUNTS), ...categories, description, eligibility_text].join(' ')),
  )
  const average = documents.reduce((sum, { length }) => sum + length, 0) / Math.max(1, documents.length)
  const scores = documents.map(() => 0)
  for (const term of new Set(termsOf(query))) {
    const counts = documents.map((words) => words.filter((word) => word === term).length)
    const having = counts.filter((count) => count > 0).length
    const rarity = Math.log(1 + (documents.length - having + 0.5) / (having + 0.5))
    for (const [at, count] of counts.entries()) {
      const length = (documents[at]?.length ?? 0) / Math.max(1, average)
      scores[at] = (scores[at] ?? 0) + (rarity * count * (K1 + 1)) / (count + K1 * (1 - B + B * length))
    }
  }
  const best = Math.max(...scores, 1e-9)
  return scores.map((score) => score / best)
}

/** Words that a profile and a notice share, as the profile spells them. */
export function sharedWords(profile: string, { title, description, categories }: Notice): string[] {
  const words = new Set(termsOf([title, description, ...categories].join(' ')))
  const shared = new Map<string, string>()
  for (const word of profile.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? []) {
    const [term] = termsOf(word)
    if (term !== undefined && words.has(term) && !shared.has(term)) shared.set(term, word)
  }
  return [...shared.values()]
}

/** Minimum share of a profile's words that a notice on the same topic contains. */
export const LEAST_OVERLAP = 0.12

/** Share of a profile's words that a notice contains, from 0 to 1. */
export function overlapOf(profile: string, notice: Notice): number {
  const terms = new Set(termsOf(profile))
  return terms.size === 0 ? 0 : sharedWords(profile, notice).length / terms.size
}

/* What a notice says of the size of one award: in its fields or, where they are empty, in its text. */

type Limit = { readonly amount: number; readonly field: string; readonly quote: string | null }
type Limits = { readonly floor: Limit | undefined; readonly ceiling: Limit | undefined }

const AMOUNT = String.raw`\$\s?(\d[\d,]*(?:\.\d+)?)(?:\s?(thousand|million|billion|k|m)\b)?`
const MOST = new RegExp(
  String.raw`\b(?:maximum|no more than|exceed(?:s|ing)?|up to|at most|ceiling|cap(?:ped)? (?:of|at)|limited to|less than)\b[^$.;]{0,60}${AMOUNT}`,
  'i',
)
const LEAST = new RegExp(String.raw`\b(?:minimum|at least|not? less than|floor)\b[^$.;]{0,60}${AMOUNT}`, 'i')
const RANGE = new RegExp(
  String.raw`\b(?:between|from|range\w*)\b[^$.;]{0,40}${AMOUNT}\s?(?:to|and|-|–)\s?${AMOUNT}`,
  'i',
)
/** The sentence is about one award or application. */
const OF_ONE = /\b(?:awards?|grants?|requests?|budgets?|projects?|appli\w+|proposals?)\b/i
/** The sentence is about all awards together, about the applicant's means, or only expects. */
const OF_OTHER =
  /\b(?:total (?:program|funding|amount|available)|in total|available for (?:this|all)|revenues?|operating budget|estimated|average|anticipated|expect\w*|typical\w*|match\w*|cost[- ]shar\w+)\b/i
const SCALES: Readonly<Record<string, number>> = { k: 1e3, thousand: 1e3, m: 1e6, million: 1e6, billion: 1e9 }

/** The smallest and the largest award. */
export function limitsOf(notice: Notice): Limits {
  const { award_floor, award_ceiling, told } = notice
  const said = saidIn(notice)
  return {
    floor: award_floor === null ? said.floor : { amount: award_floor, field: 'award_floor', quote: told.award_floor },
    ceiling:
      award_ceiling === null
        ? said.ceiling
        : { amount: award_ceiling, field: 'award_ceiling', quote: told.award_ceiling },
  }
}

function saidIn(notice: Notice): Limits {
  const all = (['eligibility_text', 'description'] as const).flatMap((field) =>
    sentencesOf(notice[field])
      .filter((quote) => OF_ONE.test(quote) && !OF_OTHER.test(quote))
      .map((quote) => limitsIn(quote, field)),
  )
  return {
    floor: all.map(({ floor }) => floor).find(Boolean),
    ceiling: all.map(({ ceiling }) => ceiling).find(Boolean),
  }
}

function limitsIn(quote: string, field: string): Limits {
  const [, from, fromScale, to, toScale] = RANGE.exec(quote) ?? []
  const limit = (amount: string | undefined, scale = ''): Limit | undefined =>
    amount === undefined ? undefined : { amount: amountOf(amount, scale), field, quote }
  if (from !== undefined) return { floor: limit(from, fromScale), ceiling: limit(to, toScale) }
  const [, low, lowScale] = LEAST.exec(quote) ?? []
  const [, high, highScale] = MOST.exec(quote) ?? []
  return { floor: limit(low, lowScale), ceiling: limit(high, highScale) }
}

function amountOf(digits: string, scale: string): number {
  return Number(digits.replaceAll(',', '')) * (SCALES[scale.toLowerCase()] ?? 1)
}
