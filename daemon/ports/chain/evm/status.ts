import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../../src/core/time.ts'
import type { ChainFault, ChainStatus } from '../chain.ts'
import type { Signer } from '../key.ts'
import type { QueueStatus, TxQueue } from './queue/queue.ts'
import type { Reads } from './reads.ts'
import type { RpcHealth } from './rpc/rpc.ts'
import { bigIn, type Head } from './rpc/values.ts'

/** Interval of health checks while the chain is idle and healthy. */
const BEAT_MS = 15 * SECOND_MS
/** How often the daemon decides whether a health check is due. While the chain is down, a check is always due. */
const TICK_MS = 2 * SECOND_MS
/** A transaction that waits this long for a block triggers a health check. */
const SLOW_MS = 2 * TICK_MS
/** Failed health checks in a row after which the chain counts as down. */
const DEAF_LOOKS = 2
/** Time without a successful health check after which the chain counts as down. */
const SILENT_MS = 3 * BEAT_MS
/** Number of overdue blocks after which the head counts as late. */
const LATE_BLOCKS = 10
const FEW_PAYMENTS = 100
const MOST_PAYMENTS = 1_000_000_000n
const STUCK_MS = MINUTE_MS
/** How long a reverted transaction, and a reorganisation, is reported. */
const FAILED_MS = HOUR_MS
const REVERSED_MS = 7 * DAY_MS
const PAYMENT_GAS = 80_000n
const LEAST_PRICE = 1_000_000n

export type StatusParts = {
  readonly reads: Pick<Reads, 'ask'>
  readonly queue: Pick<TxQueue, 'status'>
  readonly rpc: { health(): RpcHealth }
  /** The keys in use; a rotation changes them. */
  readonly keys: { readonly gas: Signer; readonly payTo?: Signer | undefined }
  readonly blockTimeS: number | undefined
  readonly wall: () => number
}

/** Result of a health check; `wei` is the gas balance. */
export type Beat = { readonly at: number; readonly head: Head; readonly wei: bigint }

export type Heart = ReturnType<typeof openHeart>

/** Checks the chain's health regularly, to find problems before payments do. */
export function openHeart(parts: StatusParts) {
  const looks: Looks = { last: undefined, failed: 0, lastError: null }
  let looking: Promise<void> | undefined
  const look = async () => {
    // Not awaited: a signer that hangs is no reason not to see the chain.
    for (const key of failing(parts)) void key.check?.()
    try {
      const { head, result } = await parts.reads.ask('eth_getBalance', [parts.keys.gas.address, 'latest'])
      looks.last = { at: parts.wall(), head, wei: bigIn(result) }
      looks.failed = 0
    } catch (error) {
      looks.failed += 1
      looks.lastError = error instanceof Error ? error.message : String(error)
    }
  }
  const beat = () => {
    looking ??= look().finally(() => {
      looking = undefined
    })
    return looking
  }
  const tick = () => {
    const isDue = looks.last === undefined || parts.wall() - looks.last.at >= BEAT_MS
    const isTroubled =
      looks.failed > 0 || isDeaf(parts) || parts.queue.status().oldestMs > SLOW_MS || failing(parts).length > 0
    if (isDue || isTroubled || statusOf(parts, looks).health === 'down') void beat()
  }
  const timer = setInterval(tick, TICK_MS).unref()
  return {
    /** Looks now. */
    beat,
    stop: () => clearInterval(timer),
    status: () => statusOf(parts, looks),
  }
}

function failing({ keys }: StatusParts): Signer[] {
  return [keys.gas, keys.payTo].filter((key) => key !== undefined).filter((key) => key.fault?.() !== undefined)
}

/** Whether the last request failed at every node. */
function isDeaf({ rpc }: StatusParts): boolean {
  return rpc.health().nodes.every(({ error }) => error !== undefined)
}

type Looks = { last: Beat | undefined; failed: number; lastError: string | null }

function statusOf(parts: StatusParts, { last, failed: misses, lastError }: Looks): ChainStatus {
  const queue = parts.queue.status()
  const gas = last && { address: parts.keys.gas.address, wei: queue.gasBalance ?? last.wei, payments: paymentsOf(last) }
  const head = headOf(last, queue, parts.wall())
  const isSilent = last === undefined || misses >= DEAF_LOOKS || parts.wall() - last.at > SILENT_MS
  const isEmpty = queue.held === 'gas' || gas?.payments === 0
  const down = downFaults({ isSilent, lastError, isEmpty, key: parts.keys.gas })
  const { nodes } = parts.rpc.health()
  const slow = slowFaults({ parts, ageSeconds: head?.ageSeconds ?? 0, queue, payments: gas?.payments })
  const { waiting, inFlight, resent, replaced, reorged, reversed, failed, foreignNonces, tokenPaused } = queue
  return {
    health: healthOf(down, slow),
    faults: [...down, ...(isSilent ? [] : notices(parts)), ...slow],
    nodes: nodes.map(({ node, head: seen = null, error = null }) => ({ node, head: seen, error })),
    head,
    lagBlocks: lagOf(parts.rpc.health()),
    gas: gas ?? null,
    ...{ waiting, inFlight, resent, replaced, reorged, reversed, failed, foreignNonces, tokenPaused },
    held: queue.held ?? null,
    oldestSeconds: inFlight === 0 ? null : Math.round(queue.oldestMs / SECOND_MS),
    lastError: queue.lastError?.message ?? lastError,
  }
}

function healthOf(down: readonly ChainFault[], slow: readonly ChainFault[]): ChainStatus['health'] {
  if (down.length > 0) return 'down'
  return slow.length > 0 ? 'degraded' : 'ok'
}

/** The newer of two heads: the one that the queue saw, and the one of the last health check. */
function headOf(last: Beat | undefined, { head }: QueueStatus, now: number): ChainStatus['head'] {
  const looked = last && { block: last.head.number, ageSeconds: ageOf(now - last.head.timestamp * SECOND_MS) }
  const queued = head && { block: head.number, ageSeconds: ageOf(head.ageMs) }
  if (!looked || !queued) return looked ?? queued ?? null
  return queued.block >= looked.block ? queued : looked
}

function ageOf(ms: number): number {
  return Math.max(0, Math.round(ms / SECOND_MS))
}

function lagOf({ highest = 0, nodes }: RpcHealth): number {
  return Math.max(0, highest - (nodes[0]?.head ?? highest))
}

/** Number of payments that the gas balance allows at the current price. */
function paymentsOf({ wei, head }: Beat): number {
  const price = head.baseFee > LEAST_PRICE ? head.baseFee : LEAST_PRICE
  const payments = wei / (price * PAYMENT_GAS)
  return Number(payments < MOST_PAYMENTS ? payments : MOST_PAYMENTS)
}

type Down = { isSilent: boolean; lastError: string | null; isEmpty: boolean; key: Signer }

function downFaults({ isSilent, lastError, isEmpty, key }: Down): ChainFault[] {
  return [
    fault('silent', isSilent, `No chain node responds (${lastError ?? 'no request yet'}): check --rpc-url.`),
    fault('gas_empty', isEmpty, `The gas key ${key.address} is empty: send it ETH, so that transactions can be sent.`),
    ...signerFault('gas_signer', key, 'Nothing is sent until it works; then all goes on by itself.'),
  ].flat()
}

function signerFault(code: ChainFault['code'], key: Signer | undefined, until: string): ChainFault[] {
  const why = key?.fault?.()
  return why === undefined ? [] : [{ code, sentence: `${why} ${until}` }]
}

function fault(code: ChainFault['code'], isSo: boolean, sentence: string): ChainFault[] {
  return isSo ? [{ code, sentence }] : []
}

/** Failed nodes, a slow node and reorganisations. These are only notices, because other nodes and later blocks help. */
function notices({ rpc, queue, wall }: StatusParts): ChainFault[] {
  const health = rpc.health()
  const [lag, { reorged, reorgedAt }] = [lagOf(health), queue.status()]
  const dead = health.nodes.filter(({ error }) => error !== undefined).map(({ node }) => node)
  const many = `${dead.join(', ')} ${dead.length === 1 ? 'does' : 'do'}`
  const again = `A reorganisation of the chain dropped transactions: ${reorged} were sent again since the start.`
  return [
    ...fault('node_down', dead.length > 0, `--rpc-url: ${many} not respond correctly.`),
    ...fault('node_behind', lag > LATE_BLOCKS, `--rpc-url: the first node is ${lag} blocks behind the others.`),
    ...fault('reorged', reorged > 0 && wall() - reorgedAt < FAILED_MS, again),
  ]
}

type Slow = {
  readonly parts: StatusParts
  readonly ageSeconds: number
  readonly queue: QueueStatus
  readonly payments: number | undefined
}

function slowFaults({ parts, ageSeconds, queue, payments }: Slow): ChainFault[] {
  const { blockTimeS, keys, wall } = parts
  const { lastFailed, reversed, reversedAt, foreignNonces } = queue
  const isLate = blockTimeS !== undefined && ageSeconds > LATE_BLOCKS * blockTimeS
  const isPoor = payments !== undefined && payments > 0 && payments < FEW_PAYMENTS
  const isStuck = queue.inFlight > 0 && queue.oldestMs > STUCK_MS
  const hasFailed = lastFailed !== undefined && wall() - lastFailed.at < FAILED_MS
  const others = `${foreignNonces} nonces of the gas key were used elsewhere: let only this daemon use the key.`
  return [
    fault('head_late', isLate, `The newest block is ${ageSeconds} s old: the chain or its node has stopped.`),
    fault('gas_low', isPoor, `The gas key ${keys.gas.address} has ETH for about ${payments} payments: send it more.`),
    fault('stuck', isStuck, `A transaction has waited ${Math.round(queue.oldestMs / SECOND_MS)} s for a block.`),
    hasFailed ? [{ ...failedFault, transaction: lastFailed.id }] : [],
    signerFault('payout_signer', keys.payTo, 'Payouts and escrow wait until it works; then they go on by themselves.'),
    fault('fee_cap', queue.held === 'fee', 'The gas price is above the limit: transactions wait until it falls.'),
    fault(
      'token_paused',
      queue.tokenPaused,
      'The issuer has paused the token: no payment can be settled until it resumes.',
    ),
    fault(
      'reversed',
      reversed > 0 && wall() - reversedAt < REVERSED_MS,
      `The chain permanently reverted ${reversed} settled payments: their money is missing.`,
    ),
    fault('nonce_taken', foreignNonces > 0, others),
  ].flat()
}

const failedFault: ChainFault = { code: 'failed', sentence: 'A transaction reverted on the chain in the last hour.' }
