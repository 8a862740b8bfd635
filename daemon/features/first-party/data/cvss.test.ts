import fc from 'fast-check'
import { expect, it } from 'vitest'
import { cvssScore, severityOfScore } from './cvss.ts'

// Scores that are published with these vectors: the examples of the standards, and well-known vulnerabilities.
it.each([
  ['CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H', 9.8],
  ['CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:C/C:H/I:H/A:H', 10],
  ['CVSS:3.1/AV:N/AC:L/PR:N/UI:R/S:C/C:L/I:L/A:N', 6.1],
  ['CVSS:3.0/AV:N/AC:H/PR:N/UI:R/S:U/C:L/I:N/A:N', 3.1],
  ['CVSS:3.1/AV:N/AC:L/PR:L/UI:N/S:C/C:L/I:L/A:N', 6.4],
  ['CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:N/A:N', 7.5],
  ['CVSS:3.1/AV:L/AC:L/PR:L/UI:N/S:U/C:H/I:H/A:H', 7.8],
  ['CVSS:3.1/AV:P/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H', 6.8],
  ['CVSS:3.0/AV:N/AC:L/PR:H/UI:N/S:U/C:L/I:L/A:L', 4.7],
  ['CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:N', 0],
])('%s scores %d', (vector, score) => expect(cvssScore(vector)).toBe(score))

it.each([
  'CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N',
  'AV:N/AC:L/Au:N/C:P/I:P/A:P',
  'CVSS:3.1/AV:N',
  'CVSS:3.1/AV:X/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H',
  'CVSS:3.1/AV:constructor/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H',
  'CVSS:9/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H',
  '',
  '7.5',
])('%j has no score', (vector) => expect(cvssScore(vector)).toBeUndefined())

const of = (...values: string[]) => fc.constantFrom(...values)

it('every vector of version 3 scores in tenths from 0 to 10, and worse is never less', () => {
  const parts = {
    AV: of('N', 'A', 'L', 'P'),
    AC: of('L', 'H'),
    PR: of('N', 'L', 'H'),
    UI: of('N', 'R'),
    S: of('U', 'C'),
  }
  const harm = fc.record({ C: of('H', 'L', 'N'), I: of('H', 'L', 'N'), A: of('H', 'L', 'N') })
  fc.assert(
    fc.property(fc.record(parts), harm, (how, what) => {
      const vector = (metrics: object) =>
        `CVSS:3.1/${Object.entries(metrics)
          .map((pair) => pair.join(':'))
          .join('/')}`
      const score = cvssScore(vector({ ...how, ...what })) ?? Number.NaN
      expect([score >= 0, score <= 10, Math.abs(score * 10 - Math.round(score * 10)) < 1e-9]).toEqual([
        true,
        true,
        true,
      ])
      expect(cvssScore(vector({ ...how, ...what, C: 'H', AV: 'N' }))).toBeGreaterThanOrEqual(score)
    }),
  )
})

it('a score has the words of its standard', () => {
  expect([0, 0.1, 3.9, 4, 6.9, 7, 8.9, 9, 10].map(severityOfScore)).toEqual(
    'unknown low low moderate moderate high high critical critical'.split(' '),
  )
})
