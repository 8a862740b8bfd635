import type { Writable } from 'node:stream'
import type { Config, History, HistoryOutcome, RepairReport, ReportStart } from '../model/start.ts'

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
  /** Runs once this process holds the port, and before it opens the store. */
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

/** What an export contains. Exports with equal hashes come from equal states. */
type WholeState = { readonly files: number; readonly sha256: string }

type ExportWanted = { readonly tarFile?: string; readonly lines: (text: string) => Promise<void> }

type ImportWanted = {
  readonly chunks: AsyncIterable<Uint8Array>
  readonly keep: boolean
  readonly watch: (rows: number) => void
}

type CopyWanted = {
  readonly to: 'files' | 'database'
  /** Address of the database. */
  readonly store: string
  readonly watch: (rows: number) => void
}

type CopiedStore = WholeState & { readonly rows: number; readonly database: string; readonly kept?: string }

/** The chain of a store, and the addresses of its keys, which no backup holds. */
export type ChainKeys = { readonly mode: string; readonly gas_key: string; readonly pay_to: string }

/** Functions of the daemon that the command line calls. All but `createDaemon` require that the daemon is stopped. */
export type DaemonDoor = {
  createDaemon(start: Config, hooks: StartHooks): Promise<RunningDaemon>
  repairData(dataDir: string): Promise<RepairReport>
  /** Removes stored files that no record refers to. @returns their number */
  tidyData(dataDir: string): Promise<number>
  /** @throws the damage */
  verifyData(dataDir: string): Promise<Looked>
  /** A backup: the store as a tar archive. */
  backupData(dataDir: string): AsyncIterable<string | Uint8Array>
  replaceData(dataDir: string, tarFile: string): Promise<Looked & { readonly home: ChainKeys | undefined }>
  exportData(dataDir: string, wanted: ExportWanted): Promise<WholeState & { readonly rows: number }>
  /** Creates the store from an export. */
  importData(dataDir: string, wanted: ImportWanted): Promise<WholeState & { readonly records: number }>
  /** Moves the store between files and a database. */
  moveStore(dataDir: string, wanted: CopyWanted): Promise<CopiedStore>
  /** Writes a history into a marketplace without data. */
  writeHistory(history: History): Promise<HistoryOutcome>
  clearData(dataDir: string): Promise<void>
}
