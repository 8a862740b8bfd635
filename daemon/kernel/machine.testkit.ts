import { describe, expect, test } from 'vitest'
import { diagram } from '../../bin/states.ts'
import { AppError } from '../../src/core/error.ts'
import { findTransition, type Machine, transition } from './machine.ts'

/** A state table, and the same written out by hand, arrow by arrow. */
type Table = {
  readonly machine: Machine<string, string, string, string>
  readonly roles: readonly string[]
  readonly written: readonly (readonly [from: string, event: string, by: string, to: string, ...effects: string[]])[]
  /** What else happens is written out too. */
  readonly withEffects?: boolean
  /** States that something begins in; the first of the table unless told. */
  readonly starts?: readonly string[]
}

/** Holds a table against what was written of it: every state, every event, every role. */
export function describeMachine(table: Table): void {
  const { machine, roles, written, withEffects = false, starts = machine.states.slice(0, 1) } = table
  const events = [...new Set(machine.transitions.map(({ event }) => event))]
  const attempts = machine.states.flatMap((from) => events.flatMap((event) => roles.map((by) => ({ from, event, by }))))

  describe(`the table of a ${machine.noun}`, () => {
    test.each(attempts)('$from: $event by $by is as written, or a 409 that says what can be done', (attempt) => {
      const by = written.filter(([from, , role]) => from === attempt.from && role === attempt.by)
      const found = findTransition(machine, attempt)
      const arrow = by.find(([, event]) => event === attempt.event)
      expect(found && [found.to, ...(withEffects ? found.effects : [])]).toEqual(arrow?.slice(3))
      if (found) return
      const { code, status, extra } = refusalOf(() => transition(machine, attempt, { missing: '1.00' }))
      const to = machine.transitions.find(({ event }) => event === attempt.event)?.to
      expect([code, status, extra]).toMatchObject([
        'invalid_transition',
        409,
        { from: attempt.from, to, missing: '1.00' },
      ])
      const acts = new Set(by.flatMap(([, event]) => actsOf(machine, event)))
      expect(extra.allowed).toHaveLength(acts.size)
      expect(new Set(extra.allowed as string[])).toEqual(acts)
    })

    test('has one arrow at most for an attempt, reaches every state, and is drawn whole', () => {
      for (const attempt of attempts) {
        const fits = machine.transitions.filter(
          ({ event, from, by }) => event === attempt.event && from.includes(attempt.from) && by.includes(attempt.by),
        )
        expect([attempt, fits.length <= 1]).toEqual([attempt, true])
      }
      expect(new Set([...starts, ...machine.transitions.map(({ to }) => to)])).toEqual(new Set(machine.states))
      const arrows = machine.transitions.reduce((sum, { from }) => sum + from.length, 0)
      expect(diagram(machine).split('\n')).toHaveLength(1 + arrows)
    })
  })
}

/** What the interface calls an event; nothing for what it has no endpoint for. */
function actsOf({ transitions }: Table['machine'], event: string): string[] {
  const { act = event } = transitions.find((arrow) => arrow.event === event) ?? {}
  return act === null ? [] : [act]
}

function refusalOf(act: () => unknown): AppError {
  try {
    act()
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
  throw new Error('it was not refused')
}
