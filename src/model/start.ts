import type { chainNetworks } from '../core/authorization.ts'
import type { Wallet } from '../core/hex.ts'
import type { Usdc } from '../core/money.ts'
import type { EngineConfig } from './engines/config.ts'
import type { ChainSetup, FacilitatorConfig } from './payment.ts'
import type { LogLevel, Payee } from './words.ts'

/** Steps of the daemon's start in order, with their texts. A step ends when the next begins; some may be skipped. */
export const startSteps = {
  launch: 'starting the process',
  program: 'loading the program',
  port: 'opening the port',
  history: 'seeding the demo',
  front: 'a front; leader',
  store: 'loading the store',
  chain: 'opening the chain',
  market: 'opening the market',
  seed: 'seeding services',
  recovery: 'recovering the last run',
  serve: 'starting to serve',
} as const

export type StartStep = keyof typeof startSteps

/** Reports a step; `detail` is progress, such as `40 %` or `day 31 of 98`. Throws when the start is cancelled. */
export type ReportStart = (step: StartStep, detail?: string) => void

/** A step as one line of text, with its progress. */
export function startWords({ step, detail }: { readonly step: string; readonly detail?: string | undefined }): string {
  const words: string = Object.entries(startSteps).find(([name]) => name === step)?.[1] ?? step
  return detail === undefined ? words : `${words}: ${detail}`
}

/** Start options of a daemon: everything that an operator chooses. */
export type Config = {
  readonly dataDir: string
  readonly host: string
  /** Port to listen on. For 0, the system chooses a free port. */
  readonly port: number
  /** Absolute base URL in responses (default: the bound address). */
  readonly publicUrl?: string
  /** Additional accepted `Host` values. A value without a port matches any port. */
  readonly hosts?: readonly string[]
  /** Addresses and CIDR blocks of trusted proxies, in addition to this machine. */
  readonly trustedProxies?: readonly string[]
  /** Certificate and key (PEM) for https, and the public host name. */
  readonly tls?: { readonly cert: string; readonly key: string; readonly name: string }
  /** Whether other machines may send payment headers over plain HTTP. */
  readonly plainPayments?: boolean
  /** Whether the faucet serves other machines, too. */
  readonly publicFaucet?: boolean
  /** Chain of the marketplace, fixed at the first start of a data folder. */
  readonly chain: keyof typeof chainNetworks
  /** How to reach a chain; absent in a sandbox. */
  readonly chainSetup?: ChainSetup
  /** Settings of the facilitator for other servers (default: off). */
  readonly facilitator?: FacilitatorConfig
  /** Address of an index that lists this marketplace (default: the marketplace's own). */
  readonly bazaar?: string
  /** `observed` starts with the platform paused and the checkout cutover on (decisions §12). */
  readonly profile: 'local' | 'observed'
  readonly checkoutV2?: boolean
  readonly crons: boolean
  /** Targets of alarms: `exec:COMMAND`, `webhook:URL` or `smtp://…`. */
  readonly notify?: readonly string[]
  /** Local time in which only alarms that stop sales are sent, such as `22:00-07:00`. */
  readonly quietHours?: string
  /** Balance of the pay-to wallet above which its money goes to the cold address, or an alarm is raised. */
  readonly hotCeiling?: Usdc
  readonly coldAddress?: Wallet
  readonly ethPrice?: Usdc
  /** Interval of the check for due work (default: 1 s). */
  readonly tickMs?: number
  /** Who shares the marketplace's revenue (default: the operator gets all; decisions §5). */
  readonly payees?: readonly Payee[]
  /** File or URL of the sanctions list (default: the synthetic sample). */
  readonly sdnSource?: string
  /** Whether this start accepts a sanctions list with less than half of the addresses of the current list. */
  readonly sdnAcceptShrink?: boolean
  /** Name of the seed to load into an empty store. */
  readonly seed?: string
  /** Name of the seed for a store that this start creates. Existing stores ignore it. */
  readonly seedOfNew?: string
  /** Whether `GET /metrics` needs no admin key on a loopback bind. */
  readonly metricsOpen?: boolean
  readonly durability: 'full' | 'os'
  /** Address of the PostgreSQL database with the rows and files (default: the data folder has them). */
  readonly store?: string
  /** Whether to wait while another daemon has the database, and to hand it all requests. */
  readonly spare?: boolean
  /** HOST:PORT at which other daemons of the database reach this one (default: where it listens). */
  readonly advertise?: string
  /** Where rows are kept (default: in memory while the store is small, then on disk). */
  readonly rows?: 'memory' | 'disk'
  /** Time limit for receiving a request (default: 60 s for a body without a file, 15 min with one). */
  readonly requestTimeoutMs?: number
  /** Addresses and keys of the APIs that first-party functions use. */
  readonly engines?: EngineConfig
  readonly logLevel: LogLevel
}

/** A marketplace whose clock starts in the past, for writing a history. */
export type PastMarket = {
  readonly url: string
  readonly adminKey: string
  /** Both the business time and the machine time of the marketplace, in epoch milliseconds. */
  readonly now: () => number
  /** Moves the clock and processes what falls due. Resolves when all webhook messages are sent. */
  readonly goTo: (at: number) => Promise<void>
  /** Temporary folder for uploads. */
  readonly files: string
}

export type History = {
  /** Data folder of a stopped daemon. */
  readonly dataDir: string
  /** Name stored with the marketplace. */
  readonly name: string
  readonly from: number
  readonly until: number
  readonly act: (market: PastMarket) => Promise<void>
}

/** The store was untouched and got the history (`written`), already had it (`there`), or was not new (`in_use`). */
export type HistoryOutcome = 'written' | 'there' | 'in_use'

export type RepairReport = {
  /** False if nothing was wrong. */
  readonly repaired: boolean
  /** Last transaction kept. */
  readonly seq: number
  /** Findings in plain words, with file and offset. */
  readonly findings: readonly string[]
  /** Files moved to `quarantine/`; nothing is deleted. */
  readonly quarantined: readonly string[]
  readonly droppedBytes: number
  /** Number of intact transactions after the damage. They are dropped, too. */
  readonly droppedTransactions: number
  /** Number of unreadable snapshot rows that exist nowhere else. */
  readonly droppedRows: number
}
