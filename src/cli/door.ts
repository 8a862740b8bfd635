import type { Writable } from 'node:stream'
import type { chainNetworks } from '../core/authorization.ts'
import type { Wallet } from '../core/hex.ts'
import type { ChainSetup } from '../model/payment.ts'
import type { ReportStart } from '../model/start.ts'

/** How a daemon is started, as the command line says it; the daemon knows what is left out. */
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
  /** What its store began with: demo, house or none. */
  readonly seed: string
  readonly notes?: readonly string[]
  stop(): Promise<void>
}

type StartHooks = {
  readonly logTo: Writable
  readonly onFatal: (error: Error) => void
  /** Hears how far the start is; where it throws, the start ends. */
  readonly onStep: ReportStart
  /** Done when the port is taken, before the store is opened. */
  readonly prepare: (url: string) => Promise<void>
}

/** What a look at a store comes to. */
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

/** A marketplace whose time lies in the past and goes on only when told. */
export type PastMarket = {
  readonly url: string
  readonly adminKey: string
  /** Epoch milliseconds of its time, which is that of its machine too. */
  readonly now: () => number
  readonly goTo: (at: number) => Promise<void>
  /** A folder for files that are sent. */
  readonly files: string
}

/** What there was before: an untouched marketplace gets a history, any other stays as it is. */
export type HistoryOutcome = 'written' | 'there' | 'in_use'

type HistoryOf = {
  readonly dataDir: string
  readonly name: string
  readonly from: number
  readonly until: number
  readonly act: (past: PastMarket) => Promise<void>
}

/** What a whole state holds; equal hashes mean equal states. */
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

/**
 * All that the command line wants of the daemon's own code: `bin` hands it in, and whether it fits is checked there.
 * All but the first are for the data of a daemon that is down.
 */
export type DaemonDoor = {
  createDaemon(start: Start, hooks: StartHooks): Promise<RunningDaemon>
  repairData(dataDir: string): Promise<Repaired>
  /** Removes the files that no record names. @returns how many */
  tidyData(dataDir: string): Promise<number>
  /** @throws what is wrong with it */
  verifyData(dataDir: string): Promise<Looked>
  /** The store as one tar. */
  backupData(dataDir: string): AsyncIterable<string | Uint8Array>
  /** Puts a backup in the place of the store. */
  replaceData(dataDir: string, tarFile: string): Promise<Looked>
  /** The whole state as lines of JSON, or that of a backup. */
  exportData(dataDir: string, wanted: ExportWanted): Promise<WholeState & { readonly rows: number }>
  /** Makes the store out of a whole state. */
  importData(dataDir: string, wanted: ImportWanted): Promise<WholeState & { readonly records: number }>
  /** Has an untouched marketplace live through a history. */
  writeHistory(history: HistoryOf): Promise<HistoryOutcome>
  clearData(dataDir: string): Promise<void>
}
