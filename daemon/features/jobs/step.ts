import type { Usdc } from '../../../src/core/money.ts'
import type { JobEvent, JobRole } from './machine.ts'
import type { JobRow } from './rows.ts'

/** What the deed itself changes of a job, besides what follows from the new state. */
export type JobChange = Partial<
  Pick<JobRow, 'deliverables' | 'deliverables_apart' | 'notes' | 'verification' | 'dispute'>
>

export type JobStep = {
  readonly event: JobEvent
  readonly by: JobRole
  /** Business time. */
  readonly at: number
  /** What is said about it, for the timeline and the conversation. */
  readonly detail?: string
  readonly change?: JobChange
  /** The buyer's part of a split. */
  readonly toBuyer?: Usdc
}
