import type { Authorization } from '../../../../../src/core/authorization.ts'
import type { Hex, Wallet } from '../../../../../src/core/hex.ts'
import type { Finality, Reversal, SettleResult } from '../../chain.ts'
import type { Signer } from '../../key.ts'

/** A transfer by signed authorization (EIP-3009). A repeated order has the same outcome. */
export type TransferOrder = {
  readonly authorization: Authorization
  /** A key's signature (65 bytes), or a contract wallet's (up to `MAX_SIGNATURE_BYTES`). */
  readonly signature: Hex
  /** Payments go first, because buyers wait for them. */
  readonly priority: 'payment' | 'payout'
  /** Required finality (default: `included`). */
  readonly until?: Exclude<Finality, 'final'>
}

/** A contract call; the contract itself must refuse a repeated `id`, in case the store is lost. */
export type CallOrder = {
  /** Permanent idempotency key. */
  readonly id: string
  readonly to: Wallet
  readonly data: Hex
  /** Gas limit. If absent it is estimated, and a call that would revert is refused without being sent. */
  readonly gas?: number
  /** The gas key that sends the call (default: the current one). Such a call does not wait while keys change. */
  readonly from?: Wallet
  /** Also moves the sender's ETH, except this amount in wei and the gas; refused if there is not more. */
  readonly leaves?: bigint
}

export type OrderOutcome =
  | { readonly ok: true; readonly transaction: Hex; readonly already: boolean; readonly logs: readonly EventLog[] }
  /** `data`: revert data if known. `unavailable`: the outcome is unknown; ask again. */
  | {
      readonly ok: false
      readonly failure: 'reverted' | 'unavailable'
      readonly sent: boolean
      readonly transaction?: Hex
      readonly data?: Hex
    }

export type EventLog = { readonly address: Wallet; readonly topics: readonly Hex[]; readonly data: Hex }

export type QueueStatus = {
  /** Highest block seen and its age in milliseconds; undefined before the first. */
  readonly head: { readonly number: number; readonly ageMs: number } | undefined
  /** Last seen gas balance in wei. */
  readonly gasBalance: bigint | undefined
  readonly signer: Wallet
  readonly waiting: number
  /** Number of sent transactions that are in no block. */
  readonly inFlight: number
  /** Age of the oldest transaction in flight, in milliseconds; 0 if none. */
  readonly oldestMs: number
  readonly held: 'gas' | 'fee' | 'signer' | undefined
  readonly tokenPaused: boolean
  readonly resent: number
  readonly replaced: number
  readonly reorged: number
  /** Time of the latest reorganisation that dropped a transaction, epoch milliseconds; 0 if none. */
  readonly reorgedAt: number
  readonly reversed: number
  /** Time of the latest permanent reversal, epoch milliseconds; 0 if none. */
  readonly reversedAt: number
  readonly foreignNonces: number
  /** Number of reverted transactions. Batches are not counted, because their items are retried. */
  readonly failed: number
  readonly lastFailed: { readonly at: number; readonly id: string } | undefined
  readonly lastError: { readonly at: number; readonly message: string } | undefined
}

/**
 * The only sender for a gas key. It stores signed bytes durably before it sends them, so no order is lost or carried
 * out twice. Calls may be repeated with the same arguments.
 */
export type TxQueue = {
  /** Resends an earlier process's transactions, then accepts orders. @throws QueueRefused, RpcUnavailableError */
  start(): Promise<void>
  settle(order: TransferOrder): Promise<SettleResult>
  /** Waits behind transfers. */
  call(order: CallOrder): Promise<OrderOutcome>
  status(): QueueStatus
  /**
   * Lets another gas key send. Orders wait until those in flight are in a block and `handOver` has resolved. It sends
   * the last calls of the old key, which name it as `from`. If it throws, the old key goes on.
   */
  changeSigner(next: Signer, handOver: () => Promise<void>): Promise<void>
  /** Stops following the transactions of a replaced gas key, which must all be final. */
  forget(signer: Wallet): Promise<void>
  /** @returns the function that ends the subscription. */
  onReversed(listener: (reversal: Reversal) => void): () => void
  /** Watches another facilitator's transfer for a reversal until it is final. Resolves when the order is durable. */
  followForeign(order: Omit<TransferOrder, 'priority'>, transaction: Hex): Promise<void>
  onDropped(resend: (order: TransferOrder) => Promise<void>): void
  /** Stops all work; the next `start` continues it. Callers that still wait get `unavailable`. */
  close(): Promise<void>
}

/** Thrown when the queue refuses to start. The message is one sentence with the remedy. */
export class QueueRefused extends Error {
  override readonly name = 'QueueRefused'
}
