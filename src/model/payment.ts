import type { Wallet } from '../core/hex.ts'
import type { Usdc } from '../core/money.ts'

/**
 * Life of a payment (decisions §4): `reserved → settling → settled → fulfilled`, or `released`
 * (nothing was taken), or `refunded`, or `reversed` (the chain undid it for good after it had settled). A row that settles last stores what its run returned in the
 * same write that makes it `settling`: executed and about to be settled are one durable step.
 */
export const paymentStates = [
  'reserved',
  'settling',
  'settled',
  'fulfilled',
  'released',
  'refunded',
  'reversed',
] as const

/**
 * A settlement for somebody else's server: `sent` (the chain was, or is about to be, asked to move the money),
 * `settled` (it moved, and nobody has heard of it yet), `handing` (its one success is on its way; where the daemon ended
 * meanwhile, nobody knows whether it arrived), `handed` (it left whole).
 */
export const facilitatedStates = ['sent', 'settled', 'handing', 'handed'] as const

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

/** How a chain is reached and who signs on it; nothing of it where money is a ledger inside the daemon. */
export type ChainSetup = {
  /** Nodes of the chain, the preferred first; a devnet without any has a node of its own. */
  readonly rpcUrls: readonly string[]
  /** The program that runs a devnet; it is looked for unless named. */
  readonly anvil?: string
  /** A devnet makes a block every so many seconds instead of one a transaction. */
  readonly blockTimeS?: number
  /** Files with the key that receives payments and pays out, and with the one that pays for gas. */
  readonly payToKeyFile?: string
  readonly gasKeyFile?: string
  /** Nothing is offered above it for a unit of gas. */
  readonly maxFeeGwei?: number
  /** Payments above it wait for more than one block: decimal USDC. */
  readonly instantLimit?: string
  /** Factories whose wallets are deployed with their first payment: addresses. */
  readonly walletFactories?: readonly string[]
  /** Facilitator of somebody else that sends the payments of buyers; the nodes say what became of them. */
  readonly settleThrough?: string
  /** Somebody typed that the money is real. */
  readonly realMoney?: boolean
}

/**
 * Life of a transaction of the gas key: `signed` (its bytes are stored, and go out until they are in a block), then
 * `included`, `confirmed` and `final` as the chain says; `superseded`: somebody else's took its nonce.
 */
export const chainTxStates = ['signed', 'included', 'confirmed', 'final', 'superseded'] as const
export type ChainTxState = (typeof chainTxStates)[number]

/** Gauge of the metrics that names what recovers signatures, in its label `engine`. */
export const RECOVERY_METRIC = 'souk_signature_recovery'
