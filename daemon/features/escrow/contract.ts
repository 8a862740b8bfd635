import type { Wallet } from '../../../src/core/hex.ts'
import { defineHook } from '../../kernel/hook.ts'
import { defineResource } from '../../kernel/resource.ts'
import type { EscrowPort, EscrowResult } from '../../ports/chain/escrow.ts'
import type { Draw } from '../../store/draw.ts'
import type { Tx } from '../../store/port.ts'

/** A failed switch of the contract, or what `write` returned after a successful one. */
export type SwitchedContract<T> = Extract<EscrowResult, { ok: false }> | { readonly ok: true; readonly written: T }

/** Keeps the contract in step with the books. */
export type ContractMirror = {
  readonly port: EscrowPort
  /** Checks the contract for external calls: pause, claims of buyers, withdrawals. Never throws. */
  readonly look: () => Promise<void>
  /**
   * Whether all refunds to a wallet have left the contract; waits briefly for those in flight. Pay the wallet only
   * then, because until then the contract may still pay it, too.
   */
  readonly hasReturned: (wallet: Wallet) => Promise<boolean>
  /** Pauses or resumes the contract, then calls `write`; nothing else updates the pause in between. */
  readonly setPaused: <T>(isPaused: boolean, write: () => Promise<T>) => Promise<SwitchedContract<T>>
  /**
   * In an emergency, has the contract pay a job's buyer immediately; the caller then records it with the job. Undefined
   * if the contract holds nothing for the job.
   */
  readonly withdraw: (jobId: string) => Promise<EscrowResult | undefined>
  readonly close: () => Promise<void>
}

export const contractMirror = defineResource<ContractMirror | undefined>('escrow-contract')

/** Money that the contract itself paid to a job's buyer. */
export type LeftContract = {
  readonly jobId: string
  readonly how: 'timed_out' | 'withdrawn'
  /** Business time. */
  readonly at: number
}

/** Called when money left the contract: the same transaction removes it from the books and updates the job. */
export const leftContract = defineHook<[t: Tx, draw: Draw, left: LeftContract]>('left-contract')
