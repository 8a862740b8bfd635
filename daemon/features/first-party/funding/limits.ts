import { sentencesOf } from '../service/english.ts'
import type { Notice } from './notice.ts'

/* What a notice says of the size of one award: in its fields or, where they are empty, in its text. */

export type Limit = { readonly amount: number; readonly field: string; readonly quote: string | null }
export type Limits = { readonly floor: Limit | undefined; readonly ceiling: Limit | undefined }

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
