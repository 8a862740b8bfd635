import { describe, expect, it } from 'vitest'
import { applicantOf, eligibilityOf, typesIn } from './fit.ts'
import type { Notice } from './notice.ts'

const notice = (...ids: string[]): Notice => ({
  id: '1',
  number: 'N-1',
  title: 'Ponds',
  agency: 'Department of Ponds',
  status: 'posted',
  opens_at: null,
  closes_at: null,
  is_estimate: false,
  award_floor: null,
  award_ceiling: null,
  cost_sharing: null,
  applicant_types: ids.map((id) => ({ id, description: id })),
  eligibility_text: '',
  description: '',
  categories: [],
  attachments: [],
  url: '',
  told: { closes_at: null, award_floor: null, award_ceiling: null, cost_sharing: null },
})

describe('who applies', () => {
  it.each([
    ['A nonprofit that restores ponds in the city of Cleveland', ['12', '13']],
    ['We are a 501(c)(3) nonprofit in Ohio helping cities and small businesses', ['12', '13']],
    ['The Oneida Nation, a federally recognized tribe, restores wetlands', ['07', '11']],
    ['A not-for-profit group', ['12', '13']],
    ['A private nonprofit university', ['06', '20']],
    ['A for-profit company that sells pumps to counties', ['22', '23']],
    ['A small business', ['23']],
    ['Restoring ponds for cities', []],
  ])('is read from the beginning of a profile, and not from the people it serves: %s', (profile, types) => {
    expect(applicantOf({ profile }, 14).types).toEqual(types)
  })

  it('is every kind that the field for it names', () => {
    const input = { profile: 'A nonprofit', eligibility: 'university in a consortium with a county' }
    expect(applicantOf(input, 14).types).toEqual(['01', '06', '20'])
    expect(typesIn('Not-for-profit organizations')).toEqual(['12', '13'])
  })

  it.each([
    ['A small business', ['23'], 'match'],
    ['A company', ['23'], 'unknown'],
    ['A company', ['22', '23'], 'match'],
    ['A nonprofit helping cities', ['02'], 'mismatch'],
    ['A nonprofit helping cities', ['25'], 'unknown'],
    ['A nonprofit helping cities', ['99'], 'match'],
  ])('of %s and the types %j comes to %s', (profile, ids, verdict) => {
    expect(eligibilityOf(notice(...ids), applicantOf({ profile }, 14))).toBe(verdict)
  })
})
