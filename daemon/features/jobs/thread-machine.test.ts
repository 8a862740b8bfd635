import { expect, test } from 'vitest'
import { DAY_MS } from '../../../src/core/time.ts'
import { jobStatuses } from '../../../src/model/job.ts'
import type { Proposal } from '../../../src/model/thread.ts'
import { proposalStatuses } from '../../../src/model/words.ts'
import { describeMachine } from '../../kernel/machine.testkit.ts'
import { allowedActs, findTransition } from '../../kernel/machine.ts'
import { proposalMachine, proposalStatusAt } from '../threads/messages.ts'
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
  ['accepted', 'claim_timeout', 'system', 'cancelled'],
  ['accepted', 'withdraw', 'admin', 'cancelled'],
  ['accepted', 'withdraw', 'system', 'cancelled'],
  ['in_progress', 'start', 'provider', 'in_progress'],
  ['in_progress', 'deliver', 'provider', 'completed'],
  ['in_progress', 'fail', 'provider', 'cancelled'],
  ['in_progress', 'cancel', 'provider', 'cancelled'],
  ['in_progress', 'dispute_undelivered', 'buyer', 'disputed'],
  ['in_progress', 'expire', 'system', 'cancelled'],
  ['in_progress', 'emergency_withdraw', 'admin', 'cancelled'],
  ['in_progress', 'claim_timeout', 'system', 'cancelled'],
  ['in_progress', 'withdraw', 'admin', 'cancelled'],
  ['in_progress', 'withdraw', 'system', 'cancelled'],
  ['completed', 'verify', 'buyer', 'verified'],
  ['completed', 'verify', 'system', 'verified'],
  ['completed', 'dispute', 'buyer', 'disputed'],
  ['completed', 'emergency_withdraw', 'admin', 'cancelled'],
  ['completed', 'withdraw', 'admin', 'cancelled'],
  ['completed', 'withdraw', 'system', 'cancelled'],
  ['verified', 'release', 'buyer', 'verified'],
  ['verified', 'release', 'system', 'verified'],
  ['verified', 'emergency_withdraw', 'admin', 'cancelled'],
  ['verified', 'withdraw', 'admin', 'cancelled'],
  ['verified', 'withdraw', 'system', 'cancelled'],
  ['disputed', 'rule_release', 'admin', 'verified'],
  ['disputed', 'rule_release', 'system', 'verified'],
  ['disputed', 'rule_refund', 'admin', 'cancelled'],
  ['disputed', 'rule_refund', 'system', 'cancelled'],
  ['disputed', 'rule_split', 'admin', 'verified'],
  ['disputed', 'rule_split', 'system', 'verified'],
  ['disputed', 'emergency_withdraw', 'admin', 'cancelled'],
  ['disputed', 'withdraw', 'admin', 'cancelled'],
  ['disputed', 'withdraw', 'system', 'cancelled'],
] as const

const proposals = [
  ['open', 'accept', 'buyer', 'accepted'],
  ['open', 'decline', 'buyer', 'declined'],
  ['open', 'decline', 'provider', 'declined'],
  ['open', 'replace', 'provider', 'superseded'],
  ['open', 'expire', 'system', 'expired'],
] as const

describeMachine({ machine: threadMachine, roles: jobRoles, written: threads })
describeMachine({ machine: proposalMachine, roles: jobRoles, written: proposals })

test('a thread goes where its job goes, whatever happens to the job', () => {
  for (const from of jobStatuses)
    for (const { event, by } of jobMachine.transitions.flatMap((row) => row.by.map((role) => ({ ...row, by: role })))) {
      const job = findTransition(jobMachine, { event, from, by })
      if (!job) continue
      const thread = findTransition(threadMachine, { event, from: threadStatusOf[from], by })
      expect([from, event, thread?.to]).toEqual([from, event, threadStatusOf[job.to]])
    }
  expect(allowedActs(threadMachine, { from: 'cancelled', by: 'buyer' })).toEqual([])
})

test('a proposal expires by the clock when it is open, and only then', () => {
  const proposal = { expires_at: 7 * DAY_MS } as Proposal
  for (const status of proposalStatuses) {
    expect(proposalStatusAt({ ...proposal, status }, 7 * DAY_MS - 1)).toBe(status)
    expect(proposalStatusAt({ ...proposal, status }, 7 * DAY_MS)).toBe(status === 'open' ? 'expired' : status)
  }
})
