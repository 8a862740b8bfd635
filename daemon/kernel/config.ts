import type { EngineConfig } from '../../src/model/engines/config.ts'
import type { ChainSetup, FacilitatorConfig } from '../../src/model/payment.ts'
import type { LogLevel, Payee } from '../../src/model/words.ts'
import type { ChainMode } from '../ports/chain/chain.ts'

/** How a daemon is started; everything that an operator chooses. */
export type Config = {
  readonly dataDir: string
  readonly host: string
  /** 0 lets the system choose. */
  readonly port: number
  /** Absolute base of the URLs in answers; the bound address unless set. */
  readonly publicUrl?: string
  /** Further `Host` values that are answered, besides bound address and public URL; one without a port, at any port. */
  readonly hosts?: readonly string[]
  /** Addresses and blocks (CIDR) of proxies whose forwarding headers are believed, besides this machine. */
  readonly trustedProxies?: readonly string[]
  /** Certificate and key (PEM) of a daemon that speaks https itself, and the name that others reach it by. */
  readonly tls?: { readonly cert: string; readonly key: string; readonly name: string }
  /** Takes payment headers over plain HTTP from other machines. */
  readonly plainPayments?: boolean
  /** Gives test money to whoever asks, though others than this machine can reach the marketplace. */
  readonly publicFaucet?: boolean
  /** Fixed at the first start of a data folder. */
  readonly chain: ChainMode
  /** How a chain is reached; nothing in a sandbox. */
  readonly chainSetup?: ChainSetup
  /** Verifies and settles payments for the servers of others; it does not unless set. */
  readonly facilitator?: FacilitatorConfig
  /** Address of an index that lists this marketplace among others; health names its own unless set. */
  readonly bazaar?: string
  /** `observed` starts paused with the cutover on (decisions §12). */
  readonly profile: 'local' | 'observed'
  readonly checkoutV2?: boolean
  readonly crons: boolean
  /** How often is looked for what is due; 1 s unless set. */
  readonly tickMs?: number
  /** Who gets what the marketplace earned; the operator gets all of it unless set (decisions §5). */
  readonly payees?: readonly Payee[]
  /** File or URL of the sanctions list; the synthetic sample unless set. */
  readonly sdnSource?: string
  /** Takes a list that holds less than half of the addresses held: the operator knows why. */
  readonly sdnAcceptShrink?: boolean
  /** Named seed to load into an empty store. */
  readonly seed?: string
  /** Named seed to load into a store that this start makes; one that there is keeps what it has. */
  readonly seedOfNew?: string
  /** `GET /metrics` needs no admin key on a loopback bind. */
  readonly metricsOpen?: boolean
  readonly durability: 'full' | 'os'
  /** Where rows are kept; one of `level` keeps them there whatever it is told. In memory unless set. */
  readonly rows?: 'memory' | 'level'
  /** Longest time for a whole request to arrive; 60 s unless set. */
  readonly requestTimeoutMs?: number
  /** Where first-party functions ask others, and with which keys. */
  readonly engines?: EngineConfig
  readonly logLevel: LogLevel
}

type Bound = Pick<Config, 'host' | 'tls'>
/** They stand for every address: who is on this machine reaches them by its own. */
const LOOPBACK_OF: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

/** Address of a daemon for who is on the same machine or network, whatever its public one is. */
export function boundUrl({ host, tls }: Bound, port: number): string {
  if (!tls) return `http://${inUrl(host)}:${port}`
  return `https://${inUrl(LOOPBACK_OF[host] ?? host)}:${port}`
}

/** What it tells others to reach it by. */
export function ownUrl(config: Bound & Pick<Config, 'publicUrl'>, port: number): string {
  if (config.publicUrl !== undefined) return config.publicUrl.replace(/\/$/, '')
  return config.tls ? `https://${inUrl(config.tls.name)}:${port}` : boundUrl(config, port)
}

function inUrl(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}
