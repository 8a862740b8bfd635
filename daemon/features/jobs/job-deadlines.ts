import { at as element } from '../../../src/core/record.ts'
import { DAY_MS, HOUR_MS } from '../../../src/core/time.ts'
import type { JobDueEvent } from '../../../src/model/job.ts'
import type { JobRow } from './rows.ts'

/** How long a buyer may review a delivery by a human; a machine's delivery is verified immediately. */
export const HUMAN_REVIEW_MS = 48 * HOUR_MS
/** When an undecided dispute is first reported, and the interval of the reminders. */
export const UNDECIDED_MS = 3 * DAY_MS
/** An undecided dispute about a missed deadline is refunded after this time. */
export const UNDELIVERED_REFUND_MS = 3 * DAY_MS
/** Minimum extension of a deadline that passed during downtime or a pause. */
export const SHORTEST_EXTENSION_MS = HOUR_MS

export type NextJobEvent = { readonly event: JobDueEvent; readonly at: number }
type Facts = Pick<JobRow, 'status' | 'service_type' | 'deadline_at'> & Partial<Pick<JobRow, 'dispute'>>

/** The next automatic event of a job whose status began at `at`; null if there is none (decisions §8). */
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

/** Business time in which no deadlines were watched, because the daemon was down or paid activity paused. */
export type Missed = { readonly from: number; readonly to: number }

/**
 * New deadline of a job whose deadline passed during downtime or a pause: later by the length of that span, and at
 * least an hour after its end. Undefined if the deadline did not pass in such a span.
 */
export function extendedDeadline(
  { deadline_at: deadline, created_at }: Pick<JobRow, 'deadline_at' | 'created_at'>,
  missed: readonly Missed[],
): number | undefined {
  if (deadline === null) return undefined
  const span = missed.find(({ from, to }) => deadline > from && deadline <= to)
  // The span may have begun before the job was created.
  return span && Math.max(deadline + span.to - Math.max(span.from, created_at), span.to + SHORTEST_EXTENSION_MS)
}

/** When a human's delivery is accepted automatically: after the review time, not counting downtime and pauses. */
export function reviewEnd(completedAt: number, missed: readonly Missed[]): number {
  let end = completedAt + HUMAN_REVIEW_MS
  for (const { from, to } of missed.toSorted((one, other) => one.from - other.from)) {
    const begin = Math.max(from, completedAt)
    if (begin < end && to > begin) end += to - begin
  }
  return end
}

/** Adds a time span in which deadlines were not watched. Beyond `limit`, merges the two spans with the smallest gap. */
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
