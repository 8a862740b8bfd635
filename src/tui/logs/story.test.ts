import { describe, expect, it } from 'vitest'
import { textOf } from '../parts/line.ts'
import { type Story, storyLines } from './story.ts'

type Step = Story['steps'][number]
const BEGUN = Date.parse('2026-11-21T14:00:00.000Z')

function step(kind: Step['kind'], atMs: number, more: Partial<Step> = {}): Step {
  const at = new Date(BEGUN + atMs).toISOString()
  return { depth: 1, kind, id: null, at, sign: 'done', amount: null, ms: null, sentence: `the ${kind}`, ...more }
}

const purchase = [
  step('request', 0, { depth: 0, ms: 40 }),
  step('payment', 10),
  step('settlement', 30, { depth: 2 }),
  step('job', 30, { depth: 2 }),
  step('attempt', 40, { depth: 3, ms: 40, sentence: 'try 1: answered 200' }),
  step('milestone', 2 * 3_600_000, { depth: 3, sentence: 'completed' }),
]

const drawn = (steps: readonly Step[], width: number) =>
  storyLines({ id: 'req_0123456789abcdef', steps, lost: '' }, width).map((line) => textOf(line).trimEnd())

/** Bars by the kind of their step: how many columns before, and how many of it. */
function barsOf(rows: readonly string[]): Record<string, readonly [number, number]> {
  const from = Math.min(...rows.map((row) => row.indexOf('━')).filter((at) => at >= 0))
  return Object.fromEntries(
    rows.flatMap((row) => {
      const [, kind = ''] = /[✓✗●] (\w+)/.exec(row) ?? []
      const bar = /[━╸]+/.exec(row)
      return bar === null ? [] : [[kind, [bar.index - from, bar[0].length] as const]]
    }),
  )
}

describe('a story', () => {
  it('has a bar for each step, from its begin to its end, and names the longest', () => {
    const rows = drawn(purchase, 112)
    expect(rows[0]).toBe(' longest +1h 59m  milestone  completed')
    const bars = barsOf(rows)
    expect(bars).toEqual({ request: [0, 8], payment: [0, 2], settlement: [2, 4], attempt: [8, 8] })
    expect(rows[1]).toMatch(/ 40 ms$/)
    expect(rows[2]).toMatch(/ \+10 ms$/)
    expect(rows.at(-1)).toMatch(/completed +\+1h 59m$/)
  })

  it.each([76, 100, 160, 200])('scales its bars to %i columns', (width) => {
    const { request, attempt } = barsOf(drawn(purchase, width))
    const half = Math.floor(width / 7) / 2
    expect(request?.[1]).toBeGreaterThanOrEqual(Math.floor(half))
    expect(attempt?.[0]).toBe(Math.floor(half))
    for (const row of drawn(purchase, width)) expect(row.length).toBeLessThan(width)
  })

  it('has figures alone at 60 columns, and bars in a side panel', () => {
    const rows = drawn(purchase, 60)
    expect(rows.join('\n')).not.toMatch(/[━╸]/)
    expect(rows[1]).toMatch(/ 40 ms$/)
    expect(barsOf(drawn(purchase, 59)).request).toEqual([0, 4])
  })

  it('compares no wall time with a business clock that was moved', () => {
    const moved = purchase.map((one) =>
      ['request', 'attempt'].includes(one.kind)
        ? one
        : { ...one, at: new Date(Date.parse(one.at ?? '') + 86_400_000).toISOString() },
    )
    const rows = drawn(moved, 112)
    expect(Object.keys(barsOf(rows))).toEqual(['request', 'attempt'])
    expect(rows.find((row) => row.includes('payment'))).toMatch(/the payment$/)
    expect(rows.find((row) => row.includes('settlement'))).toMatch(/\+20 ms$/)
  })
})
