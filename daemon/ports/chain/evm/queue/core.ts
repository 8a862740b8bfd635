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

/** A bell for one sleeper: rung while nobody sleeps, it wakes the next one at once. */
type QueueSignal = {
  ring(): void
  /** Resolves when it rings, at the latest after so many milliseconds; without a number only when it rings. */
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

/** Places at which a process may end: told as they are passed, so that tests can end it there. */
export type QueueStep =
  | 'before_simulation'
  | 'before_store'
  | 'after_store'
  | 'sent_without_reply'
  | 'after_reply'
  | 'included'
  | 'replacement_stored'
  | 'done'

/** Something to count. */
export type QueueEvent = Exclude<ChainEvent, { readonly kind: 'asked' }>

export type QueueTimings = {
  /** How often the head is asked for while something is in flight. */
  readonly pollMs: number
  /** How often what is included is looked at until it is final. */
  readonly followMs: number
  /** Without inclusion for so long the same bytes are sent again. */
  readonly resendMs: number
  /** How long `settle` and `call` wait before they say `unavailable`; what they ordered goes on. */
  readonly waitMs: number
  /** Signed bytes are kept for so long after inclusion, whatever the chain calls final. */
  readonly keepMs: number
  /** A transfer that was undone counts as lost so long after its window closed. */
  readonly reversalGraceMs: number
}

export type QueueOptions = {
  readonly store: Store
  readonly rpc: Rpc
  readonly signer: KeySigner
  readonly chainId: number
  readonly token: Wallet
  readonly digestOf: (authorization: Authorization) => Uint8Array
  /** The contract that batches; without one everything goes alone. */
  readonly batch?: { readonly address: Wallet; readonly kind: BatchKind }
  /** Wei for each unit of gas; nothing is offered above it. */
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

/** A transfer on its way; several callers may wait for it. */
export type TransferWork = {
  readonly kind: 'transfer'
  readonly key: string
  readonly authorization: Authorization
  readonly signature: Hex
  readonly digest: Hex
  readonly priority: 'payment' | 'payout'
  readonly done: PromiseWithResolvers<SettleResult>
  /** What had moved it before a reorganisation undid that: it is to be made good. */
  undone: Hex | undefined
  /** Settled by itself: its payer has code, or a batch with it failed. */
  alone: boolean
  /** Transactions that carried it in vain: one with others counts once, one alone twice. */
  tries: number
  /** The latest of them. */
  transaction: Hex | undefined
  /** Looked at again only after, epoch milliseconds. */
  notBefore: number
  /** Head when it was first signed. */
  since: number | undefined
  /** The transaction it is in. */
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

/** A transaction that is followed: its row as stored, and who waits for it. */
export type OpenTx = {
  row: ChainTxRow
  /** By place in `row.items`, or the one call; what is settled or moved on is no longer here. */
  readonly works: Map<number, QueueWork>
  /** Wall time of the first and of the last time its bytes went out, and the head at the latter. */
  readonly firstSentAt: number
  sentAt: number
  sentHead: number
  resends: number
  /** When its nonce was first seen as taken by another. */
  doubtAt: number | undefined
  /** Its block was found again by `follow` since it was included. */
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

/** What the parts of the queue share. One process, one turn at a time: no part holds a copy over an await. */
export type Core = {
  readonly options: QueueOptions
  /** What has not ended, by key. */
  readonly works: Map<string, QueueWork>
  /** What waits for a transaction, in order of arrival. */
  waiting: QueueWork[]
  /** Not final, by nonce. */
  readonly open: Map<number, OpenTx>
  /** Of them those that are in no block. */
  readonly flying: Set<OpenTx>
  /** Told as reversed, or moved by somebody else, and the chain is not final about them yet. */
  readonly watched: Map<string, ChainTransferRow>
  watchedAt: number
  /** Has what the chain dropped sent again by whoever had sent it. */
  resend: ((order: TransferOrder) => Promise<void>) | undefined
  /** Those of which that is under way, by key. */
  readonly resending: Set<string>
  nextNonce: number
  head: Head | undefined
  headAt: number
  tip: bigint
  gasBalance: bigint | undefined
  /** When balance and tip were asked for. */
  purseAt: number
  held: QueueStatus['held']
  tokenPaused: boolean
  /** Smoothed time from sending to inclusion, milliseconds. */
  inclusionMs: number
  /** A transaction waits for a fee that the cap does not allow. */
  stuck: boolean
  /** Hash of the head at which receipts were read last, and when. */
  looked: Hex | undefined
  lookedAt: number
  /** The head when what is included was looked at last, and when. */
  canon: Head | undefined
  followedAt: number
  readonly tags: Tags
  /** Something was sent since receipts were last asked for. */
  dirty: boolean
  /** When receipts of it are asked for first, and how long after a send that is: as long as a node needs lately. */
  dueAt: number
  firstLookMs: number
  /** Sends without a reply, and when the head was last asked for or something sent. */
  unanswered: number
  askedAt: number
  /** When the transactions of the gas key were last counted, and whether something was in no block at the last look. */
  countedAt: number
  isMissing: boolean
  /** Transfers that went out together last: as many may come again at once. */
  crowd: number
  /** Blocks that were the head when somebody looked, the newest last. */
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

/** Heads that are remembered; those of a minute of blocks that come with each transaction. */
const MAX_LINE = 2_048

/** What a look found to be the newest block. */
export function seeHead(core: Core, head: Head): void {
  core.head = head
  core.headAt = core.options.wall()
  core.line.delete(head.hash)
  core.line.set(head.hash, head)
  const [oldest] = core.line.keys()
  if (core.line.size > MAX_LINE && oldest) core.line.delete(oldest)
}

/** Hashes by number, from a head back as far as each block was seen: one names the one before it. */
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

/** In no block yet, by nonce. */
export function inFlight({ flying }: Core): OpenTx[] {
  return [...flying].sort((a, b) => a.row.nonce - b.row.nonce)
}

export function noteError(core: Core, error: unknown): void {
  const message = error instanceof Error ? error.message : String(error)
  core.lastError = { at: core.options.wall(), message }
}

/** Passes a named place. */
export async function pass(core: Core, step: QueueStep): Promise<void> {
  if (core.options.step) await core.options.step(step)
}

export function isClosed({ closing }: Core): boolean {
  return closing.signal.aborted
}
