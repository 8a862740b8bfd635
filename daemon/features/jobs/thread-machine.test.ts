import { expect, test } from 'vitest'
import { AppError } from '../../../src/core/error.ts'
import { DAY_MS } from '../../../src/core/time.ts'
import { jobStatuses } from '../../../src/model/job.ts'
import { type Proposal, proposalStatuses } from '../../../src/model/thread.ts'
import { allowedEvents, diagram, findTransition, type Machine, transition } from '../../kernel/machine.ts'
import { proposalMachine, proposalStatusAt } from '../threads/proposal.ts'
import { jobMachine, jobRoles, threadMachine, threadStatusOf } from './machine.ts'

/** Decisions §9 written out: from, event, who, to. */
const threads = [
  ['inquiry', 'propose', 'provider', 'negotiating'],
  ['inquiry', 'decline', 'buyer', 'cancelled'],
  ['inquiry', 'decline', 'provider', 'cancelled'],
  ['negotiating', 'propose', 'provider', 'negotiating'],
  ['negotiating', 'accept', 'buyer', 'accepted'],
  ['negotiating', 'decline', 'buyer', 'cancelled'],
  ['negotiating', 'decline', 'provider', 'cancelled'],
  ['accepted', 'dispatch', 'system', 'accepted'],
  ['accepted', 'start', 'provider', 'in_progress'],
  ['accepted', 'deliver', 'provider', 'completed'],
  ['accepted', 'fail', 'provider', 'cancelled'],
  ['accepted', 'cancel', 'buyer', 'cancelled'],
  ['accepted', 'cancel', 'provider', 'cancelled'],
  ['accepted', 'dispute_undelivered', 'buyer', 'disputed'],
  ['accepted', 'expire', 'system', 'cancelled'],
  ['accepted', 'emergency_withdraw', 'admin', 'cancelled'],
  ['in_progress', 'start', 'provider', 'in_progress'],
  ['in_progress', 'deliver', 'provider', 'completed'],
  ['in_progress', 'fail', 'provider', 'cancelled'],
  ['in_progress', 'cancel', 'provider', 'cancelled'],
  ['in_progress', 'dispute_undelivered', 'buyer', 'disputed'],
  ['in_progress', 'expire', 'system', 'cancelled'],
  ['in_progress', 'emergency_withdraw', 'admin', 'cancelled'],
  ['completed', 'verify', 'buyer', 'verified'],
  ['completed', 'verify', 'system', 'verified'],
  ['completed', 'dispute', 'buyer', 'disputed'],
  ['completed', 'emergency_withdraw', 'admin', 'cancelled'],
  ['verified', 'release', 'buyer', 'verified'],
  ['verified', 'release', 'system', 'verified'],
  ['verified', 'emergency_withdraw', 'admin', 'cancelled'],
  ['disputed', 'rule_release', 'admin', 'verified'],
  ['disputed', 'rule_release', 'system', 'verified'],
  ['disputed', 'rule_refund', 'admin', 'cancelled'],
  ['disputed', 'rule_refund', 'system', 'cancelled'],
  ['disputed', 'rule_split', 'admin', 'verified'],
  ['disputed', 'rule_split', 'system', 'verified'],
  ['disputed', 'emergency_withdraw', 'admin', 'cancelled'],
] as const

const proposals = [
  ['open', 'accept', 'buyer', 'accepted'],
  ['open', 'decline', 'buyer', 'declined'],
  ['open', 'decline', 'provider', 'declined'],
  ['open', 'replace', 'provider', 'superseded'],
  ['open', 'expire', 'system', 'expired'],
] as const

type AnyMachine = Machine<string, string, string, string>
type Rows = readonly (readonly [from: string, event: string, by: string, to: string])[]
const tables: readonly (readonly [string, AnyMachine, Rows])[] = [
  ['thread', threadMachine, threads],
  ['proposal', proposalMachine, proposals],
]

test.each(tables)(
  '%s: every state, event and role is in the table or a 409 with what is allowed',
  (_, machine, rows) => {
    const events = [...new Set(machine.transitions.map(({ event }) => event))]
    const attempts = machine.states.flatMap((from) =>
      events.flatMap((event) => jobRoles.map((by) => ({ from, event, by }))),
    )
    expect(attempts.length).toBe(machine.states.length * events.length * jobRoles.length)
    for (const attempt of attempts) {
      const row = rows.find(
        ([from, event, by]) => from === attempt.from && event === attempt.event && by === attempt.by,
      )
      const found = findTransition(machine, attempt)
      expect([attempt, found?.to]).toEqual([attempt, row?.[3]])
      if (found) continue
      const refusal = refusalOf(() => transition(machine, attempt))
      const instead = rows
        .filter(([from, , by]) => from === attempt.from && by === attempt.by)
        .map(([, event]) => event)
      expect([refusal.code, refusal.status, refusal.extra.from]).toEqual(['invalid_transition', 409, attempt.from])
      expect(refusal.extra.allowed).toEqual(instead)
    }
  },
)

function refusalOf(act: () => unknown): AppError {
  try {
    act()
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
  throw new Error('it was not refused')
}

test.each(tables)('%s: one row at most fits an attempt, and every state is reached', (_, machine) => {
  for (const row of machine.transitions)
    for (const from of row.from)
      for (const by of row.by) {
        const fits = machine.transitions.filter(
          (one) => one.event === row.event && one.from.includes(from) && one.by.includes(by),
        )
        expect(fits).toEqual([row])
      }
  const [first = ''] = machine.states
  expect(new Set([first, ...machine.transitions.map(({ to }) => to)])).toEqual(new Set(machine.states))
  expect(diagram(machine).split('\n')).toHaveLength(
    1 + machine.transitions.reduce((sum, { from }) => sum + from.length, 0),
  )
})

test('a thread goes where its job goes, whatever happens to the job', () => {
  for (const from of jobStatuses)
    for (const { event, by } of jobMachine.transitions.flatMap((row) => row.by.map((role) => ({ ...row, by: role })))) {
      const job = findTransition(jobMachine, { event, from, by })
      if (!job) continue
      const thread = findTransition(threadMachine, { event, from: threadStatusOf[from], by })
      expect([from, event, thread?.to]).toEqual([from, event, threadStatusOf[job.to]])
    }
  expect(allowedEvents(threadMachine, { from: 'cancelled', by: 'buyer' })).toEqual([])
})

test('a proposal expires by the clock when it is open, and only then', () => {
  const proposal = { expires_at: 7 * DAY_MS } as Proposal
  for (const status of proposalStatuses) {
    expect(proposalStatusAt({ ...proposal, status }, 7 * DAY_MS - 1)).toBe(status)
    expect(proposalStatusAt({ ...proposal, status }, 7 * DAY_MS)).toBe(status === 'open' ? 'expired' : status)
  }
})
