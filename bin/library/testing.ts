import { randomBytes } from 'node:crypto'
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { createDaemon, type Daemon } from '../../daemon/index.ts'
import { parseDuration } from '../../src/cli/params.ts'
import { AppError } from '../../src/core/error.ts'
import { toWallet } from '../../src/core/hex.ts'
import { formatAmount } from '../../src/core/money.ts'
import { createClient, type SoukClient } from './client.ts'
import { type Fault, openFaultProxy } from './fault-proxy.ts'

export type { Fault } from './fault-proxy.ts'

const KEY_BYTES = 32
const ADMIN_KEY_FILE = 'admin.key'

export type MarketOptions = {
  /** `house`: the functions of the house are for sale. `none`: nothing is. @default 'house' */
  readonly seed?: 'house' | 'none'
}

export type PersonaOptions = {
  /** Test money in its wallet, decimal USDC. @default '100.00' */
  readonly funds?: string
  /** What it registers as; null leaves it a stranger with a wallet. @default 'both' */
  readonly role?: 'agent' | 'provider' | 'both' | null
  /** Where it is told of its jobs. */
  readonly webhookUrl?: string
}

/** Somebody with a wallet, test money, and an account unless it is a stranger. */
export type Persona = SoukClient & {
  readonly name: string
  readonly address: string
  readonly privateKey: `0x${string}`
  /** Empty for a stranger. */
  readonly id: string
  readonly apiKey: string
  /** What its webhooks are signed with; empty without an endpoint. */
  readonly webhookSecret: string
}

export type Snapshot = { readonly name: string }

export type Market = {
  /** Stays the same over `restart` and `restore`. */
  readonly url: string
  readonly adminKey: string
  /** The operator. */
  readonly admin: SoukClient
  persona(name: string, options?: PersonaOptions): Promise<Persona>
  readonly clock: {
    now(): Promise<Date>
    /** Moves business time on; what falls due on the way has happened when it resolves. `'3d'`, `'90m'`, or milliseconds. */
    advance(by: string | number): Promise<void>
  }
  readonly faults: {
    /** Makes the next matching request go wrong. */
    next(fault: Fault): void
    clear(): void
  }
  /** Test money that a wallet holds, decimal USDC. */
  balanceOf(wallet: string): Promise<string>
  /** Remembers all that the market holds. */
  snapshot(): Promise<Snapshot>
  /** Goes back to it: people, jobs, money and clock. Faults are forgotten. A snapshot can be restored any number of times. */
  restore(snapshot: Snapshot): Promise<void>
  /** Stops and starts it over what it has kept. */
  restart(): Promise<void>
  /** Ends it and removes all it has written. */
  close(): Promise<void>
}

/** A market of its own in this process, on loopback, with test money; see `souk help` for what one can do. */
export async function startMarket(options: MarketOptions = {}): Promise<Market> {
  const folder = await mkdtemp(join(tmpdir(), 'souk-testing-'))
  const proxy = await openFaultProxy()
  const dataDir = join(folder, 'data')
  const running = { daemon: await started(dataDir, proxy.url, options) }
  proxy.lead(running.daemon.url)
  const adminKey = (await readFile(join(dataDir, ADMIN_KEY_FILE), 'utf8')).trim()
  const admin = await createClient({ url: proxy.url, adminKey })
  let snapshots = 0
  /** The market is down while its folder is looked after. */
  const whileDown = async (act: () => Promise<void>) => {
    await running.daemon.stop()
    await act()
    running.daemon = await started(dataDir, proxy.url, options)
    proxy.lead(running.daemon.url)
  }
  return {
    url: proxy.url,
    adminKey,
    admin,
    persona: (name, how = {}) => enter({ url: proxy.url, admin }, name, how),
    clock: {
      now: async () => new Date((await admin.call('getClock', {})).now),
      advance: async (by) => void (await admin.call('moveClock', { body: { advance_ms: millisecondsOf(by) } })),
    },
    balanceOf: async (wallet) => formatAmount(await running.daemon.ctx.chain.balanceOf(toWallet(wallet))),
    faults: { next: proxy.befall, clear: proxy.clear },
    async snapshot() {
      snapshots += 1
      const name = `snapshot-${snapshots}`
      await whileDown(() => cp(dataDir, join(folder, name), { recursive: true }))
      return { name }
    },
    async restore({ name }) {
      proxy.clear()
      await whileDown(async () => {
        await rm(dataDir, { recursive: true })
        await cp(join(folder, name), dataDir, { recursive: true })
      })
    },
    restart: () => whileDown(async () => undefined),
    async close() {
      await proxy.close()
      await running.daemon.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** What it logs nobody reads. */
const nowhere = () => new Writable({ write: (_chunk, _encoding, done) => done() })

function started(dataDir: string, publicUrl: string, { seed = 'house' }: MarketOptions): Promise<Daemon> {
  const where = { dataDir, host: '127.0.0.1', port: 0, publicUrl }
  const kept = { durability: 'os', logLevel: 'error', ...(seed === 'none' ? {} : { seed }) } as const
  return createDaemon({ ...where, ...kept, chain: 'sandbox', profile: 'local', crons: true }, { logTo: nowhere() })
}

type Entrance = Pick<Market, 'url' | 'admin'>

async function enter({ url, admin }: Entrance, name: string, options: PersonaOptions): Promise<Persona> {
  const { funds = '100.00', role = 'both', webhookUrl } = options
  const privateKey = `0x${randomBytes(KEY_BYTES).toString('hex')}` as const
  const paying = { url, wallet: privateKey, spend: { perPayment: '1000.00' } }
  const stranger = await createClient(paying)
  const address = stranger.address ?? ''
  await admin.call('faucet', { body: { wallet: address, amount: funds } })
  const known = { name, address, privateKey }
  if (role === null) return { ...stranger, ...known, id: '', apiKey: '', webhookSecret: '' }
  const body = { name, type: role, ...(webhookUrl === undefined ? {} : { webhook_url: webhookUrl }) }
  const { answer } = await stranger.pay('register', { body })
  const apiKey = answer.api_key ?? ''
  const client = await createClient({ ...paying, apiKey })
  return { ...client, ...known, id: answer.participant_id, apiKey, webhookSecret: answer.webhook_secret ?? '' }
}

function millisecondsOf(by: string | number): number {
  const ms = typeof by === 'number' ? by : parseDuration(by)
  if (ms !== undefined && ms > 0) return ms
  throw new AppError('invalid_request', `${JSON.stringify(by)} is no duration; say '90m' or '3d'.`)
}
