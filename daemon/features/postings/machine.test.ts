import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { AppError } from '../../../src/core/error.ts'
import { usdc } from '../../../src/core/money.ts'
import { tiers } from '../../../src/model/participant.ts'
import { bidStatuses, postingStatuses } from '../../../src/model/posting.ts'
import { diagram, findTransition, type Machine, transition } from '../../kernel/machine.ts'
import { isWished, isWithinTier, UNVERIFIED_MAX_BUDGET } from './audience.ts'
import { bidMachine, bidRoles, bidStatusAt } from './bid-machine.ts'
import { postingMachine, postingRoles, postingStatusAt } from './machine.ts'

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

type AnyMachine = Machine<string, string, string, string>
type Table = {
  readonly name: string
  readonly machine: AnyMachine
  readonly roles: readonly string[]
  readonly rows: readonly (readonly [from: string, event: string, by: string, to: string])[]
}
const tables: readonly Table[] = [
  { name: 'posting', machine: postingMachine, roles: postingRoles, rows: ofPostings },
  { name: 'bid', machine: bidMachine, roles: bidRoles, rows: ofBids },
]

describe.each(tables)('$name', ({ machine, roles, rows }) => {
  const events = [...new Set(machine.transitions.map(({ event }) => event))]
  const attempts = machine.states.flatMap((from) => events.flatMap((event) => roles.map((by) => ({ from, event, by }))))

  test('every state, event and role is in the table, or a 409 with what is allowed', () => {
    for (const { from, event, by } of attempts) {
      const row = rows.find((one) => one[0] === from && one[1] === event && one[2] === by)
      expect([from, event, by, findTransition(machine, { from, event, by })?.to]).toEqual([from, event, by, row?.[3]])
      if (row) continue
      const refusal = refusalOf(() => transition(machine, { from, event, by }))
      const allowed = rows.filter((one) => one[0] === from && one[2] === by).map((one) => one[1])
      expect([refusal.code, refusal.status, refusal.extra.from]).toEqual(['invalid_transition', 409, from])
      expect([refusal.extra.allowed, refusal.extra.to]).toEqual([allowed, rows.find((one) => one[1] === event)?.[3]])
    }
  })

  test('every state is reached, and the diagram has one arrow for each state that a row starts from', () => {
    expect(new Set([machine.states[0], ...machine.transitions.map(({ to }) => to)])).toEqual(new Set(machine.states))
    const arrows = machine.transitions.reduce((sum, { from }) => sum + from.length, 0)
    expect(diagram(machine).split('\n')).toHaveLength(1 + arrows)
  })
})

function refusalOf(act: () => unknown): AppError {
  try {
    act()
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
  throw new Error('it was not refused')
}

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
