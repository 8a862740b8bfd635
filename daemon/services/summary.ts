import { functionWords, sentencesOf, wordsOf } from './english.ts'

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

type Vector = ReadonlyMap<string, number>
type Sentence = { readonly text: string; readonly words: number; readonly at: number; readonly vector: Vector }

/**
 * Picks the sentences nearest to what the whole text is about, each unlike those picked before it (a centroid over
 * weighted words with maximal marginal relevance), and gives them in the order of the text.
 */
export function summarize(blocks: readonly string[], length: SummaryLength): string[] {
  const sentences = weigh(blocks.flatMap(sentencesOf))
  if (sentences.length === 0) return []
  const scores = scored(sentences)
  const most = Math.max(1, Math.min(length.sentences, Math.floor(sentences.length * MAX_SHARE)))
  const picked: Sentence[] = []
  let words = 0
  while (picked.length < most) {
    const next = bestOf(sentences, { picked, scores, room: length.words - words })
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

function matters(word: string): boolean {
  return !functionWords.has(word) && /\p{L}/u.test(word) && (word.length > 1 || word > '\u007f')
}

/** Singular and plural count as one word; more would need a dictionary. */
function stem(word: string): string {
  if (/[^s]s$/.test(word) && word.length > 3) return word.replace(/ies$/, 'y').replace(/(?<=[^s])s$/, '')
  return word
}

function vectorOf(words: readonly string[], weight: (word: string) => number): Vector {
  const counts = new Map<string, number>()
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
  for (const [word, count] of counts) counts.set(word, count * weight(word))
  return counts
}

function scored(sentences: readonly Sentence[]): readonly number[] {
  const centroid = new Map<string, number>()
  for (const { vector } of sentences) {
    for (const [word, weight] of vector) centroid.set(word, (centroid.get(word) ?? 0) + weight)
  }
  const last = sentences.length - 1
  return sentences.map(({ vector, words, at }) => {
    const lead = LEAD_BONUS * (1 - at / sentences.length) ** 2
    const close = at === last && last > 2 ? CLOSE_BONUS : 0
    const tooLong = words > LONG_WORDS ? LONG_WORDS / words : 1
    return (likeness(vector, centroid) + lead + close) * tooLong
  })
}

type Pick = { readonly picked: readonly Sentence[]; readonly scores: readonly number[]; readonly room: number }

function bestOf(sentences: readonly Sentence[], { picked, scores, room }: Pick): Sentence | undefined {
  let best: Sentence | undefined
  let bestValue = Number.NEGATIVE_INFINITY
  for (const sentence of sentences) {
    if (sentence.words > room || picked.includes(sentence)) continue
    const alike = Math.max(0, ...picked.map((other) => likeness(sentence.vector, other.vector)))
    if (alike > SAME) continue
    const value = (scores[sentence.at] ?? 0) - REDUNDANCY * alike
    if (value > bestValue) [best, bestValue] = [sentence, value]
  }
  return best
}

function strongest(sentences: readonly Sentence[], scores: readonly number[]): Sentence {
  return sentences.reduce((best, one) => ((scores[one.at] ?? 0) > (scores[best.at] ?? 0) ? one : best))
}

/** Cosine of two weighted word lists. */
function likeness(one: Vector, other: Vector): number {
  const [small, large] = one.size <= other.size ? [one, other] : [other, one]
  let dot = 0
  for (const [word, weight] of small) dot += weight * (large.get(word) ?? 0)
  const norm = Math.hypot(...one.values()) * Math.hypot(...other.values())
  return norm === 0 ? 0 : dot / norm
}

function cut(text: string, words: number): string {
  const parts = text.split(' ')
  return parts.length <= words ? text : `${parts.slice(0, words).join(' ')}…`
}
