import type { Writable } from 'node:stream'
import type { chainNetworks } from '../core/authorization.ts'
import type { Wallet } from '../core/hex.ts'
import type { ChainSetup } from '../model/payment.ts'
import type { ReportStart } from '../model/start.ts'

/** Start options of a daemon. The daemon's code supplies the defaults. */
export type Start = {
  readonly dataDir: string
  readonly host: string
  readonly port: number
  readonly chain: keyof typeof chainNetworks
  readonly chainSetup?: ChainSetup
  readonly profile: 'local' | 'observed'
  readonly crons: boolean
  readonly tickMs?: number
  readonly durability: 'full' | 'os'
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error'
  readonly publicUrl?: string
  readonly hosts?: readonly string[]
  readonly trustedProxies?: readonly string[]
  readonly tls?: { readonly cert: string; readonly key: string; readonly name: string }
  readonly plainPayments?: boolean
  readonly metricsOpen?: boolean
  readonly bazaar?: string
  readonly checkoutV2?: boolean
  readonly seed?: string
  readonly seedOfNew?: string
  readonly sdnSource?: string
  readonly sdnAcceptShrink?: boolean
  readonly payees?: readonly { readonly to: Wallet | 'operator'; readonly bps: bigint }[]
}

export type RunningDaemon = {
  readonly url: string
  readonly instanceId: string
  /** Initial data: demo, house or none. */
  readonly seed: string
  readonly notes?: readonly string[]
  stop(): Promise<void>
}

type StartHooks = {
  readonly logTo: Writable
  readonly onFatal: (error: Error) => void
  /** Called for each step of the start. If it throws, the start fails. */
  readonly onStep: ReportStart
  /** Runs after the port is taken and before the store is opened. */
  readonly prepare: (url: string) => Promise<void>
}

/** Result of verifying a store. */
type Looked = {
  readonly storeId: string
  readonly seq: number
  readonly records: number
  readonly blobs: number
  readonly damagedBlobs: readonly string[]
  readonly unnamedBlobs: readonly string[]
  readonly missingBlobs: readonly string[]
}

type Repaired = {
  readonly repaired: boolean
  readonly seq: number
  readonly findings: readonly string[]
  readonly quarantined: readonly string[]
  readonly droppedBytes: number
  readonly droppedTransactions: number
  readonly droppedRows: number
}

/** A marketplace whose clock starts in the past, for writing a history. */
export type PastMarket = {
  readonly url: string
  readonly adminKey: string
  /** Both the business time and the machine time of the marketplace, in epoch milliseconds. */
  readonly now: () => number
  readonly goTo: (at: number) => Promise<void>
  /** Temporary folder for uploads. */
  readonly files: string
}

/** `written`: the history was written. `there`: the store already had it. `in_use`: the store has other data. */
export type HistoryOutcome = 'written' | 'there' | 'in_use'

type HistoryOf = {
  readonly dataDir: string
  readonly name: string
  readonly from: number
  readonly until: number
  readonly act: (past: PastMarket) => Promise<void>
}

/** What an export contains. Exports with equal hashes come from equal states. */
type WholeState = { readonly files: number; readonly sha256: string }

type ExportWanted = {
  readonly tarFile?: string
  readonly lines: (text: string) => Promise<void>
}

type ImportWanted = {
  readonly chunks: AsyncIterable<Uint8Array>
  readonly keep: boolean
  readonly watch: (rows: number) => void
}

/** Functions of the daemon that the command line calls. All but `createDaemon` require that the daemon is stopped. */
export type DaemonDoor = {
  createDaemon(start: Start, hooks: StartHooks): Promise<RunningDaemon>
  repairData(dataDir: string): Promise<Repaired>
  /** Removes stored files that no record refers to. @returns their number */
  tidyData(dataDir: string): Promise<number>
  /** @throws the damage */
  verifyData(dataDir: string): Promise<Looked>
  /** A backup: the store as a tar archive. */
  backupData(dataDir: string): AsyncIterable<string | Uint8Array>
  /** Replaces the store with a backup. */
  replaceData(dataDir: string, tarFile: string): Promise<Looked>
  /** Exports the store or a backup. */
  exportData(dataDir: string, wanted: ExportWanted): Promise<WholeState & { readonly rows: number }>
  /** Creates the store from an export. */
  importData(dataDir: string, wanted: ImportWanted): Promise<WholeState & { readonly records: number }>
  /** Fills a marketplace that has no data with a history. */
  writeHistory(history: HistoryOf): Promise<HistoryOutcome>
  clearData(dataDir: string): Promise<void>
}
