import type { Hex, Wallet } from '../../../src/core/hex.ts'
import type { Usdc } from '../../../src/core/money.ts'
import type { escrowStates } from '../../../src/model/job.ts'

/** Terms of a job's deposit; only the deadline can change, to a later one. */
export type EscrowTerms = {
  readonly job: string
  /** Receiver on timeout and emergency. */
  readonly buyer: Wallet
  /** Receiver of a normal refund: the buyer, or `payTo` for balance payments. */
  readonly refundTo: Wallet
  /** Provider's net and marketplace's fee; together the price. */
  readonly net: Usdc
  readonly fee: Usdc
  /** Unix seconds of the chain; afterwards anyone may trigger the refund unless the work was delivered. */
  readonly deadline: bigint
}

export type EscrowState = (typeof escrowStates)[number]

/** Contract data of a job. */
export type EscrowDeal = Omit<EscrowTerms, 'job'> & {
  readonly state: EscrowState
  /** Delivered or disputed, so the timeout refund is closed. */
  readonly timeoutClosed: boolean
  /** The buyer's part of a split. */
  readonly toBuyer: Usdc
}

/** How a job's money left, and whether that is final. */
export type EscrowEnd = {
  readonly state: Exclude<EscrowState, 'none' | 'held'>
  /** Absent if older than the search range. */
  readonly transaction?: Hex
  readonly isFinal: boolean
}

/** Contract acts on a job's money. */
export type EscrowAct =
  | {
      readonly act: 'release' | 'refund' | 'emergencyWithdraw' | 'markDelivered' | 'markDisputed'
      readonly job: string
    }
  | { readonly act: 'resolve'; readonly job: string; readonly toBuyer: Usdc }
  | { readonly act: 'extend'; readonly job: string; readonly deadline: bigint }

/**
 * Why an act failed. `paused` is temporary; `ended`: the money left, possibly otherwise; `not_held`: no deposit;
 * `other_terms`: deposited with other terms; `refused` is permanent, with `reason`. `unavailable` is indeterminate:
 * ask again.
 */
export type EscrowFailure = 'paused' | 'ended' | 'not_held' | 'other_terms' | 'refused' | 'unavailable'

export type EscrowResult =
  /** `already`: done by an earlier call; transaction absent if unknown. */
  | { readonly ok: true; readonly already: boolean; readonly transaction?: Hex }
  | { readonly ok: false; readonly failure: EscrowFailure; readonly reason?: string }

/** The escrow contract. Calls may be repeated: the contract accepts a job once and releases it once. */
export type EscrowPort = {
  readonly address: Wallet
  /** From `payTo`, which signs exactly these terms. */
  deposit(terms: EscrowTerms): Promise<EscrowResult>
  act(act: EscrowAct): Promise<EscrowResult>
  /** Pauses or resumes deposits and releases. */
  setPaused(isPaused: boolean): Promise<EscrowResult>
  dealOf(job: string): Promise<EscrowDeal>
  /** Undefined while the money has not left, or was never there. */
  endOf(job: string): Promise<EscrowEnd | undefined>
  /** Total held money, and the pause state. */
  status(): Promise<{ readonly held: Usdc; readonly paused: boolean }>
}
