import type { Hex, Wallet } from '../../../src/core/hex.ts'
import type { Usdc } from '../../../src/core/money.ts'
import type { escrowStates } from '../../../src/model/job.ts'

/** What a deposit of a job's money says; nothing of it but the deadline changes later, and that to later only. */
export type EscrowTerms = {
  readonly job: string
  /** Whom a timeout and an emergency pay, and nobody else. */
  readonly buyer: Wallet
  /** Where an ordinary refund goes: that buyer, or `payTo` where the books owe it to a balance. */
  readonly refundTo: Wallet
  /** What the provider gets and what the marketplace keeps; together what the buyer paid. */
  readonly net: Usdc
  readonly fee: Usdc
  /** Unix seconds by the chain's clock; from then on anyone may send the money back, unless the work was delivered. */
  readonly deadline: bigint
}

export type EscrowState = (typeof escrowStates)[number]

/** What the contract knows of a job. */
export type EscrowDeal = Omit<EscrowTerms, 'job'> & {
  readonly state: EscrowState
  /** Delivered or disputed: waiting does not win the money any more. */
  readonly timeoutClosed: boolean
  /** What a split gave back. */
  readonly toBuyer: Usdc
}

/** How a job's money left the contract, and whether no reorganisation can undo that any more. */
export type EscrowEnd = {
  readonly state: Exclude<EscrowState, 'none' | 'held'>
  /** Absent where it lies further back than is searched. */
  readonly transaction?: Hex
  readonly isFinal: boolean
}

/** How a job's money leaves, or what happened to its work. */
export type EscrowAct =
  | {
      readonly act: 'release' | 'refund' | 'emergencyWithdraw' | 'markDelivered' | 'markDisputed'
      readonly job: string
    }
  | { readonly act: 'resolve'; readonly job: string; readonly toBuyer: Usdc }
  | { readonly act: 'extend'; readonly job: string; readonly deadline: bigint }

/**
 * Why the contract did not do it. `paused` ends by itself with the pause; `ended`: the money left, or left otherwise than
 * asked; `not_held`: no deposit; `other_terms`: the job was deposited under other ones; `refused` is for good, by `reason`.
 * With `unavailable` nothing is known: ask again.
 */
export type EscrowFailure = 'paused' | 'ended' | 'not_held' | 'other_terms' | 'refused' | 'unavailable'

export type EscrowResult =
  /** `already`: done by an earlier call; without a transaction where that is not known here. */
  | { readonly ok: true; readonly already: boolean; readonly transaction?: Hex }
  | { readonly ok: false; readonly failure: EscrowFailure; readonly reason?: string }

/**
 * Money of jobs in a contract. Every call may be repeated with the same arguments: the contract takes a job once and lets
 * its money go once, whoever asks and however often.
 */
export type EscrowPort = {
  readonly address: Wallet
  /** From `payTo`, whose key signs these terms and no others. */
  deposit(terms: EscrowTerms): Promise<EscrowResult>
  act(act: EscrowAct): Promise<EscrowResult>
  /** Stops deposits and releases, or lets them go on. */
  setPaused(isPaused: boolean): Promise<EscrowResult>
  dealOf(job: string): Promise<EscrowDeal>
  /** Undefined while its money has not left, or has never been there. */
  endOf(job: string): Promise<EscrowEnd | undefined>
  /** What it holds of all jobs, and whether it is paused. */
  status(): Promise<{ readonly held: Usdc; readonly paused: boolean }>
}
