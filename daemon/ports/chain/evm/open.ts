import {
  type Authorization,
  domainSeparator,
  type Network,
  networks,
  type TokenDomain,
} from '../../../../src/core/authorization.ts'
import type { Wallet } from '../../../../src/core/hex.ts'
import { type Usdc, usdc } from '../../../../src/core/money.ts'
import { compact } from '../../../../src/core/record.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../../src/core/time.ts'
import type { Store } from '../../../store/port.ts'
import { type ChainEvent, type ChainMode, type ChainPort, isTestMoney } from '../chain.ts'
import type { Signer } from '../key.ts'
import { openDigests } from '../signature.ts'
import { type EscrowParts, openEscrow, openEscrows } from './escrow.ts'
import { openFaucet } from './faucet.ts'
import type { QueueEvent, QueueOptions, QueueStep, QueueTimings } from './queue/core.ts'
import { openTxQueue } from './queue/open.ts'
import { QueueRefused, type TxQueue } from './queue/queue.ts'
import { openReads } from './reads.ts'
import { openRegistries } from './registries.ts'
import { openRpc, type Rpc, type RpcObserver } from './rpc/rpc.ts'
import { openSettlement, type PayToKey, type PayToRing } from './settlement.ts'
import { openHeart } from './status.ts'
import { openToken } from './token.ts'
import { openTransactions } from './transactions.ts'

export type EvmDeployment = {
  readonly asset: Wallet
  readonly domain: Pick<TokenDomain, 'name' | 'version'>
  readonly identity: Wallet
  readonly reputation: Wallet
  readonly anchors: Wallet
  /** Escrow contract; the gas key operates it. */
  readonly escrow?: Wallet
  /** Batch contract. Without it, each transfer has its own transaction, and undeployed wallets are refused. */
  readonly batch?: NonNullable<QueueOptions['batch']>
  readonly fromBlock: number
}

/** Settings of the operator; unset ones have defaults. */
export type EvmSettings = {
  readonly instantLimit: Usdc
  /** Fee limit, in wei per gas. */
  readonly maxFee: bigint
  readonly maxInFlight: number
  readonly maxBatch: number
  /** Allowed wallet factories. The first payment from a factory's wallet deploys the wallet (ERC-6492). */
  readonly walletFactories: readonly Wallet[]
  /** Seconds between blocks; absent if the devnet makes a block for each transaction. */
  readonly blockTimeS: number
}

const GWEI = 1_000_000_000n
export const DEFAULT_INSTANT_LIMIT = usdc(100_000_000n)
const defaults = {
  instantLimit: DEFAULT_INSTANT_LIMIT,
  maxFee: 100n * GWEI,
  walletFactories: [],
} as const satisfies Partial<EvmSettings>

export type EvmOptions = {
  readonly store: Store
  readonly mode: Exclude<ChainMode, 'sandbox'>
  readonly network: Network
  /** Nodes, preferred first. */
  readonly rpcUrls: readonly string[]
  readonly deployment: EvmDeployment
  readonly payTo: Wallet
  /** Pay-to keys that were replaced and are still in use, newest first. */
  readonly former?: readonly PayToKey[]
  /** Without `payTo`, payouts wait for the operator. */
  readonly keys: { readonly gas: Signer; readonly payTo?: Signer }
  /** Gas keys that were replaced. Those with a signer still have open transactions. */
  readonly formerGas?: readonly FormerGasKey[]
  readonly settings?: Partial<EvmSettings>
  readonly wall: () => number
  readonly adopts?: QueueOptions['adopts']
  readonly timings?: Partial<QueueTimings>
  readonly observe?: { readonly rpc?: RpcObserver; readonly queue?: (event: QueueEvent) => void }
  /** Called at points where tests may end the process. */
  readonly step?: (step: QueueStep) => Promise<void> | void
}

/** A replaced gas key, with its contract for anchors. */
export type FormerGasKey = { readonly address: Wallet; readonly anchors?: Wallet; readonly key?: Signer }

/** The gas key in use, and the addresses of it and those before it, newest first. A rotation replaces them. */
export type GasRing = { key: Signer; senders: readonly Wallet[]; anchors: readonly Wallet[] }

export type EvmChain = ChainPort &
  Required<Pick<ChainPort, 'status' | 'onReversed' | 'isContractSignature'>> & {
    /** The chain's queue, through which escrow and splitter send their transactions, too. */
    readonly queue: TxQueue
    readonly rpc: Rpc
    readonly ring: PayToRing
    readonly gas: GasRing
    close(): Promise<void>
  }

/**
 * Opens an EVM chain. One queue sends all writes; reads are batched. First resends unfinished transactions of an
 * earlier process.
 * @throws QueueRefused with one sentence and the remedy; RpcUnavailableError when no node answers
 */
export async function openEvmChain(options: EvmOptions): Promise<EvmChain> {
  const { deployment, observe } = options
  const observers = new Set<(event: ChainEvent) => void>()
  const tell = (event: ChainEvent) => {
    for (const observer of observers) observer(event)
  }
  const rpc = openRpc({
    urls: options.rpcUrls,
    wall: options.wall,
    observe: (request) => {
      observe?.rpc?.(request)
      const { method, seconds, kind } = request
      tell({ kind: 'asked', method, seconds, ...(kind ? { fault: kind } : {}) })
    },
  })
  const queue = (event: QueueEvent) => {
    observe?.queue?.(event)
    tell(event)
  }
  try {
    const chain = await openOver(rpc, { ...options, observe: { queue } }, domainOf(options, deployment))
    const observing = (listener: (event: ChainEvent) => void) => {
      observers.add(listener)
      return () => void observers.delete(listener)
    }
    // Not a copy, because the quoted address can change.
    return Object.assign(chain, { observe: observing })
  } catch (error) {
    await rpc.close()
    throw error
  }
}

function domainOf({ network }: EvmOptions, { asset, domain }: EvmDeployment): TokenDomain {
  return { ...domain, chainId: networks[network].chainId, verifyingContract: asset }
}

async function openOver(rpc: Rpc, options: EvmOptions, domain: TokenDomain): Promise<EvmChain> {
  const { mode, network, deployment, keys, wall, store } = options
  const settings = { ...defaults, ...options.settings }
  const { asset } = deployment
  const { caip2, chainId } = networks[network]
  const separator = domainSeparator(domain)
  const digestOf = openDigests(separator)
  const reads = openReads({ rpc, fromBlock: deployment.fromBlock, isHeadFinal: mode === 'devnet' })
  const token = openToken(reads, asset)
  const fault = await token.fault(separator)
  if (fault !== undefined) throw new QueueRefused(`${fault}.`)
  const queue = openTxQueue(queueOptions(rpc, options, digestOf))
  const sender = keys.gas.address
  const ring = ringOf(options)
  const gas = gasRingOf(options)
  const heart = openHeart({ reads, queue, rpc, keys: keysInUse(gas, ring), blockTimeS: settings.blockTimeS, wall })
  await queue.start()
  await heart.beat()
  const registries = openRegistries({ reads, queue, chainId, gas, addresses: deployment, mints: isTestMoney({ mode }) })
  const { instantLimit } = settings
  const walletFactories = new Set(settings.walletFactories)
  const parts = { reads, queue, token, asset, ring, sender, digestOf, instantLimit, walletFactories }
  return {
    mode,
    network,
    caip2,
    chainId,
    asset: { address: asset, ...deployment.domain, decimals: 6 },
    get payTo() {
      return ring.all[0]?.address ?? options.payTo
    },
    payees: () => ring.all,
    ring,
    ...registries,
    pays: keys.payTo !== undefined,
    domain,
    digestOf,
    balanceOf: token.balanceOf,
    authorizationState: (from, nonce, finality = 'included') => token.authorizationState(from, nonce, finality),
    ...openSettlement({ ...parts, batch: deployment.batch }),
    ...escrowOf(ring, { reads, queue, chainId, separator }),
    ...(mode === 'devnet' ? { faucet: openFaucet({ store, queue, asset }) } : {}),
    status: heart.status,
    onReversed: (listener) => queue.onReversed(listener),
    transactions: openTransactions({ store, gas }),
    queue,
    rpc,
    gas,
    close: async () => {
      heart.stop()
      await queue.close()
      await rpc.close()
    },
  }
}

function ringOf({ payTo, keys, deployment, former = [] }: EvmOptions): PayToRing {
  const quoted = { address: payTo, until: Number.POSITIVE_INFINITY, key: keys.payTo, escrow: deployment.escrow }
  return { all: [quoted, ...former] }
}

function keysInUse(gas: GasRing, ring: PayToRing) {
  return {
    get gas() {
      return gas.key
    },
    get payTo() {
      return ring.all[0]?.key
    },
  }
}

function gasRingOf({ keys, deployment, formerGas = [] }: EvmOptions): GasRing {
  return {
    key: keys.gas,
    senders: [keys.gas.address, ...formerGas.map(({ address }) => address)],
    anchors: [deployment.anchors, ...formerGas.flatMap(({ anchors }) => anchors ?? [])],
  }
}

/** The escrow of this chain; absent without a contract or the `payTo` key. */
function escrowOf(ring: PayToRing, means: Omit<EscrowParts, 'address' | 'payToKey'>): Pick<ChainPort, 'escrow'> {
  const contracts = () =>
    ring.all.flatMap(({ address: payTo, escrow: address, key: payToKey }) =>
      address && payToKey ? [{ ...openEscrow({ ...means, address, payToKey }), payTo }] : [],
    )
  return contracts().length > 0 ? { escrow: openEscrows(contracts) } : {}
}

/** Shorter times than for other nodes, because a devnet mines immediately and has no reorganisations. */
const devnetTimings: QueueTimings = {
  pollMs: 8,
  followMs: SECOND_MS,
  resendMs: 2 * SECOND_MS,
  waitMs: 45 * SECOND_MS,
  keepMs: HOUR_MS,
  reversalGraceMs: MINUTE_MS,
}
const baseTimings: QueueTimings = {
  pollMs: SECOND_MS / 4,
  followMs: 10 * SECOND_MS,
  resendMs: 10 * SECOND_MS,
  waitMs: 45 * SECOND_MS,
  keepMs: DAY_MS,
  reversalGraceMs: HOUR_MS,
}

type Digests = (authorization: Authorization) => Uint8Array

function queueOptions(rpc: Rpc, options: EvmOptions, digestOf: Digests): QueueOptions {
  const { store, mode, network, deployment, keys, wall, observe, step, adopts, formerGas = [] } = options
  const { maxFee = defaults.maxFee, maxInFlight, maxBatch } = options.settings ?? {}
  const isDevnet = mode === 'devnet'
  return {
    store,
    rpc,
    signer: keys.gas,
    former: formerGas.flatMap(({ key }) => key ?? []),
    chainId: networks[network].chainId,
    token: deployment.asset,
    digestOf,
    maxFee,
    finality: isDevnet ? { confirmed: 'latest', final: 'latest' } : { confirmed: 'safe', final: 'finalized' },
    timings: { ...(isDevnet ? devnetTimings : baseTimings), ...options.timings },
    wall,
    ...compact({ batch: deployment.batch, maxInFlight, maxBatch, observe: observe?.queue, step, adopts }),
  }
}
