import type { Authorization } from '../../../../../src/core/authorization.ts'
import type { Hex, Wallet } from '../../../../../src/core/hex.ts'
import type { Finality, Reversal, SettleResult } from '../../chain.ts'

/** Money that a signed authorization moves (EIP-3009); the same bytes again have the same outcome, moved once. */
export type TransferOrder = {
  readonly authorization: Authorization
  /** 65 bytes of a key, or what a contract wallet takes: up to `MAX_SIGNATURE_BYTES`. */
  readonly signature: Hex
  /** Buyers wait for payments; payouts and calls stand behind them. */
  readonly priority: 'payment' | 'payout'
  /** What to wait for before it is told as settled; `included` unless told otherwise. */
  readonly until?: Exclude<Finality, 'final'>
}

/** A call of a contract that must refuse the same `id` itself: nothing else holds against a lost store. */
export type CallOrder = {
  /** Idempotency key, unique for ever: the same again has the outcome of the first. */
  readonly id: string
  readonly to: Wallet
  readonly data: Hex
  /** Gas limit; estimated by the node where it is absent, and then refused without sending when it would revert. */
  readonly gas?: number
}

export type OrderOutcome =
  | { readonly ok: true; readonly transaction: Hex; readonly already: boolean; readonly logs: readonly EventLog[] }
  /** `data`: what the contract reverted with, where the node tells. `unavailable` is indeterminate: ask again. */
  | {
      readonly ok: false
      readonly failure: 'reverted' | 'unavailable'
      readonly sent: boolean
      readonly transaction?: Hex
      readonly data?: Hex
    }

/** An event of a transaction. */
export type EventLog = { readonly address: Wallet; readonly topics: readonly Hex[]; readonly data: Hex }

export type QueueStatus = {
  /** The highest block seen and how long ago its time was, milliseconds; undefined before the first look. */
  readonly head: { readonly number: number; readonly ageMs: number } | undefined
  /** Wei that the gas key holds, as last seen. */
  readonly gasBalance: bigint | undefined
  readonly signer: Wallet
  /** Orders that wait for a transaction. */
  readonly waiting: number
  /** Transactions that are sent and in no block yet. */
  readonly inFlight: number
  /** Age of the oldest of them, milliseconds; 0 without any. */
  readonly oldestMs: number
  /** Why nothing goes out although something waits: no gas, or a fee above the cap. */
  readonly held: 'gas' | 'fee' | undefined
  readonly tokenPaused: boolean
  readonly resent: number
  readonly replaced: number
  readonly reorged: number
  /** Must be 0: each is a loss. */
  readonly reversed: number
  /** When the latest was, epoch milliseconds; 0 without any. */
  readonly reversedAt: number
  /** Nonces that a transaction of somebody else took. */
  readonly foreignNonces: number
  /** Transactions that reverted as a whole, batches left aside: what is in those goes again by itself. */
  readonly failed: number
  readonly lastFailed: { readonly at: number; readonly id: string } | undefined
  readonly lastError: { readonly at: number; readonly message: string } | undefined
}

/**
 * The one writer of a gas key: orders become transactions whose bytes are durable before they are sent, so that
 * nothing is lost or moved twice whenever the process ends. Every call may be repeated with the same arguments.
 */
export type TxQueue = {
  /** Sends again what an earlier process left open, then takes orders. @throws QueueRefused */
  start(): Promise<void>
  settle(order: TransferOrder): Promise<SettleResult>
  /** Stands behind transfers. */
  call(order: CallOrder): Promise<OrderOutcome>
  status(): QueueStatus
  /** @returns the function that ends the subscription. */
  onReversed(listener: (reversal: Reversal) => void): () => void
  /**
   * Watches a transfer that somebody else's transaction moved until it is final: told as reversed where the chain undoes
   * it for good. Durable when it resolves.
   */
  followForeign(order: Omit<TransferOrder, 'priority'>, transaction: Hex): Promise<void>
  /** Who sends such a one again while that is possible. */
  onDropped(resend: (order: TransferOrder) => Promise<void>): void
  /** Ends all work; what is open is taken up at the next start. Waiting orders end as `unavailable`. */
  close(): Promise<void>
}

/** Why the queue does not start; the message is one sentence with the way out. */
export class QueueRefused extends Error {
  override readonly name = 'QueueRefused'
}
