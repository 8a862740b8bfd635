import { englishShare, sentencesOf } from '../service/english.ts'
import {
  degrees,
  ironies,
  judgements,
  negators,
  phrases,
  pictures,
  removers,
  suppositions,
  turns,
} from './sentiment-words.ts'

export const sentiments = ['positive', 'negative', 'neutral', 'mixed'] as const
export type Sentiment = {
  readonly sentiment: (typeof sentiments)[number]
  /** -1 to 1. */
  readonly score: number
  /** 0 to `MAX_CONFIDENCE`: amount and agreement of the evidence. */
  readonly confidence: number
  readonly reasons: string[]
}

/** Words before a sentiment word in which modifiers apply. */
const REACH_WORDS = 3
const SUPPOSITION_REACH_WORDS = 5
/** `not good` is milder than `bad`. */
const NEGATED = -0.75
const SUPPOSED = 0.4
const BEFORE_TURN = 0.6
const AFTER_TURN = 1.3
const SHOUTED = 1.25
const EXCLAIMED = 1.15
/** Less than one mild word is neutral. */
const LEAST_WEIGHT = 0.6
/** Weight of neutral words: a constant plus a share of each. */
const CALM_WEIGHT = 1.5
const CALM_WEIGHT_PER_WORD = 0.02
const NEUTRAL_SCORE = 0.12
/** Mixed: both sides reach this weight, and the smaller this share of the larger. */
const MIXED_WEIGHT = 1.2
const MIXED_SHARE = 0.4
/** Word lists only detect marked irony. */
const MAX_CONFIDENCE = 0.9
const MAX_FOREIGN_CONFIDENCE = 0.15
const MIN_ENGLISH_SHARE = 0.12
/** Below this many words the share is meaningless. */
const MIN_WORDS_FOR_LANGUAGE = 8
const MAX_REASONS = 10

/** `weight` is the final value, `said` the value before contrast. */
type Finding = { readonly words: string; readonly weight: number; readonly said: number }
type Token = { readonly word: string; readonly shouted: boolean }

/**
 * Rates an English text by its words and by rules for negation, degree, condition, contrast and emphasis.
 * Deterministic; without evidence it is neutral with low confidence.
 */
export function judge(text: string): Sentiment {
  const spoken = sentencesOf(text.replace(/[‘’]/g, "'"))
  const tokens = spoken.map(tokensOf)
  const plain = spoken.map((sentence, at) => findingsOf(sentence, tokens[at] ?? []))
  const findings = [...meantIn(text, spoken, plain), ...picturesOf(text)]
  const weights = findings.map(({ weight }) => weight)
  const [good, bad] = [sumOf(weights, 1), sumOf(weights, -1)]
  const words = tokens.flat().map(({ word }) => word)
  const calm = CALM_WEIGHT + CALM_WEIGHT_PER_WORD * words.length
  const score = rounded((good - bad) / (good + bad + calm))
  const said = findings.map((finding) => finding.said)
  const sentiment = labelOf({ good: sumOf(said, 1), bad: sumOf(said, -1), score })
  const isForeign = words.length >= MIN_WORDS_FOR_LANGUAGE && englishShare(words) < MIN_ENGLISH_SHARE
  const confidence = rounded(confidenceOf(sentiment, { good, bad, words: words.length }))
  return {
    sentiment,
    score: sentiment === 'neutral' && good + bad < LEAST_WEIGHT ? 0 : score,
    confidence: isForeign ? Math.min(confidence, MAX_FOREIGN_CONFIDENCE) : confidence,
    reasons: [...(isForeign ? ['the text does not look like English'] : []), ...reasonsOf(findings)],
  }
}

/** Ironic praise counts as criticism. */
function meantIn(text: string, sentences: readonly string[], plain: readonly (readonly Finding[])[]): Finding[] {
  const complains = plain.flat().some(({ weight }) => weight < 0)
  const isMarked = ironies.text.test(text)
  return plain.flatMap((findings, at) => {
    const sentence = sentences[at] ?? ''
    const isIrony = isMarked || ironies.sentence.test(sentence) || (complains && ironies.beforeBlame.test(sentence))
    return isIrony ? findings.map(turned) : findings
  })
}

function turned({ words, weight, said }: Finding): Finding {
  if (weight <= 0) return { words, weight, said }
  return { words: `${words} (ironic)`, weight: weight * NEGATED, said: said * NEGATED }
}

function sumOf(weights: readonly number[], sign: 1 | -1): number {
  return weights.reduce((sum, weight) => (Math.sign(weight) === sign ? sum + Math.abs(weight) : sum), 0)
}

function labelOf({ good, bad, score }: { good: number; bad: number; score: number }): Sentiment['sentiment'] {
  if (good + bad < LEAST_WEIGHT) return 'neutral'
  const lesser = Math.min(good, bad)
  if (lesser >= MIXED_WEIGHT && lesser / Math.max(good, bad) >= MIXED_SHARE) return 'mixed'
  if (Math.abs(score) < NEUTRAL_SCORE) return 'neutral'
  return score > 0 ? 'positive' : 'negative'
}

/** Grows with the evidence and falls with disagreement. */
function confidenceOf(
  sentiment: Sentiment['sentiment'],
  { good, bad, words }: { good: number; bad: number; words: number },
): number {
  const weight = good + bad
  const evidence = 1 - Math.exp(-weight / 3)
  if (sentiment === 'neutral') return words === 0 ? 0 : 0.5 * (1 - evidence)
  const agreement = weight === 0 ? 0 : Math.abs(good - bad) / weight
  return MAX_CONFIDENCE * evidence * (sentiment === 'mixed' ? 1 - agreement / 2 : 0.5 + agreement / 2)
}

/** Words of a sentence with emphasis; `sooo` becomes `so`. */
function tokensOf(sentence: string): Token[] {
  const found = sentence.match(/[\p{L}\p{N}]+(?:['-][\p{L}\p{N}]+)*/gu) ?? []
  const isAllShouted = found.every((word) => word === word.toUpperCase())
  return found.map((word) => ({
    word: word.toLowerCase().replace(/(\p{L})\1{2,}/gu, '$1$1'),
    shouted: !isAllShouted && word.length > 2 && word === word.toUpperCase() && /\p{L}/u.test(word),
  }))
}

function findingsOf(sentence: string, tokens: readonly Token[]): Finding[] {
  const turn = tokens.findIndex(({ word }) => turns.has(word))
  const exclaimed = sentence.includes('!') ? EXCLAIMED : 1
  const findings: Finding[] = []
  for (let at = 0; at < tokens.length; ) {
    const { weight, length } = phraseAt(tokens, at) ?? { weight: wordWeight(tokens, at), length: 1 }
    const isPhrase = length > 1
    if (weight !== 0) {
      const place = turn < 0 ? 1 : contrast(at, turn)
      const said = weight * (isPhrase ? 1 : modifier(tokens, at, weight)) * exclaimed
      findings.push({ words: wordsAround(tokens, at, length), said, weight: said * place })
    }
    at += length
  }
  return findings
}

function contrast(at: number, turn: number): number {
  return at < turn ? BEFORE_TURN : AFTER_TURN
}

const LONGEST_PHRASE_WORDS = 6

function phraseAt(tokens: readonly Token[], at: number): { weight: number; length: number } | undefined {
  for (let length = Math.min(LONGEST_PHRASE_WORDS, tokens.length - at); length > 1; length -= 1) {
    const words = tokens.slice(at, at + length).map(({ word }) => word)
    const weight = phrases.get(words.join(' '))
    if (weight !== undefined) return { weight, length }
  }
  return undefined
}

/** `like` is positive only after these; otherwise it compares. */
const likers = new Set('i we you they really who also do did would people everyone'.split(' '))

function wordWeight(tokens: readonly Token[], at: number): number {
  const word = tokens[at]?.word ?? ''
  const before = tokens[at - 1]?.word ?? ''
  if (word === 'like' && !likers.has(before) && !isNegator(before)) return 0
  // A degree word before another word, as in `incredibly slow`, does not count itself.
  if (degrees.has(word) && tokens[at + 1] !== undefined && weightOf(tokens[at + 1]?.word ?? '') !== 0) return 0
  return weightOf(word)
}

function weightOf(word: string): number {
  for (const form of formsOf(word)) {
    const weight = judgements.get(form)
    if (weight !== undefined) return weight
  }
  return word.includes('-') ? weightOfParts(word) : 0
}

function weightOfParts(word: string): number {
  const weights = word.split('-').map((part) => judgements.get(part) ?? 0)
  return weights.find((weight) => weight !== 0) ?? 0
}

/** A word and its possible base forms. */
function formsOf(word: string): string[] {
  const stems = [
    /(?<=\w{3})ies$/.test(word) ? word.replace(/ies$/, 'y') : '',
    /(?<=\w{3})s$/.test(word) ? word.slice(0, -1) : '',
    /(?<=\w{3})(ed|es|er)$/.test(word) ? word.slice(0, -2) : '',
    /(?<=\w{3})[ed]d$/.test(word) ? word.slice(0, -1) : '',
    /(?<=\w{3})ing$/.test(word) ? word.slice(0, -3) : '',
    /(?<=\w{3})ing$/.test(word) ? `${word.slice(0, -3)}e` : '',
    /(?<=\w{4})ly$/.test(word) ? word.slice(0, -2) : '',
    /(?<=\w{3})ily$/.test(word) ? word.replace(/ily$/, 'y') : '',
    /(?<=\w{3})est$/.test(word) ? word.slice(0, -3) : '',
  ]
  return [word, ...stems.filter((stem) => stem !== '')]
}

/** Factor from the words before a sentiment word. */
function modifier(tokens: readonly Token[], at: number, weight: number): number {
  const reach = tokens.slice(Math.max(0, at - REACH_WORDS), at)
  const negations = reach.filter(({ word }, place) => negates(word, reach[place + 1]?.word, weight)).length
  const degree = reach.slice(-2).reduce((product, { word }) => product * (degrees.get(word) ?? 1), 1)
  const before = tokens.slice(Math.max(0, at - SUPPOSITION_REACH_WORDS), at)
  // `would not recommend` is no condition.
  const supposed = negations === 0 && before.some(({ word }) => suppositions.has(word))
  return (negations % 2 === 1 ? NEGATED : 1) * degree * (supposed ? SUPPOSED : 1) * (tokens[at]?.shouted ? SHOUTED : 1)
}

/** Negating pairs: `anything but friendly`, `far from good`. */
const unlike: ReadonlyMap<string, string> = new Map([
  ['anything', 'but'],
  ['far', 'from'],
])

/** `not only` and `nothing but` do not negate; removing something bad does. */
function negates(word: string, next: string | undefined, weight: number): boolean {
  if (removers.has(word)) return weight < 0
  const denied = unlike.get(word)
  if (denied !== undefined) return next === denied
  return isNegator(word) && next !== 'only' && next !== 'but'
}

function isNegator(word: string): boolean {
  return negators.has(word) || word.endsWith("n't")
}

function wordsAround(tokens: readonly Token[], at: number, length: number): string {
  const from = tokens.slice(Math.max(0, at - REACH_WORDS), at)
  const first = from.findIndex(({ word }) => isNegator(word) || degrees.has(word))
  const start = first < 0 ? at : at - from.length + first
  return tokens
    .slice(start, at + length)
    .map(({ word }) => word)
    .join(' ')
}

function picturesOf(text: string): Finding[] {
  return [...pictures].flatMap(([picture, weight]) => {
    const times = text.split(picture).length - 1
    // Repetition counts at most twice.
    const said = weight * Math.min(times, 2)
    return times === 0 ? [] : [{ words: picture, weight: said, said }]
  })
}

/** The heaviest findings as words. */
function reasonsOf(findings: readonly Finding[]): string[] {
  const byWeight = findings.toSorted((one, other) => Math.abs(other.weight) - Math.abs(one.weight))
  const said = byWeight.map(({ words, weight }) => `${weight > 0 ? 'positive' : 'negative'}: ${words}`)
  return [...new Set(said)].slice(0, MAX_REASONS)
}

function rounded(value: number): number {
  return Math.round(value * 1_000) / 1_000
}
