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

/** Replaceable parts of the daemon. The defaults are the real parts. */
export type Ports = {
  readonly clock?: Clock
  /** Business clock that the caller moves. It replaces the stored one. */
  readonly businessClock?: MovableClock
  readonly entropy?: Entropy
  readonly disk?: Disk
  readonly chain?: (parts: { store: Store }) => Promise<ChainPort>
  readonly firstParty?: FirstParties
  readonly isSanctioned?: Compliance['isSanctioned']
  readonly web?: WebChange
  readonly threads?: ThreadsChange
  readonly engines?: EnginesChange
  readonly vendor?: VerificationVendor
  readonly store?: (opened: Store) => Store
  readonly crons?: readonly Cron[]
  /** Drives the crons. */
  readonly ticker?: Ticker
  readonly logTo?: NodeJS.WritableStream
  /** Called with the start's progress; if it throws, the start fails. `prepare` runs once the daemon holds its port. */
  readonly onStep?: ReportStart
  readonly prepare?: (url: string) => Promise<void>
  /** Called after a failed write or sync. The process must then end. */
  readonly onFatal?: (error: Error) => void
}

/** Values that only the code which starts the daemon knows. */
export type Outside = {
  readonly ports: Ports
  readonly installation: Installation
  readonly storage: Storage
  readonly backup: LowdbStore['backup']
  readonly clock: MovableClock
}
