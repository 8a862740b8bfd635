import type { Authorization } from '../../../../../src/core/authorization.ts'
import type { Hex, Wallet } from '../../../../../src/core/hex.ts'
import type { Store } from '../../../../store/port.ts'
import type { ChainEvent, Reversal, SettleResult } from '../../chain.ts'
import type { Rpc } from '../rpc/rpc.ts'
import type { BlockTag, Tags } from '../rpc/tags.ts'
import type { Head } from '../rpc/values.ts'
import type { BatchKind } from './calldata.ts'
import type { CallOrder, OrderOutcome, QueueStatus, TransferOrder } from './queue.ts'
import type { ChainTransferRow, ChainTxRow } from './rows.ts'
import type { KeySigner } from './signer.ts'

/** Wakes one sleeper; a signal without a sleeper wakes the next at once. */
type QueueSignal = {
  ring(): void
  /** Resolves on the signal, or after so many milliseconds. */
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

/** Points at which a process may die, for tests. */
export type QueueStep =
  | 'before_simulation'
  | 'before_store'
  | 'after_store'
  | 'sent_without_reply'
  | 'after_reply'
  | 'included'
  | 'replacement_stored'
  | 'done'

/** Countable events. */
export type QueueEvent = Exclude<ChainEvent, { readonly kind: 'asked' }>

export type QueueTimings = {
  /** Polling interval of the head while transactions are in flight. */
  readonly pollMs: number
  /** Polling interval of included ones until final. */
  readonly followMs: number
  /** Time without inclusion before resending. */
  readonly resendMs: number
  /** How long `settle` and `call` wait before `unavailable`; the order continues. */
  readonly waitMs: number
  /** How long signed bytes are kept after inclusion. */
  readonly keepMs: number
  /** Time after its window when an undone transfer counts as lost. */
  readonly reversalGraceMs: number
}

export type QueueOptions = {
  readonly store: Store
  readonly rpc: Rpc
  readonly signer: KeySigner
  readonly chainId: number
  readonly token: Wallet
  readonly digestOf: (authorization: Authorization) => Uint8Array
  /** Batch contract; without one each transfer is alone. */
  readonly batch?: { readonly address: Wallet; readonly kind: BatchKind }
  /** Highest wei per gas. */
  readonly maxFee: bigint
  readonly maxInFlight?: number
  readonly maxBatch?: number
  readonly finality: { readonly confirmed: BlockTag; readonly final: BlockTag }
  readonly timings: QueueTimings
  /** Epoch milliseconds of the machine. */
  readonly wall: () => number
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
  /** The undone transaction that had moved it. */
  undone: Hex | undefined
  /** Sent alone: its payer has code, or its batch failed. */
  alone: boolean
  /** Failed transactions: a batch counts one, alone counts two. */
  tries: number
  /** Latest transaction. */
  transaction: Hex | undefined
  /** Not retried before, machine milliseconds. */
  notBefore: number
  /** Head when first signed. */
  since: number | undefined
  /** Its current transaction. */
  tx: OpenTx | undefined
  readonly at: number
}

export type CallWork = {
  readonly kind: 'call'
  readonly key: string
  readonly order: CallOrder
  readonly done: PromiseWithResolvers<OrderOutcome>
  tries: number
  transaction: Hex | undefined
  notBefore: number
  tx: OpenTx | undefined
  readonly at: number
}

export type QueueWork = TransferWork | CallWork

/** A followed transaction: its row and waiting works. */
export type OpenTx = {
  row: ChainTxRow
  /** By index in `row.items`, or the one call; settled and moved ones are removed. */
  readonly works: Map<number, QueueWork>
  /** Wall time of first and last send, and the head at the last. */
  readonly firstSentAt: number
  sentAt: number
  sentHead: number
  resends: number
  /** When its nonce was first seen as used by another. */
  doubtAt: number | undefined
  /** `follow` confirmed its block after inclusion. */
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

/** Shared state of the queue's parts. Single process; never hold copies across an await. */
export type Core = {
  readonly options: QueueOptions
  /** Unfinished works by key. */
  readonly works: Map<string, QueueWork>
  waiting: QueueWork[]
  /** Transactions that are not final, by nonce. */
  readonly open: Map<number, OpenTx>
  /** Those in no block. */
  readonly flying: Set<OpenTx>
  /** Reversed or foreign transfers that are not final. */
  readonly watched: Map<string, ChainTransferRow>
  watchedAt: number
  /** Has a dropped foreign transaction sent again. */
  resend: ((order: TransferOrder) => Promise<void>) | undefined
  /** Keys of transfers being resent. */
  readonly resending: Set<string>
  nextNonce: number
  head: Head | undefined
  headAt: number
  tip: bigint
  gasBalance: bigint | undefined
  /** When balance and tip were read. */
  purseAt: number
  held: QueueStatus['held']
  tokenPaused: boolean
  /** Smoothed time to inclusion, milliseconds. */
  inclusionMs: number
  /** A transaction needs a fee above the cap. */
  stuck: boolean
  /** Head at the last reading of receipts, and when. */
  looked: Hex | undefined
  lookedAt: number
  /** Head at the last check of included ones, and when. */
  canon: Head | undefined
  followedAt: number
  readonly tags: Tags
  /** Sent since the last reading of receipts. */
  dirty: boolean
  /** When to read receipts first, and the adaptive delay after a send. */
  dueAt: number
  firstLookMs: number
  /** Unanswered sends, and time of the last head request or send. */
  unanswered: number
  askedAt: number
  /** When transactions were last counted, and whether some lacked a block then. */
  countedAt: number
  isMissing: boolean
  /** Size of the last batch, as an estimate of the next one. */
  crowd: number
  /** Blocks seen as head, newest last. */
  readonly line: Map<Hex, Head>
  readonly counts: Counts
  lastError: QueueStatus['lastError']
  lastFailed: QueueStatus['lastFailed']
  reversedAt: number
  readonly listeners: Set<(reversal: Reversal) => void>
  readonly pump: QueueSignal
  readonly watch: QueueSignal
  readonly closing: AbortController
}

/** Heads remembered: about a minute of the fastest blocks. */
const MAX_LINE = 2_048

/** Records the newest block. */
export function seeHead(core: Core, head: Head): void {
  core.head = head
  core.headAt = core.options.wall()
  core.line.delete(head.hash)
  core.line.set(head.hash, head)
  const [oldest] = core.line.keys()
  if (core.line.size > MAX_LINE && oldest) core.line.delete(oldest)
}

/** Hashes by number, back from a head through known parents. */
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

/** Transactions in no block, by nonce. */
export function inFlight({ flying }: Core): OpenTx[] {
  return [...flying].sort((a, b) => a.row.nonce - b.row.nonce)
}

export function noteError(core: Core, error: unknown): void {
  const message = error instanceof Error ? error.message : String(error)
  core.lastError = { at: core.options.wall(), message }
}

/** Reports a step. */
export async function pass(core: Core, step: QueueStep): Promise<void> {
  if (core.options.step) await core.options.step(step)
}

export function isClosed({ closing }: Core): boolean {
  return closing.signal.aborted
}
