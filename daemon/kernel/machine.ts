import { AppError } from '../../src/core/error.ts'

/** One arrow of a state diagram: who may make what happen, from where, and what comes of it. */
export type Transition<S extends string, E extends string, R extends string, F extends string> = {
  readonly event: E
  /** As the interface names what a caller does: its event unless said; null where no endpoint does it by itself. */
  readonly act?: string | null
  readonly from: readonly S[]
  readonly to: S
  readonly by: readonly R[]
  /** What else happens in the same transaction, by name. */
  readonly effects: readonly F[]
}

/** A state table as data: the 409 answers, the diagrams of the docs and the exhaustive tests all read it. */
export type Machine<S extends string, E extends string, R extends string, F extends string> = {
  /** What is said to be in a state: `job`, `thread`. */
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

/** The arrow that an attempt follows, or undefined when there is none. */
export function findTransition<S extends string, E extends string, R extends string, F extends string>(
  machine: Machine<S, E, R, F>,
  { event, from, by }: TransitionAttempt<S, E, R>,
): Transition<S, E, R, F> | undefined {
  return machine.transitions.find(
    (arrow) => arrow.event === event && arrow.from.includes(from) && arrow.by.includes(by),
  )
}

/**
 * @param facts - further members of the refusal.
 * @throws AppError 409 invalid_transition with `from`, `to` and what is `allowed` instead (decisions §2).
 */
export function transition<S extends string, E extends string, R extends string, F extends string>(
  machine: Machine<S, E, R, F>,
  attempt: TransitionAttempt<S, E, R>,
  facts: Readonly<Record<string, unknown>> = {},
): Transition<S, E, R, F> {
  const found = findTransition(machine, attempt)
  if (found) return found
  const allowed = allowedActs(machine, attempt)
  const instead = allowed.length === 0 ? 'nothing can be done with it by you now' : `${allowed.join(', ')} can`
  throw new AppError(
    'invalid_transition',
    `The ${machine.noun} is ${attempt.from}: ${attempted(machine, attempt.event)} cannot be done; ${instead}.`,
    { extra: { from: attempt.from, to: targetOf(machine, attempt.event), allowed, ...facts } },
  )
}

/** Acts of the interface by which a role may go on from a state, in table order. */
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

/** The table as a Mermaid state diagram, for the docs. */
export function diagram<S extends string, E extends string, R extends string, F extends string>(
  machine: Machine<S, E, R, F>,
): string {
  const arrows = machine.transitions.flatMap(({ from, to, event, by }) =>
    from.map((state) => `  ${state} --> ${to}: ${event} (${by.join(', ')})`),
  )
  return ['stateDiagram-v2', ...arrows].join('\n')
}

/** Members of a stored row that say what happens to it next by itself, and when. */
export function nextMembers<E extends string>(next: { readonly event: E; readonly at: number } | null) {
  return { next_event: next?.event ?? null, next_event_at: next?.at ?? null }
}
