import type { Wallet } from '../../../src/core/hex.ts'
import { defineHook } from '../../kernel/hook.ts'
import { defineResource } from '../../kernel/resource.ts'
import type { EscrowPort, EscrowResult } from '../../ports/chain/escrow.ts'
import type { Draw } from '../../store/draw.ts'
import type { Tx } from '../../store/port.ts'

/** The contract was switched, and what its writing gave. */
export type SwitchedContract<T> = Extract<EscrowResult, { ok: false }> | { readonly ok: true; readonly written: T }

/** Keeps the contract as the books want it. */
export type ContractMirror = {
  readonly port: EscrowPort
  /** Looks for what others did with the contract: its pause, claims of buyers, withdrawals. Never throws. */
  readonly look: () => Promise<void>
  /**
   * Whether all that the contract gives back for a wallet's refunds is there; waits a little for what is on its way.
   * Before that the wallet may still be paid by the contract itself, and is not paid here.
   */
  readonly hasReturned: (wallet: Wallet) => Promise<boolean>
  /** Switches the contract, then runs what writes it down; nothing else tells the books about its pause meanwhile. */
  readonly setPaused: <T>(isPaused: boolean, write: () => Promise<T>) => Promise<SwitchedContract<T>>
  /**
   * Has the contract pay a job's buyer at once, in an emergency; the caller then notes it with what becomes of the job.
   * Undefined where nothing of the job lies there.
   */
  readonly withdraw: (jobId: string) => Promise<EscrowResult | undefined>
  readonly close: () => Promise<void>
}

/** Undefined where no contract holds the money of jobs. */
export const contractMirror = defineResource<ContractMirror | undefined>('escrow-contract')

/** Money of a job that the contract paid to its buyer by itself: all of it, and not through the books. */
export type LeftContract = {
  readonly jobId: string
  readonly how: 'timed_out' | 'withdrawn'
  /** Business time. */
  readonly at: number
}

/** The job follows: the books lose the money in the transaction that notes it. */
export const leftContract = defineHook<[t: Tx, draw: Draw, left: LeftContract]>('left-contract')
