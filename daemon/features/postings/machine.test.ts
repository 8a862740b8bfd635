import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { usdc } from '../../../src/core/money.ts'
import { bidStatuses, postingStatuses, tiers } from '../../../src/model/words.ts'
import { describeMachine } from '../../kernel/machine.testkit.ts'
import { isWished, isWithinTier, UNVERIFIED_MAX_BUDGET } from './bid.ts'
import { bidMachine, bidRoles, bidStatusAt, postingMachine, postingRoles, postingStatusAt } from './machine.ts'

/** Decisions §9 written out: from, event, who, to. */
const ofPostings = [
  ['open', 'bid', 'provider', 'open'],
  ['open', 'award', 'poster', 'awarded'],
  ['open', 'cancel', 'poster', 'cancelled'],
  ['open', 'expire', 'system', 'expired'],
  ['awarded', 'complete', 'system', 'completed'],
  ['awarded', 'refund', 'system', 'cancelled'],
] as const

const ofBids = [
  ['submitted', 'withdraw', 'bidder', 'withdrawn'],
  ['submitted', 'accept', 'poster', 'accepted'],
  ['submitted', 'reject', 'poster', 'rejected'],
  ['submitted', 'reject', 'system', 'rejected'],
] as const

describeMachine({ machine: postingMachine, roles: postingRoles, written: ofPostings })
describeMachine({ machine: bidMachine, roles: bidRoles, written: ofBids })

test.each(postingStatuses)('time ends what is open, and the bids on it, and nothing else: %s', (status) => {
  const posting = { status, expires_at: 1_000 }
  expect(postingStatusAt(posting, 999)).toBe(status)
  expect(postingStatusAt(posting, 1_000)).toBe(status === 'open' ? 'expired' : status)
  const isOver = status === 'expired' || status === 'open'
  const at = (now: number) => bidStatuses.map((bid) => bidStatusAt({ status: bid }, { posting, now }))
  const rejected = bidStatuses.map((bid) => (bid === 'submitted' ? 'rejected' : bid))
  expect(at(1_000)).toEqual(isOver ? rejected : bidStatuses)
  expect(at(999)).toEqual(status === 'expired' ? rejected : bidStatuses)
})

describe('who deals with which budget', () => {
  test('unverified providers up to $25, others with any', () => {
    for (const tier of tiers) {
      expect(isWithinTier(tier, UNVERIFIED_MAX_BUDGET)).toBe(true)
      expect(isWithinTier(tier, usdc(UNVERIFIED_MAX_BUDGET + 1n))).toBe(tier !== 'unverified')
    }
    expect(UNVERIFIED_MAX_BUDGET).toBe(25_000_000n)
  })

  test('a wish is met by exactly what lies within its bounds, in its categories, while it is on', () => {
    const amount = fc.bigInt(0n, 20n).map(usdc)
    const wish = fc.record({
      enabled: fc.boolean(),
      min_budget: fc.option(amount),
      max_budget: fc.option(amount),
      categories: fc.subarray(['a', 'b']),
    })
    const posting = fc.record({ budget_max: amount, category: fc.constantFrom('a', 'b', 'c') })
    fc.assert(
      fc.property(wish, posting, (wished, { budget_max, category }) => {
        const reasons = [
          !wished.enabled,
          wished.min_budget !== null && budget_max < wished.min_budget,
          wished.max_budget !== null && budget_max > wished.max_budget,
          wished.categories.length > 0 && !wished.categories.some((one) => one === category),
        ]
        expect(isWished(wished, { budget_max, category })).toBe(!reasons.some(Boolean))
      }),
    )
  })
})
