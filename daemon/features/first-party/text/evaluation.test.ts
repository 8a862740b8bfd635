import { readFileSync } from 'node:fs'
import { SentimentIntensityAnalyzer } from 'vader-sentiment'
import { expect, it } from 'vitest'
import { judge } from './sentiment-analysis.ts'
import { summarize } from './summary.ts'

/* How good it is, on texts that nobody looked at while it was made: no change may make it worse unseen. */

const evaluation = (name: string) => JSON.parse(readFileSync(`fixtures/evaluation/${name}.json`, 'utf8'))

it('sentiment is right on three of four labelled lines, in each class on most, and rarely calls praise blame', () => {
  const labelled = Object.entries<string[]>(evaluation('sentiment'))
  const lines = labelled.flatMap(([label, texts]) => texts.map((text) => ({ label, text, ...judge(text) })))
  expect(lines.length).toBeGreaterThanOrEqual(50)
  const right = lines.filter(({ label, sentiment }) => label === sentiment)
  expect(right.length / lines.length).toBeGreaterThanOrEqual(0.75)
  for (const [label, texts] of labelled) {
    const share = right.filter((line) => line.label === label).length / texts.length
    expect([label, share >= 0.6]).toEqual([label, true])
  }
  const opposites = lines.filter(
    ({ label, sentiment }) =>
      `${label} ${sentiment}` === 'positive negative' || `${label} ${sentiment}` === 'negative positive',
  )
  expect(opposites.length / lines.length).toBeLessThanOrEqual(0.1)
  // What it is wrong about it is not sure of.
  const mean = (rows: readonly { confidence: number }[]) =>
    rows.reduce((sum, { confidence }) => sum + confidence, 0) / rows.length
  const judged = lines.filter(({ sentiment }) => sentiment !== 'neutral')
  const wrong = judged.filter(({ label, sentiment }) => label !== sentiment)
  if (wrong.length > 0) expect(mean(wrong)).toBeLessThan(mean(judged.filter((line) => !wrong.includes(line))))
})

/** Of ratings from -4 to 4 and of scores from -1 to 1, the same share is neutral. */
const sideOf = (value: number, whole: number) => (Math.abs(value) < 0.05 * whole ? 0 : Math.sign(value))

it.each(['movies', 'products', 'tweets', 'editorials'])(
  'sentiment of %s is told at least as well as by VADER alone, on lines that people rated',
  (set) => {
    const rows = readFileSync('fixtures/evaluation/vader-gold.tsv', 'utf8').trim().split('\n')
    const lines = rows.map((row) => row.split('\t')).filter(([of]) => of === set)
    expect(lines).toHaveLength(80)
    const right = (score: (text: string) => number) =>
      lines.filter(([, rating, text = '']) => sideOf(Number(rating), 4) === sideOf(score(text), 1)).length
    const ours = right((text) => judge(text).score)
    expect(ours).toBeGreaterThanOrEqual(right((text) => SentimentIntensityAnalyzer.polarity_scores(text).compound))
    // As VADER's authors measured it: people agree on tweets, and hardly on editorials.
    expect(ours / lines.length).toBeGreaterThanOrEqual(set === 'tweets' ? 0.9 : 0.5)
  },
)

it('a summary keeps four of five facts that a reader has to learn, far more than the first sentences do', () => {
  const articles: { text: string; keys: string[] }[] = evaluation('summaries')
  const standard = { sentences: 4, words: 120 }
  const keptBy = (shorten: (text: string) => readonly string[]) => {
    const kept = articles.map(({ text, keys }) => keys.filter((key) => shorten(text).join(' ').includes(key)).length)
    return kept.reduce((sum, count) => sum + count, 0) / articles.flatMap(({ keys }) => keys).length
  }
  const ours = keptBy((text) => summarize([text], standard))
  const first = keptBy((text) => text.split(/(?<=[a-z]\.) /).slice(0, standard.sentences))
  expect(ours).toBeGreaterThanOrEqual(0.8)
  expect(ours).toBeGreaterThan(1.2 * first)
  for (const { text } of articles) {
    for (const sentence of summarize([text], standard)) expect(text).toContain(sentence)
  }
})
