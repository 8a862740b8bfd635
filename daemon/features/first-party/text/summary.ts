import { matters, sentencesOf, stem, wordsOf } from '../service/english.ts'

export type SummaryLength = { readonly sentences: number; readonly words: number }

/** Headings, captions and menu entries are shorter. */
const MIN_WORDS = 4
/** Sentences longer than this say too much at once to be picked for it. */
const LONG_WORDS = 40
/** How much being alike to what was picked costs. */
const REDUNDANCY = 0.5
/** What is this much alike says the same and is left out. */
const SAME = 0.8
/** The beginning of a text tells more of it than its middle; so, a little, does its end. */
const LEAD_BONUS = 0.15
const CLOSE_BONUS = 0.05
/** Even a short text is shortened: at most this share of its sentences is kept, but one always is. */
const MAX_SHARE = 0.6
/** A word of one sentence only says nothing of what the others are about. */
const SINGLE_WEIGHT = 0.25

/** Weighted words, and their length as a vector: asked for at every comparison, so it is taken once. */
type Vector = { readonly weights: ReadonlyMap<string, number>; readonly norm: number }
type Sentence = { readonly text: string; readonly words: number; readonly at: number; readonly vector: Vector }

/**
 * Picks the sentences nearest to what the whole text is about, each unlike those picked before it (a centroid over
 * weighted words with maximal marginal relevance), and gives them in the order of the text.
 */
export function summarize(blocks: readonly string[], length: SummaryLength): string[] {
  const sentences = weigh(blocks.flatMap(sentencesOf))
  if (sentences.length === 0) return []
  const scores = scored(sentences)
  const left = sentences.map((sentence) => ({ sentence, score: scores[sentence.at] ?? 0, alike: 0 }))
  const most = Math.max(1, Math.min(length.sentences, Math.floor(sentences.length * MAX_SHARE)))
  const picked: Sentence[] = []
  let words = 0
  while (picked.length < most) {
    const next = takeBest(left, length.words - words)
    if (!next) break
    picked.push(next)
    words += next.words
  }
  if (picked.length === 0) return [cut(strongest(sentences, scores).text, length.words)]
  return picked.sort((one, other) => one.at - other.at).map(({ text }) => text)
}

/** Sentences with their words weighted: what many sentences speak of is what the text is about. */
function weigh(texts: readonly string[]): Sentence[] {
  const counted = texts.map((text) => ({ text, tokens: wordsOf(text) }))
  const spoken = counted.filter(({ tokens }) => tokens.length >= MIN_WORDS)
  const used = spoken.length > 0 ? spoken : counted.filter(({ tokens }) => tokens.length > 0)
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
  return sentences.map(({ vector, words, at }) => {
    const lead = LEAD_BONUS * (1 - at / sentences.length) ** 2
    const close = at === last && last > 2 ? CLOSE_BONUS : 0
    const tooLong = words > LONG_WORDS ? LONG_WORDS / words : 1
    return (likeness(vector, centroid) + lead + close) * tooLong
  })
}

/** A sentence that was not picked, and how much it is like the one of the picked that it is most like. */
type Candidate = { readonly sentence: Sentence; readonly score: number; alike: number }

/** Takes the best that fits out of the list; what is left is compared with the new pick only. */
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

function strongest(sentences: readonly Sentence[], scores: readonly number[]): Sentence {
  return sentences.reduce((best, one) => ((scores[one.at] ?? 0) > (scores[best.at] ?? 0) ? one : best))
}

/** Cosine of two weighted word lists. */
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
