import { DAY_MS, HOUR_MS } from '../../src/core/time.ts'
import type { JobDueEvent, JobRow } from '../../src/model/job.ts'

/** What a person made waits this long for its buyer to look at it; what a machine made is verified at once. */
export const HUMAN_REVIEW_MS = 48 * HOUR_MS
/** A dispute that nobody rules on is resolved after this long. */
export const RULING_MS = 14 * DAY_MS
/** After an automatic verification a dispute is still recorded for this long; it moves no money. */
export const LATE_DISPUTE_MS = 7 * DAY_MS
/** What a deadline that passed unwatched is extended by at least. */
export const SHORTEST_EXTENSION_MS = HOUR_MS

export type Next = { readonly event: JobDueEvent; readonly at: number }
type Facts = Pick<JobRow, 'status' | 'service_type' | 'deadline_at'>

/** What happens to a job by itself after it came into its state at `at`; null when nothing does (decisions §8). */
export function nextOf({ status, service_type: kind, deadline_at: deadline }: Facts, at: number): Next | null {
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
      return { event: 'resolve', at: at + RULING_MS }
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
