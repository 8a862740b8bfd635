import { hash } from 'node:crypto'
import type { Json } from '../../../../src/core/json.ts'
import { matters, root, sentencesOf, wordsOf } from '../service/english.ts'
import { defineService, fetchPage, textOf } from '../service/service.ts'
import { bodyBlocks, documentOf, parseHtml, visibleBlocks } from './document.ts'
import { decode, isHtml, isText, type WebPage } from './page.ts'

/** Limit of bytes to hash (specification, Limits). */
const MAX_HASHED_BYTES = 1_000_000
/** Response headers that may contain secrets of the visitor. */
const withheldHeaders = new Set(['set-cookie'])
const EXCERPT_CHARS = 80

/**
 * Fetches a URL once and records the response. Any status counts as a response; an unreachable page is a failure. The
 * expected text is searched in the visible text and in the source.
 */
export const urlEvidenceSnapshot = defineService({
  slug: 'url_evidence_snapshot',
  read: (input, ctx) => fetchPage(ctx, input, { field: 'url', maxBytes: MAX_HASHED_BYTES, truncate: true }),
  make(input, page: WebPage) {
    const expected = textOf(input, 'expected_text')
    const headers = Object.entries(page.headers).filter(([name]) => !withheldHeaders.has(name))
    return {
      url_evidence_snapshot: {
        url: textOf(input, 'url').trim(),
        final_url: page.url,
        redirects: page.redirects.map((hop) => ({ ...hop })),
        status: page.status,
        headers: Object.fromEntries(headers),
        body_bytes: page.body.length,
        body_sha256: hash('sha256', page.body),
        truncated: page.truncated,
        ...(expected === '' ? { text_found: null } : findText(page, expected, input['case_sensitive'] === true)),
        ...(typeof input['question'] === 'string' ? answersTo(input['question'], page) : {}),
        fetched_at: new Date(page.at).toISOString(),
      },
    }
  },
})

const MAX_ANSWERS = 3
const MAX_QUOTE_CHARS = 600
/** Minimum weighted share of a question's words in a matching sentence; more for a question of more than two words. */
const MIN_MATCH = 0.34
const MIN_MATCH_OF_MANY = 0.5
/** What a question's word counts if only the heading above says it, and its extra rank if the heading says it too. */
const ONLY_ABOVE = 0.9
const UNDER_IT = 0.2
/** Words that an answer must have besides those of the question. */
const MIN_NEWS = 2
/** Longest heading, in words. Headings end with a question mark or with none at all. */
const MAX_HEADING_WORDS = 15

/** What the answer to a kind of question has in it. */
const answering: readonly (readonly [question: RegExp, answer: RegExp])[] = [
  [
    /\bwhen\b(?! (?:should|can|may|must|to|not|(?:do|would) (?:i|we))\b)|\bwhat (?:date|day|year|time)\b/i,
    /\b(?:1[5-9]|20)\d\d\b|\d{1,2}:\d\d|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tues|wednes|thurs|fri|satur|sun)\w*\b|\b(?:hour|day|week|month|year)s?\b/i,
  ],
  [
    /\bhow (?:many|much|often|long|old|large|big|fast|far)\b|\bwhat (?:is the )?(?:price|cost|number|percentage|port|limit)\b/i,
    /\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|dozen|hundred|thousand|million|once|twice|free|none|no|unlimited|daily|weekly|monthly|yearly)\b/i,
  ],
  [/\bwho\b/i, /(?<!^\W*)\p{Lu}\p{Ll}/u],
]

/** Words of a question that need not occur in its answer. */
const asking = new Set(
  'long often big old thing things anything something someone anyone tell please many there allowed possible'.split(
    ' ',
  ),
)

function asks(word: string): boolean {
  return matters(word) && !asking.has(word)
}

/** Quotes the sentences that match a question; draws no conclusions. */
function answersTo(question: string, page: WebPage): { [member: string]: Json } {
  const asked = [...rootsOf(question)]
  const wanted = new Set(wordsOf(question).filter(asks).map(root))
  const sentences = sentencesIn(textBlocks(page))
  const weights = [...wanted].map((word) => {
    const spread = sentences.filter(({ words }) => words.has(word)).length
    return [word, Math.log(1 + sentences.length / (1 + spread))] as const
  })
  const whole = weights.reduce((sum, [, weight]) => sum + weight, 0)
  const kinds = answering.filter(([of]) => of.test(question)).map(([, has]) => has)
  const answers = sentences
    .filter(({ text }) => kinds.every((has) => has.test(text)))
    // A question is no answer, nor is what only repeats it.
    .filter(
      ({ text, words }) => !text.endsWith('?') && [...words].filter((word) => !wanted.has(word)).length >= MIN_NEWS,
    )
    .map(({ text, words, above }) => {
      const shared = asked.filter((word) => above.has(word))
      // One word alone does not make a heading the question's.
      const isUnderIt = shared.filter((word) => wanted.has(word)).length >= Math.min(2, wanted.size)
      const told = (word: string) => (words.has(word) ? 1 : ONLY_ABOVE * Number(isUnderIt && above.has(word)))
      const match = weights.reduce((sum, [word, weight]) => sum + weight * told(word), 0) / (whole || 1)
      return { text, match, rank: match + (UNDER_IT * shared.length) / asked.length }
    })
    .filter(({ match }) => match >= (wanted.size > 2 ? MIN_MATCH_OF_MANY : MIN_MATCH))
    .sort((one, other) => other.rank - one.rank)
    .slice(0, MAX_ANSWERS)
    .map(({ text, match }) => ({
      quote: text.slice(0, MAX_QUOTE_CHARS).toWellFormed(),
      match: Math.round(match * 100) / 100,
    }))
  return { question, answers }
}

type Passage = { readonly text: string; readonly words: Set<string>; readonly above: Set<string> }

/** Sentences with their words, and with those of the heading above. */
function sentencesIn(blocks: readonly string[]): Passage[] {
  const found: Passage[] = []
  let above = new Set<string>()
  for (const block of blocks) {
    const own = rootsOf(block)
    const said = sentencesOf(block).map((text) => ({ text, words: rootsOf(text), above }))
    if (own.size <= MAX_HEADING_WORDS && /[^.!:;,]$/.test(block)) above = own
    found.push(...said)
    if (found.length >= MAX_SENTENCES) break
  }
  return found
}

function rootsOf(text: string): Set<string> {
  return new Set(wordsOf(text).map(root))
}

const MAX_SENTENCES = 5_000

function textBlocks(page: WebPage): string[] {
  if (!isText(page)) return []
  return bodyBlocks(documentOf(page))
}

/** Searches a page for the text, after normalising whitespace and accents in both; null if the rest may have it. */
function findText(page: WebPage, expected: string, caseSensitive: boolean): { [member: string]: Json } {
  const plain = (text: string) => text.normalize('NFC').replace(/\s+/g, ' ').trim()
  const fold = (text: string) => (caseSensitive ? text : text.toLowerCase())
  const wanted = fold(plain(expected))
  for (const [place, text] of placesOf(page)) {
    const shown = plain(text)
    const at = fold(shown).indexOf(wanted)
    if (at >= 0) return { text_found: true, found_in: place, excerpt: excerptAt(shown, at, wanted.length) }
  }
  return { text_found: page.truncated ? null : false, found_in: null }
}

function placesOf(page: WebPage): [string, string][] {
  if (!isText(page)) return []
  const source = decode(page)
  const visible: [string, string][] = isHtml(page) ? [['visible_text', visibleBlocks(parseHtml(source)).join(' ')]] : []
  return [...visible, ['source', source]]
}

function excerptAt(text: string, at: number, length: number): string {
  return text.slice(Math.max(0, at - EXCERPT_CHARS), at + length + EXCERPT_CHARS).toWellFormed()
}
