import { matters, sentencesOf, stem, wordsOf } from '../service/english.ts'

export type SummaryLength = { readonly sentences: number; readonly words: number }

/** Lines with fewer words are headings, captions or menu entries. */
const MIN_WORDS = 4
/** End of a statement. If most lines end like this, the lines that do not are headings. */
const ENDED = /[.!…。！]["'”’»)\]]*$/u
/** Sentences with more words get a lower score. */
const LONG_WORDS = 40
/** Sentences that lean on the one before get a lower score. */
const LEANING = /^(?:it|they|this|these|those|he|she|however|but|so)\b/i
const LEANING_WEIGHT = 0.7
/** Factor of the penalty for similarity to sentences that are already chosen. */
const REDUNDANCY = 0.5
/** Sentences more similar than this are duplicates. */
const SAME = 0.8
/** A bonus for early sentences, and a smaller one for the last. */
const LEAD_BONUS = 0.35
const CLOSE_BONUS = 0.05
/** Maximum share of a text's sentences in its summary; one sentence is always allowed. */
const MAX_SHARE = 0.6
/** Weight of a word that occurs in one sentence only. */
const SINGLE_WEIGHT = 0.25

type Vector = { readonly weights: ReadonlyMap<string, number>; readonly norm: number }
type Sentence = { readonly text: string; readonly words: number; readonly at: number; readonly vector: Vector }

/**
 * Picks sentences close to the text's centroid but unlike those already picked (maximal marginal relevance). Returns
 * them in text order.
 */
export function summarize(blocks: readonly string[], length: SummaryLength): string[] {
  const sentences = weigh(blocks.flatMap(sentencesOf))
  if (sentences.length === 0) return []
  const scores = scored(sentences)
  const left = sentences.map((sentence) => ({ sentence, score: scores[sentence.at] ?? 0, alike: 0 }))
  const most = Math.max(1, Math.min(length.sentences, Math.round(sentences.length * MAX_SHARE)))
  const picked: Sentence[] = []
  let words = 0
  while (picked.length < most) {
    const next = takeBest(left, length.words - words)
    if (!next) break
    picked.push(next)
    words += next.words
  }
  const [strongest] = sentences.toSorted((one, other) => (scores[other.at] ?? 0) - (scores[one.at] ?? 0))
  if (picked.length === 0) return [cut(strongest?.text ?? '', length.words)]
  return picked.sort((one, other) => one.at - other.at).map(({ text }) => text)
}

/** Sentences with their weighted words; a word's weight depends on how many sentences contain it. */
function weigh(texts: readonly string[]): Sentence[] {
  const counted = texts.map((text) => ({ text, tokens: wordsOf(text) }))
  // What ends with a colon leads to something that the summary leaves out.
  const spoken = counted.filter(({ text, tokens }) => tokens.length >= MIN_WORDS && !text.endsWith(':'))
  const ended = spoken.filter(({ text }) => ENDED.test(text))
  const prose = ended.length * 2 > spoken.length ? ended : spoken
  const used = prose.length > 0 ? prose : counted.filter(({ tokens }) => tokens.length > 0)
  const spread = new Map<string, number>()
  for (const { tokens } of used) {
    for (const word of new Set(tokens.filter(matters).map(stem))) spread.set(word, (spread.get(word) ?? 0) + 1)
  }
  return used.map(({ text, tokens }, at) => ({
    text,
    at,
    words: tokens.length,
    vector: vectorOf(tokens.filter(matters).map(stem), (word) => weightOf(spread.get(word) ?? 1)),
  }))
}

function weightOf(sentences: number): number {
  return sentences === 1 ? SINGLE_WEIGHT : Math.log(1 + sentences)
}

function vectorOf(words: readonly string[], weight: (word: string) => number): Vector {
  const counts = new Map<string, number>()
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
  for (const [word, count] of counts) counts.set(word, count * weight(word))
  return vectorFrom(counts)
}

function vectorFrom(weights: ReadonlyMap<string, number>): Vector {
  let squares = 0
  for (const weight of weights.values()) squares += weight * weight
  return { weights, norm: Math.sqrt(squares) }
}

function scored(sentences: readonly Sentence[]): readonly number[] {
  const sums = new Map<string, number>()
  for (const { vector } of sentences) {
    for (const [word, weight] of vector.weights) sums.set(word, (sums.get(word) ?? 0) + weight)
  }
  const centroid = vectorFrom(sums)
  const last = sentences.length - 1
  return sentences.map(({ text, vector, words, at }) => {
    const lead = LEAD_BONUS * (1 - at / sentences.length) ** 2
    const close = at === last && last > 2 ? CLOSE_BONUS : 0
    const tooLong = words > LONG_WORDS ? LONG_WORDS / words : 1
    return (likeness(vector, centroid) + lead + close) * tooLong * (LEANING.test(text) ? LEANING_WEIGHT : 1)
  })
}

/** A sentence not chosen yet, with its highest similarity to the chosen ones. */
type Candidate = { readonly sentence: Sentence; readonly score: number; alike: number }

/** Takes the best sentence of at most `room` words, if any. Updates the similarities of the remaining sentences. */
function takeBest(left: Candidate[], room: number): Sentence | undefined {
  let best = -1
  let bestValue = Number.NEGATIVE_INFINITY
  for (const [at, { sentence, score, alike }] of left.entries()) {
    if (sentence.words > room || alike > SAME) continue
    const value = score - REDUNDANCY * alike
    if (value > bestValue) [best, bestValue] = [at, value]
  }
  const [taken] = best < 0 ? [] : left.splice(best, 1)
  if (!taken) return undefined
  for (const one of left) one.alike = Math.max(one.alike, likeness(one.sentence.vector, taken.sentence.vector))
  return taken.sentence
}

/** Cosine similarity. */
function likeness(one: Vector, other: Vector): number {
  const [small, large] = one.weights.size <= other.weights.size ? [one, other] : [other, one]
  let dot = 0
  for (const [word, weight] of small.weights) dot += weight * (large.weights.get(word) ?? 0)
  const norm = one.norm * other.norm
  return norm === 0 ? 0 : dot / norm
}

function cut(text: string, words: number): string {
  const parts = text.split(' ')
  return parts.length <= words ? text : `${parts.slice(0, words).join(' ')}…`
}
