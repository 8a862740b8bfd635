import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { HOUR_MS } from '../../../src/core/time.ts'
import type { JobFacts } from './rows.ts'
import { NO_JOBS, plus, pointsOf, standingOf, sumsOf } from './score.ts'

const text = readFileSync(new URL('../../../docs/explain/reputation.md', import.meta.url), 'utf8')
const example = text.slice(text.indexOf('<!-- example -->'), text.indexOf('<!-- result -->'))
const rows = example
  .split('\n')
  .filter((line) => /^\| (delivered|failed)/.test(line))
  .map((line) => line.split('|').slice(1, -1))
  .map((cells) => cells.map((cell) => cell.trim()))

const hours = (cell = '') => (cell === '–' ? null : Number(cell) * HOUR_MS)

function factsIn([outcome, dispute, rating = '', taken, promised, response]: string[]): JobFacts {
  return {
    outcome: outcome as JobFacts['outcome'], // the test says which
    dispute: dispute as JobFacts['dispute'], // the same
    rating: rating === '–' ? null : Number(rating),
    taken_ms: hours(taken),
    estimate_ms: hours(promised),
    response_ms: hours(response),
  }
}

test('each job of the worked example has the points that the page says', () => {
  expect(rows).toHaveLength(4)
  for (const cells of rows) {
    const facts = factsIn(cells)
    const { quality, reliability, speed, communication } = pointsOf(facts)
    const score = (sumsOf(facts).score / 10).toFixed(1)
    expect([quality, reliability, speed, communication, score].map(String)).toEqual(cells.slice(6))
  }
})

test('together they have the score and the confidence that the page says', () => {
  const { score, confidence, is_new } = standingOf(rows.map(factsIn).map(sumsOf).reduce(plus, NO_JOBS))
  const sums = rows.map((cells) => Number(cells[10]))
  const result = text.slice(text.indexOf('<!-- result -->'), text.indexOf('## Verdicts'))
  expect(result).toContain(`\`(375 + ${sums.join(' + ')}) / 9 = ${score}\``)
  expect(result).toContain(`\`4 / 14 = ${confidence}\``)
  expect(is_new).toBe(true)
})
