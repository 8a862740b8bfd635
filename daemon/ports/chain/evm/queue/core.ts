import type { Authorization } from '../../../../../src/core/authorization.ts'
import type { Hex, Wallet } from '../../../../../src/core/hex.ts'
import type { Store } from '../../../../store/port.ts'
import type { ChainEvent, Reversal, SettleResult } from '../../chain.ts'
import type { Signer } from '../../key.ts'
import type { Rpc } from '../rpc/rpc.ts'
import type { BlockTag, Tags } from '../rpc/tags.ts'
import type { Head } from '../rpc/values.ts'
import type { BatchKind } from './calldata.ts'
import type { CallOrder, OrderOutcome, QueueStatus, TransferOrder } from './queue.ts'
import type { ChainTransferRow, ChainTxRow } from './rows.ts'

/** Wakes one waiting caller. If nobody waits, the next `wait` resolves immediately. */
type QueueSignal = {
  ring(): void
  /** Resolves when `ring` is called, or after `ms` milliseconds. */
  wait(ms?: number): Promise<void>
}

export function createSignal(): QueueSignal {
  let rung = false
  let wake: (() => void) | undefined
  return {
    ring: () => {
      rung = true
      wake?.()
    },
    wait: async (ms) => {
      if (!rung) {
        const { promise, resolve } = Promise.withResolvers<void>()
        const timer = ms === undefined ? undefined : setTimeout(resolve, ms)
        wake = resolve
        await promise
        clearTimeout(timer)
        wake = undefined
      }
      rung = false
    },
  }
}

/** Points at which tests may end the process. */
export type QueueStep =
  | 'before_simulation'
  | 'before_store'
  | 'after_store'
  | 'sent_without_reply'
  | 'after_reply'
  | 'included'
  | 'replacement_stored'
  | 'done'

export type QueueEvent = Exclude<ChainEvent, { readonly kind: 'asked' }>

export type QueueTimings = {
  /** Polling interval of the head while transactions are in flight. */
  readonly pollMs: number
  /** Polling interval of included transactions until they are final. */
  readonly followMs: number
  /** Time after which a transaction that is in no block is resent. */
  readonly resendMs: number
  /** How long `settle` and `call` wait before they return `unavailable`. The order is still carried out later. */
  readonly waitMs: number
  /** Shortest time that signed bytes are kept after inclusion. */
  readonly keepMs: number
  /** A reorged transfer counts as lost this long after its window has closed. */
  readonly reversalGraceMs: number
}

export type QueueOptions = {
  readonly store: Store
  readonly rpc: Rpc
  readonly signer: Signer
  /** Replaced gas keys whose transactions are not final yet. */
  readonly former?: readonly Signer[]
  readonly chainId: number
  readonly token: Wallet
  readonly digestOf: (authorization: Authorization) => Uint8Array
  readonly batch?: { readonly address: Wallet; readonly kind: BatchKind }
  readonly maxFee: bigint
  readonly maxInFlight?: number
  readonly maxBatch?: number
  readonly finality: { readonly confirmed: BlockTag; readonly final: BlockTag }
  readonly timings: QueueTimings
  readonly wall: () => number
  /** Whether to continue from the chain's transaction count, because the store is a restored backup. */
  readonly adopts?: boolean
  readonly observe?: (event: QueueEvent) => void
  readonly step?: (step: QueueStep) => Promise<void> | void
}

/** A transfer in progress; callers may share it. */
export type TransferWork = {
  readonly kind: 'transfer'
  readonly key: string
  readonly authorization: Authorization
  readonly signature: Hex
  readonly digest: Hex
  readonly priority: 'payment' | 'payout'
  readonly done: PromiseWithResolvers<SettleResult>
  /** The reorged transaction that had moved the money. */
  undone?: Hex | undefined
  /** Whether to send the transfer alone, because its payer has code or its batch failed. */
  alone: boolean
  /** Failed attempts; a batch counts as 1, a single transaction as 2. */
  tries: number
  transaction?: Hex | undefined
  /** Earliest time of the next attempt, machine milliseconds. */
  notBefore: number
  /** Number of the latest block when the first transaction was signed. Event searches start at this block. */
  since?: number | undefined
  tx?: OpenTx | undefined
  readonly at: number
}

export type CallWork = {
  readonly kind: 'call'
  readonly key: string
  readonly order: CallOrder
  readonly done: PromiseWithResolvers<OrderOutcome>
  tries: number
  transaction?: Hex | undefined
  notBefore: number
  tx?: OpenTx | undefined
  readonly at: number
}

export type QueueWork = TransferWork | CallWork

/** A gas key and the next nonce of its account. */
export type GasSender = { readonly signer: Signer; nextNonce: number }

/** A transaction that is not final: its row, and the orders that wait for it. */
export type OpenTx = {
  row: ChainTxRow
  /** Waiting orders by index in `row.items`; a `CallOrder` has index 0. Settled and requeued orders are removed. */
  readonly works: Map<number, QueueWork>
  /** Wall time of the first send. `sentAt` and `sentHead` are time and latest block number of the last send. */
  readonly firstSentAt: number
  sentAt: number
  sentHead: number
  resends: number
  /** Time when another transaction was first seen to use the nonce. */
  doubtAt?: number | undefined
  /** Whether `follow` has checked the transaction's block since inclusion. */
  isFollowed: boolean
  readonly confirmed: PromiseWithResolvers<void>
}

export type Counts = {
  resent: number
  replaced: number
  reorged: number
  reversed: number
  foreign: number
  failed: number
}

/** Shared state of the queue. Never keep copies of its values across an `await`. */
export type Core = {
  readonly options: QueueOptions
  /** Unfinished orders by key. */
  readonly works: Map<string, QueueWork>
  waiting: QueueWork[]
  /** Transactions that are not final, by id. */
  readonly open: Map<string, OpenTx>
  /** Transactions that are in no block. */
  readonly flying: Set<OpenTx>
  /** Transfers that are not final and were either reversed or sent by an external facilitator. */
  readonly watched: Map<string, ChainTransferRow>
  watchedAt: number
  /** Resends an external facilitator's transfer that the chain dropped. */
  resend?: ((order: TransferOrder) => Promise<void>) | undefined
  readonly resending: Set<string>
  /** The gas key that sends new orders. */
  sender: GasSender
  /** All gas keys with open transactions, by address. */
  readonly senders: Map<Wallet, GasSender>
  /** Whether orders wait, except those that name their sender, because another gas key takes over. */
  isHeld: boolean
  /** Whether orders are being turned into transactions. */
  isAssembling: boolean
  head?: Head | undefined
  headAt: number
  tip: bigint
  gasBalance?: bigint | undefined
  /** Time when gas balance and tip were last read. */
  purseAt: number
  held?: QueueStatus['held']
  tokenPaused: boolean
  /** Smoothed time to inclusion, milliseconds. */
  inclusionMs: number
  /** Whether a transaction needs a fee above the limit. */
  stuck: boolean
  /** Hash of the head when receipts were last read; `lookedAt` is the time of that read. */
  looked?: Hex | undefined
  lookedAt: number
  /** Head at the last check of included transactions. `followedAt` is the time of that check. */
  canon?: Head | undefined
  followedAt: number
  readonly tags: Tags
  /** Whether something was sent since receipts were last read. */
  dirty: boolean
  /** Earliest time of the next receipt check after a send. The delay `firstLookMs` adapts to the node. */
  dueAt: number
  firstLookMs: number
  /** Number of unanswered sends; `askedAt` is the time of the last send or head request. */
  unanswered: number
  askedAt: number
  /** Time of the last nonce count. `isMissing`: some transactions were in no block when receipts were last read. */
  countedAt: number
  isMissing: boolean
  /** Expected number of orders in the next batch, from the sizes of recent batches. */
  crowd: number
  /** Heads that were seen, by hash, newest last. */
  readonly line: Map<Hex, Head>
  readonly counts: Counts
  lastError?: QueueStatus['lastError']
  lastFailed?: QueueStatus['lastFailed']
  reorgedAt: number
  reversedAt: number
  readonly listeners: Set<(reversal: Reversal) => void>
  readonly pump: QueueSignal
  readonly watch: QueueSignal
  readonly closing: AbortController
}

/** Maximum number of block heads to remember: about a minute on the fastest chains. */
const MAX_LINE = 2_048

export function seeHead(core: Core, head: Head): void {
  core.head = head
  core.headAt = core.options.wall()
  core.line.delete(head.hash)
  core.line.set(head.hash, head)
  const [oldest] = core.line.keys()
  if (core.line.size > MAX_LINE && oldest) core.line.delete(oldest)
}

/** Block hashes by number: from a head back through its known ancestors. */
export function lineOf({ line }: Core, head: Head): ReadonlyMap<number, Hex> {
  const hashes = new Map([[head.number, head.hash]])
  for (let at: Head = head; at.parent !== undefined; ) {
    hashes.set(at.number - 1, at.parent)
    const before = line.get(at.parent)
    if (before?.number !== at.number - 1) break
    at = before
  }
  return hashes
}

/** Transactions that are in no block, sorted by nonce. */
export function inFlight({ flying }: Core): OpenTx[] {
  return [...flying].sort((a, b) => a.row.nonce - b.row.nonce)
}

export function noteError(core: Core, error: unknown): void {
  const message = error instanceof Error ? error.message : String(error)
  core.lastError = { at: core.options.wall(), message }
}

export function sendable({ waiting, isHeld }: Core): QueueWork[] {
  return isHeld ? waiting.filter((work) => work.kind === 'call' && work.order.from !== undefined) : waiting
}

export function senderOf({ senders, sender }: Core, address: Wallet | undefined): GasSender {
  return (address === undefined ? undefined : senders.get(address)) ?? sender
}

export async function pass(core: Core, step: QueueStep): Promise<void> {
  if (core.options.step) await core.options.step(step)
}

export function isClosed({ closing }: Core): boolean {
  return closing.signal.aborted
}
