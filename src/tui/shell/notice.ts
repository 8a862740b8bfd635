import type { Problem } from '../../client/link.ts'
import { span, wrap } from '../../text/text.ts'
import { clockTime } from '../../text/time.ts'
import { accent, bad, dim, type Line, strong } from '../parts/line.ts'
import type { Query } from './query.ts'

/** Draws a problem: what is wrong, facts, and commands that help. */
export function problemLines(problem: Problem, width: number): Line[] {
  return [
    ...wrap(problem.sentence, width - 4).map((text, i): Line => [i === 0 ? bad(' ✗ ') : '   ', strong(text)]),
    ...problem.facts.flatMap((fact) => wrap(fact, width - 4)).map((text): Line => ['   ', dim(text)]),
    ...problem.next.map((command): Line => ['   → ', accent(command)]),
  ]
}

/** Placeholder while loading. */
export function waitingLines(query: Query<unknown>, width: number): Line[] {
  return query.problem === undefined ? [[dim(' asking…')]] : problemLines(query.problem, width)
}

/** Since when a value is stale, in words. Undefined while it is current. */
export function staleness(query: Query<unknown>, now: number): string | undefined {
  if (query.problem === undefined || query.at === undefined) return undefined
  return `as of ${clockTime(query.at)}, ${span(now - query.at)} old`
}

export const START_COMMAND = 'souk restart'

/** The command that `U` runs: `souk restart` if the advice is `souk up`, otherwise the advice. */
export function startWords(advice: string): string {
  return advice === 'souk up' ? START_COMMAND : advice
}
