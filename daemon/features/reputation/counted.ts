import type { JobRow } from '../jobs/rows.ts'
import type { CountedJobRow, JobFacts, Sums } from './rows.ts'

/** A job with what it is worth, as it was counted before and as it is now. */
export type Counted = {
  readonly job: JobRow
  readonly facts: JobFacts
  readonly sums: Sums
  readonly known: CountedJobRow | undefined
  /** Business time. */
  readonly at: number
}
