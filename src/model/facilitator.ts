import type { Wallet } from '../core/hex.ts'
import type { Usdc } from '../core/money.ts'

/**
 * A settlement for somebody else's server: `sent` (the chain was, or is about to be, asked to move the money),
 * `settled` (it moved, and nobody has heard of it yet), `handed` (its one success was handed out).
 */
export const facilitatedStates = ['sent', 'settled', 'handed'] as const

/** Whom a facilitator settles for, and how much; what is not said here is as `facilitatorDefaults` has it. */
export type FacilitatorConfig = {
  /** Payees that any key may settle for, besides the wallet of its own participant. */
  readonly payTo?: readonly Wallet[]
  /** Smallest value that it settles for a key: each settlement costs gas. */
  readonly minValue?: Usdc
  /** Gas that the settlements of one key may cost on one day (UTC). */
  readonly dailyGas?: number
  /** How long a caller waits for a settlement before it is told that it is pending. */
  readonly waitMs?: number
}
