import type { Entropy } from '../src/core/hex.ts'
import type { ReportStart } from '../src/model/start.ts'
import type { Cron } from './crons/cron.ts'
import type { ThreadsChange } from './engines/compute.ts'
import type { EnginesChange } from './engines/engines.ts'
import type { FirstParties } from './engines/first-party.ts'
import type { Storage } from './features/backup/storage.ts'
import type { Compliance } from './features/sanctions/sanctions.ts'
import type { Installation } from './kernel/identity.ts'
import type { WebChange } from './kernel/web.ts'
import type { ChainPort } from './ports/chain/chain.ts'
import type { Clock, MovableClock, Ticker } from './ports/clock.ts'
import type { VerificationVendor } from './ports/vendor.ts'
import type { Disk } from './store/disk.ts'
import type { LowdbStore } from './store/lowdb/open.ts'
import type { Store } from './store/port.ts'

/** What tests and the command line may replace; the rest is real. */
export type Ports = {
  readonly clock?: Clock
  /** Business time as it is moved elsewhere, whatever the store remembers of it. */
  readonly businessClock?: MovableClock
  readonly entropy?: Entropy
  readonly disk?: Disk
  readonly chain?: (parts: { store: Store }) => Promise<ChainPort>
  readonly firstParty?: FirstParties
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
  /** Hears how far the start is, which ends where it throws; `prepare` is done between port and store. */
  readonly onStep?: ReportStart
  readonly prepare?: (url: string) => Promise<void>
  /** A failed write or sync: nothing more can be promised, the process has to end. */
  readonly onFatal?: (error: Error) => void
}

/** What only whoever starts the daemon knows. */
export type Outside = {
  readonly ports: Ports
  readonly installation: Installation
  readonly storage: Storage
  readonly backup: LowdbStore['backup']
  readonly clock: MovableClock
}
