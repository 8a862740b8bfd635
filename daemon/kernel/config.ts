import type { EngineConfig } from '../../src/model/engines/config.ts'
import type { ChainSetup, FacilitatorConfig } from '../../src/model/payment.ts'
import type { LogLevel, Payee } from '../../src/model/words.ts'
import type { ChainMode } from '../ports/chain/chain.ts'

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
  readonly chain: ChainMode
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
  /** Where rows are stored (default: memory). A store that was ever opened with `level` keeps its rows there. */
  readonly rows?: 'memory' | 'level'
  /** Time limit for receiving a request (default: 60 s for a body without a file, 15 min with one). */
  readonly requestTimeoutMs?: number
  /** Addresses and keys of the APIs that first-party functions use. */
  readonly engines?: EngineConfig
  readonly logLevel: LogLevel
}

type Bound = Pick<Config, 'host' | 'tls'>
/** For each wildcard bind, the loopback address by which this machine reaches it. */
const LOOPBACK_OF: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

/** Local address of a daemon, independent of its public URL. */
export function boundUrl({ host, tls }: Bound, port: number): string {
  if (!tls) return `http://${inUrl(host)}:${port}`
  return `https://${inUrl(LOOPBACK_OF[host] ?? host)}:${port}`
}

export function ownUrl(config: Bound & Pick<Config, 'publicUrl'>, port: number): string {
  if (config.publicUrl !== undefined) return config.publicUrl.replace(/\/$/, '')
  return config.tls ? `https://${inUrl(config.tls.name)}:${port}` : boundUrl(config, port)
}

function inUrl(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}
