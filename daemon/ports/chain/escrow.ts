import type { Hex, Wallet } from '../../../src/core/hex.ts'
import type { Usdc } from '../../../src/core/money.ts'
import type { escrowStates } from '../../../src/model/job.ts'

/** Terms of a job's deposit; only the deadline can change, to a later one. */
export type EscrowTerms = {
  readonly job: string
  /** Receives the money on a timeout and on an emergency withdrawal. */
  readonly buyer: Wallet
  /** Receives the refunds that do not go to `buyer`. The daemon sets `payTo`, and its books then pay the buyer. */
  readonly refundTo: Wallet
  /** The provider's part; `net` and `fee` add up to the price. */
  readonly net: Usdc
  readonly fee: Usdc
  /** Unix seconds of the chain. After the deadline, anyone may trigger the refund, unless `timeoutClosed`. */
  readonly deadline: bigint
}

export type EscrowState = (typeof escrowStates)[number]

/** A job's record in the escrow contract. */
export type EscrowDeal = Omit<EscrowTerms, 'job'> & {
  readonly state: EscrowState
  /** Whether the work was delivered or disputed, after which a timeout gives no refund. */
  readonly timeoutClosed: boolean
  /** The buyer's part of a split. */
  readonly toBuyer: Usdc
}

/** How a job's money left the contract, and whether that is final. */
export type EscrowEnd = {
  readonly state: Exclude<EscrowState, 'none' | 'held'>
  /** Absent if the transaction is older than the searched blocks. */
  readonly transaction?: Hex
  readonly isFinal: boolean
}

export type EscrowAct =
  | {
      readonly act: 'release' | 'refund' | 'emergencyWithdraw' | 'markDelivered' | 'markDisputed'
      readonly job: string
    }
  | { readonly act: 'resolve'; readonly job: string; readonly toBuyer: Usdc }
  | { readonly act: 'extend'; readonly job: string; readonly deadline: bigint }

/**
 * Why a contract call failed. `paused` is temporary. `ended`: the money has left already, possibly by another kind of
 * call. `not_held`: there is no deposit. `other_terms`: the deposit has different terms than the call. `refused` is
 * permanent, with `reason`. `unavailable`: the outcome is unknown; ask again.
 */
export type EscrowFailure = 'paused' | 'ended' | 'not_held' | 'other_terms' | 'refused' | 'unavailable'

export type EscrowResult =
  /** `already`: an earlier call succeeded. `transaction` is absent if unknown. */
  | { readonly ok: true; readonly already: boolean; readonly transaction?: Hex }
  | { readonly ok: false; readonly failure: EscrowFailure; readonly reason?: string }

/** The escrow contract. Calls may be repeated, because it accepts and releases each job's deposit only once. */
export type EscrowPort = {
  readonly address: Wallet
  /** Deposits money of `payTo`, whose key signs exactly these terms. */
  deposit(terms: EscrowTerms): Promise<EscrowResult>
  act(act: EscrowAct): Promise<EscrowResult>
  /** Pauses or resumes deposits, releases and splits. */
  setPaused(isPaused: boolean): Promise<EscrowResult>
  dealOf(job: string): Promise<EscrowDeal>
  /** How the money left the contract; undefined if it is still there, or there was no deposit. */
  endOf(job: string): Promise<EscrowEnd | undefined>
  status(): Promise<{ readonly held: Usdc; readonly paused: boolean }>
}
