import { expect, test } from 'vitest'
import { diagram } from '../../bin/states.ts'
import { AppError } from '../../src/core/error.ts'
import { jobMachine, jobRoles } from '../features/jobs/machine.ts'
import { allowedActs, findTransition, transition } from './machine.ts'

const events = [...new Set(jobMachine.transitions.map((row) => row.event))]
const attempts = jobMachine.states.flatMap((from) =>
  events.flatMap((event) => jobRoles.map((by) => ({ from, event, by }))),
)

test('every attempt is in the table, or a 409 that says where it stands and what can be done', () => {
  for (const attempt of attempts) {
    const found = findTransition(jobMachine, attempt)
    if (found) {
      expect(transition(jobMachine, attempt)).toBe(found)
      continue
    }
    const refusal = (() => {
      try {
        return transition(jobMachine, attempt)
      } catch (error) {
        return error
      }
    })() as AppError
    expect(refusal).toBeInstanceOf(AppError)
    expect([refusal.code, refusal.extra.from]).toEqual(['invalid_transition', attempt.from])
    expect(refusal.extra.allowed).toEqual(allowedActs(jobMachine, attempt))
    expect(refusal.extra.allowed).not.toContain(attempt.event)
  }
})

test('at most one row fits an attempt, so that what happens is never in doubt', () => {
  for (const { from, event, by } of attempts) {
    const fitting = jobMachine.transitions.filter(
      (row) => row.event === event && row.from.some((state) => state === from) && row.by.some((role) => role === by),
    )
    expect(fitting.length).toBeLessThanOrEqual(1)
  }
})

test('every state is reached, and money always has a way out of states that hold it', () => {
  const reachable = new Set(['created', ...jobMachine.transitions.map((row) => row.to)])
  expect([...reachable].sort()).toEqual([...jobMachine.states].sort())
  const ends = new Set<string>()
  for (const state of jobMachine.states)
    if (!jobMachine.transitions.some((row) => row.from.some((from) => from === state))) ends.add(state)
  expect([...ends].sort()).toEqual(['cancelled', 'expired', 'failed', 'refunded', 'released'])
})

test('the diagram has one arrow for each state a row starts from', () => {
  const arrows = jobMachine.transitions.reduce((sum, row) => sum + row.from.length, 0)
  expect(diagram(jobMachine).split('\n')).toHaveLength(1 + arrows)
})
