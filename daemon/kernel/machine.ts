import { AppError } from '../../src/core/error.ts'

/** One transition of a state machine: who may do what, from which state, with which result. */
export type Transition<S extends string, E extends string, R extends string, F extends string> = {
  readonly event: E
  /** Name of the action in the API (default: its event); null if no endpoint performs it. */
  readonly act?: string | null
  readonly from: readonly S[]
  readonly to: S
  readonly by: readonly R[]
  /** Further effects in the same transaction, by name. */
  readonly effects: readonly F[]
}

/** A state machine as data, for 409 responses, diagrams and exhaustive tests. */
export type Machine<S extends string, E extends string, R extends string, F extends string> = {
  /** Name of the object: `job`, `thread`. */
  readonly noun: string
  readonly states: readonly S[]
  readonly transitions: readonly Transition<S, E, R, F>[]
}

export function defineMachine<
  const S extends string,
  const E extends string,
  const R extends string,
  const F extends string,
>(machine: Machine<S, E, R, F>): Machine<S, E, R, F> {
  return machine
}

export type TransitionAttempt<S extends string, E extends string, R extends string> = {
  readonly event: E
  readonly from: S
  readonly by: R
}

export type AnyMachine = Machine<string, string, string, string>
type AnyAttempt = TransitionAttempt<string, string, string>

/** The transition for an event, state and role; undefined if there is none. */
export function findTransition<S extends string, E extends string, R extends string, F extends string>(
  machine: Machine<S, E, R, F>,
  { event, from, by }: TransitionAttempt<S, E, R>,
): Transition<S, E, R, F> | undefined {
  return machine.transitions.find(
    (arrow) => arrow.event === event && arrow.from.includes(from) && arrow.by.includes(by),
  )
}

/**
 * The transition for an event, state and role.
 * @param facts - additional members of the error.
 * @throws AppError 409 invalid_transition with `from`, `to` and the `allowed` actions (decisions §2).
 */
export function transition<S extends string, E extends string, R extends string, F extends string>(
  machine: Machine<S, E, R, F>,
  attempt: TransitionAttempt<S, E, R>,
  facts: Readonly<Record<string, unknown>> = {},
): Transition<S, E, R, F> {
  const found = findTransition(machine, attempt)
  if (found) return found
  const allowed = allowedActs(machine, attempt)
  const instead = allowed.length === 0 ? 'you have no action now' : `${allowed.join(', ')} can`
  const wanted = machine.transitions.find(({ event }) => event === attempt.event)
  throw new AppError(
    'invalid_transition',
    `The ${machine.noun} is ${attempt.from}: ${wanted?.act ?? attempt.event} is not possible; ${instead}.`,
    { extra: { from: attempt.from, to: wanted?.to ?? null, allowed, ...facts } },
  )
}

/** Actions that a role may perform in a state, in table order. */
export function allowedActs({ transitions }: AnyMachine, { from, by }: Omit<AnyAttempt, 'event'>): string[] {
  const arrows = transitions.filter((arrow) => arrow.from.includes(from) && arrow.by.includes(by))
  return [...new Set(arrows.flatMap(({ act, event }) => (act === undefined ? event : (act ?? []))))]
}

export function nextMembers<E extends string>(next: { readonly event: E; readonly at: number } | null) {
  return { next_event: next?.event ?? null, next_event_at: next?.at ?? null }
}
