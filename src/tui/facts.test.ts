import { describe, expect, it } from 'vitest'
import { missingOf, says } from './facts.testkit.ts'

describe('a list on a screen', () => {
  const screen = [
    '─ Jobs ───────┬─ job ─',
    '  STATE   SERVICE      AMOUNT  AGE│ more',
    '▌ ✓ paid  Proofreading  $0.50   2m│ $9',
    '  ● sent  A long na…    $1.00  -1h│',
    ' a note below it          │',
  ]
  const paid = { STATE: '✓ paid', SERVICE: 'Proofreading', AMOUNT: '$0.50', AGE: ['1m', '2m'] }
  const sent = { STATE: '● sent', SERVICE: 'A long name', AMOUNT: '$1.00', AGE: '-1h', JOB: 'job_1' }
  const lacks = (rows: Parameters<typeof missingOf>[1]['rows'], isOrdered = true) =>
    missingOf(screen, { rows, isOrdered }).length

  it('says what its rows do, in their order, cut where they are cut, whatever stands beside it', () => {
    expect(lacks([paid, sent])).toBe(0)
    expect(lacks([sent, paid], false)).toBe(0)
  })

  it.each([
    ['another order', [sent, paid]],
    ['another amount', [{ ...paid, AMOUNT: '$9' }, sent]],
    ['another state', [paid, { ...sent, STATE: '✓ paid' }]],
    ['another name, cut alike', [paid, { ...sent, SERVICE: 'A longer name' }]],
    ['another age', [{ ...paid, AGE: ['3m', '4m'] }, sent]],
    ['a row that nobody answered with', [paid]],
  ])('does not say %s', (_, rows) => {
    expect(lacks(rows)).toBeGreaterThan(0)
  })

  it('is missed where it is not there at all, or has no rows', () => {
    expect(missingOf(['─ Jobs ─', ' nothing'], { rows: [paid], isOrdered: true })).toEqual(['a list with its titles'])
    expect(missingOf(screen.slice(0, 2), { rows: [paid], isOrdered: true })).toEqual(['a row'])
    expect(says('  12m ago', '2m')).toBe(false)
  })
})
