import type { JobRow } from '../../../src/model/job.ts'
import type { CountedJobRow, JobFacts, Sums } from '../../../src/model/reputation.ts'

/** A job with what it is worth, as it was counted before and as it is now. */
export type Counted = {
  readonly job: JobRow
  readonly facts: JobFacts
  readonly sums: Sums
  readonly known: CountedJobRow | undefined
  /** Business time. */
  readonly at: number
}
