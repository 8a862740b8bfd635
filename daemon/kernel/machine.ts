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
  throw new AppError(
    'invalid_transition',
    `The ${machine.noun} is ${attempt.from}: ${attempted(machine, attempt.event)} is not possible; ${instead}.`,
    { extra: { from: attempt.from, to: targetOf(machine, attempt.event), allowed, ...facts } },
  )
}

/** Actions that a role may perform in a state, in table order. */
export function allowedActs<S extends string, E extends string, R extends string, F extends string>(
  machine: Machine<S, E, R, F>,
  { from, by }: { readonly from: S; readonly by: R },
): string[] {
  const arrows = machine.transitions.filter((arrow) => arrow.from.includes(from) && arrow.by.includes(by))
  return [...new Set(arrows.flatMap(({ act, event }) => (act === undefined ? event : (act ?? []))))]
}

function attempted<S extends string, E extends string, R extends string, F extends string>(
  machine: Machine<S, E, R, F>,
  event: E,
): string {
  return machine.transitions.find((arrow) => arrow.event === event)?.act ?? event
}

function targetOf<S extends string, E extends string, R extends string, F extends string>(
  machine: Machine<S, E, R, F>,
  event: E,
): S | null {
  return machine.transitions.find((arrow) => arrow.event === event)?.to ?? null
}

/** The state machine as a Mermaid diagram. */
export function diagram<S extends string, E extends string, R extends string, F extends string>(
  machine: Machine<S, E, R, F>,
): string {
  const arrows = machine.transitions.flatMap(({ from, to, event, by }) =>
    from.map((state) => `  ${state} --> ${to}: ${event} (${by.join(', ')})`),
  )
  return ['stateDiagram-v2', ...arrows].join('\n')
}

export function nextMembers<E extends string>(next: { readonly event: E; readonly at: number } | null) {
  return { next_event: next?.event ?? null, next_event_at: next?.at ?? null }
}
