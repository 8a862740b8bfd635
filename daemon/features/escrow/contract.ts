import type { Wallet } from '../../../src/core/hex.ts'
import { defineResource } from '../../kernel/context.ts'
import { defineHook } from '../../kernel/hook.ts'
import type { EscrowPort, EscrowResult } from '../../ports/chain/escrow.ts'
import type { Draw, Tx } from '../../store/port.ts'

/** Result of pausing or resuming the contract: the failure, or what `write` returned after success. */
export type SwitchedContract<T> = Extract<EscrowResult, { ok: false }> | { readonly ok: true; readonly written: T }

/** Keeps the escrow contract and the books in step, in both directions. */
export type ContractMirror = {
  readonly port: EscrowPort
  /** Checks the contract for external calls (pause, claims of buyers, withdrawals). Never throws. */
  readonly look: () => Promise<void>
  /**
   * Whether all refunds to a wallet have left the contract. Waits briefly for refunds in flight. Pay the wallet only if
   * this is true. Otherwise the contract might pay it, too.
   */
  readonly hasReturned: (wallet: Wallet) => Promise<boolean>
  /** Sets or ends the contract's pause, then calls `write`. Until `write` returns, the books ignore that pause. */
  readonly setPaused: <T>(isPaused: boolean, write: () => Promise<T>) => Promise<SwitchedContract<T>>
  /**
   * Emergency: makes the contract pay a job's buyer immediately. The caller then records the payment with the job.
   * Undefined if the contract holds nothing for the job.
   */
  readonly withdraw: (jobId: string) => Promise<EscrowResult | undefined>
  readonly close: () => Promise<void>
}

export const contractMirror = defineResource<ContractMirror | undefined>('escrow-contract')

/** A payment that the contract itself made to a job's buyer. */
export type LeftContract = {
  readonly jobId: string
  readonly how: 'timed_out' | 'withdrawn'
  /** Business time. */
  readonly at: number
}

/** Called when the contract paid a job's buyer. Updates books and job in one transaction. */
export const leftContract = defineHook<[t: Tx, draw: Draw, left: LeftContract]>('left-contract')
