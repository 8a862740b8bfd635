import { at as element } from '../../../src/core/record.ts'
import { DAY_MS, HOUR_MS } from '../../../src/core/time.ts'
import type { JobDueEvent } from '../../../src/model/job.ts'
import type { JobRow } from './rows.ts'

/** What a person made waits this long for its buyer to look at it; what a machine made is verified at once. */
export const HUMAN_REVIEW_MS = 48 * HOUR_MS
/** A dispute that nobody has decided for this long needs a hand; the operator is reminded as often. */
export const UNDECIDED_MS = 3 * DAY_MS
/** What was promised at the deadline is not lost by a dispute: undecided for this long it is given back. */
export const UNDELIVERED_REFUND_MS = 3 * DAY_MS
/** What a deadline that passed unwatched is extended by at least. */
export const SHORTEST_EXTENSION_MS = HOUR_MS

export type NextJobEvent = { readonly event: JobDueEvent; readonly at: number }
type Facts = Pick<JobRow, 'status' | 'service_type' | 'deadline_at'> & Partial<Pick<JobRow, 'dispute'>>

/** What happens to a job by itself after it came into its state at `at`; null when nothing does (decisions §8). */
export function nextOf(
  { status, service_type: kind, deadline_at: deadline, dispute }: Facts,
  at: number,
): NextJobEvent | null {
  switch (status) {
    case 'created':
    case 'dispatched':
    case 'in_progress':
      return deadline === null ? null : { event: 'expire', at: deadline }
    case 'completed':
      return { event: 'verify', at: kind === 'human_service' ? at + HUMAN_REVIEW_MS : at }
    case 'verified':
      return { event: 'release', at }
    case 'disputed':
      return dispute?.by_default
        ? { event: 'resolve', at: dispute.by_default.at }
        : { event: 'remind', at: at + UNDECIDED_MS }
    case 'released':
    case 'failed':
    case 'cancelled':
    case 'expired':
    case 'refunded':
      return null
  }
}

/** Time in which nobody watched the deadlines: the daemon was down, or the marketplace paused. Both ends are business time. */
export type Missed = { readonly from: number; readonly to: number }

/**
 * Where the deadline of a job moves that passed unwatched: later by the time that was missed, and at
 * least an hour from when it was over. Undefined when it was not missed.
 */
export function extendedDeadline(
  { deadline_at: deadline, created_at }: Pick<JobRow, 'deadline_at' | 'created_at'>,
  missed: readonly Missed[],
): number | undefined {
  if (deadline === null) return undefined
  const span = missed.find(({ from, to }) => deadline > from && deadline <= to)
  // Nothing is watched while there is no job: a span may begin long before this one was bought.
  return span && Math.max(deadline + span.to - Math.max(span.from, created_at), span.to + SHORTEST_EXTENSION_MS)
}

/**
 * When a delivery of a human is taken as good by itself: its buyer has the whole window for it in time in which the
 * marketplace could be used.
 */
export function reviewEnd(completedAt: number, missed: readonly Missed[]): number {
  let end = completedAt + HUMAN_REVIEW_MS
  for (const { from, to } of missed.toSorted((one, other) => one.from - other.from)) {
    const begin = Math.max(from, completedAt)
    if (begin < end && to > begin) end += to - begin
  }
  return end
}

/** With one more span, at most `limit` of them: the two that lie nearest to each other become one, so that nothing missed is forgotten. */
export function withMissed(known: readonly Missed[], span: Missed, limit: number): readonly Missed[] {
  const spans = [...known, span].toSorted((one, other) => one.from - other.from)
  while (spans.length > limit) {
    const gaps = spans.slice(1).map(({ from }, at) => from - element(spans, at).to)
    const at = gaps.indexOf(Math.min(...gaps))
    const [one, other] = [element(spans, at), element(spans, at + 1)]
    spans.splice(at, 2, { from: one.from, to: Math.max(one.to, other.to) })
  }
  return spans
}
