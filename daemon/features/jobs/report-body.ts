import type { JobUpdate } from '../../../src/api/sections/job-actions.ts'
import type { Report } from './report.ts'

/** The members of an update under the names that providers use for them (decisions §8). */
export function reportOf(body: JobUpdate): Report {
  const { status, deliverables, deliverable, result, notes, message, progress } = body
  return {
    status,
    // null is something, too
    deliverable: [deliverables, deliverable, result].find((given) => given !== undefined),
    notes: notes ?? message,
    progress,
  }
}
