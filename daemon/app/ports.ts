import type { Entropy } from '../../src/core/entropy.ts'
import type { Cron } from '../crons/cron.ts'
import type { ThreadsChange } from '../features/compute/compute.ts'
import type { firstParty } from '../features/jobs/first-party.ts'
import type { Compliance } from '../features/sanctions/sanctions.ts'
import type { ChainPort } from '../ports/chain/chain.ts'
import type { Clock } from '../ports/clock.ts'
import type { Ticker } from '../ports/ticker.ts'
import type { VerificationVendor } from '../ports/vendor.ts'
import type { Disk } from '../store/disk.ts'
import type { Store } from '../store/port.ts'
import type { EnginesChange, WebChange } from './outgoing.ts'

/** What tests and the command line may replace; the rest is real. */
export type Ports = {
  readonly clock?: Clock
  readonly entropy?: Entropy
  readonly disk?: Disk
  readonly chain?: (parts: { store: Store }) => Promise<ChainPort>
  readonly firstParty?: ReturnType<typeof firstParty.of>
  readonly isSanctioned?: Compliance['isSanctioned']
  readonly web?: WebChange
  /** Bounds of the threads for costly work. */
  readonly threads?: ThreadsChange
  /** What first-party services work with, other than what this machine has. */
  readonly engines?: EnginesChange
  readonly vendor?: VerificationVendor
  /** Stands before the store that was opened. */
  readonly store?: (opened: Store) => Store
  readonly crons?: readonly Cron[]
  /** What makes crons look at the clock. */
  readonly ticker?: Ticker
  readonly logTo?: NodeJS.WritableStream
  /** A failed write or sync: nothing more can be promised, the process has to end. */
  readonly onFatal?: (error: Error) => void
}
