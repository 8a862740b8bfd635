import type { Wallet } from '../core/hex.ts'
import type { Usdc } from '../core/money.ts'

/**
 * Payment states (decisions §4): `reserved → settling → settled → fulfilled`, or `released` (nothing taken),
 * `refunded`, or `reversed` (reverted permanently). If a payment settles after the handler, the write that makes it
 * `settling` also stores the handler's result.
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
 * States of facilitated settlements: `sent`; `settled` (success not delivered yet); `handing` (success being delivered
 * or, after a crash, perhaps delivered); `handed` (success delivered).
 */
export const facilitatedStates = ['sent', 'settled', 'handing', 'handed'] as const

/** Facilitator options; defaults in `facilitatorDefaults`. */
export type FacilitatorConfig = {
  /** Payees allowed for every facilitator key, in addition to the wallet of the key. */
  readonly payTo?: readonly Wallet[]
  /** Smallest amount settled, since each settlement costs gas. */
  readonly minValue?: Usdc
  /** Gas limit per key and UTC day. */
  readonly dailyGas?: number
  /** Wait before `pending`. */
  readonly waitMs?: number
}

/** Chain connection and keys; absent in a sandbox. */
export type ChainSetup = {
  /** Nodes, preferred first. A devnet without nodes starts its own node. */
  readonly rpcUrls: readonly string[]
  /** Devnet program (default: found automatically). */
  readonly anvil?: string
  /** Devnet block interval (default: one block per transaction). */
  readonly blockTimeS?: number
  /** Key file of the wallet that receives payments and pays payouts; `gasKeyFile` is for the wallet that pays gas. */
  readonly payToKeyFile?: string
  readonly gasKeyFile?: string
  /** Program or server that signs for the keys of these addresses, in place of key files. */
  readonly signer?: string
  readonly payToAddress?: string
  readonly gasAddress?: string
  /** Passphrase of encrypted key files; a function, so that no copy of the configuration shows it. */
  readonly passphrase?: () => string
  /** Highest gas price. */
  readonly maxFeeGwei?: number
  /** Payments above this, in decimal USDC, wait for more than one block. */
  readonly instantLimit?: string
  /** Factory contracts of wallets that are deployed with their first payment. */
  readonly walletFactories?: readonly string[]
  /** External facilitator for buyers' payments; the daemon checks its settlements on the chain. */
  readonly settleThrough?: string
  /** Whether the operator confirmed real money by typing. */
  readonly realMoney?: boolean
}

/**
 * Transaction states: `signed` (stored and being sent), `included`, `confirmed`, `final`; `superseded`: another
 * transaction used its nonce.
 */
export const chainTxStates = ['signed', 'included', 'confirmed', 'final', 'superseded'] as const
export type ChainTxState = (typeof chainTxStates)[number]

/** Keys of the operator: `pay_to` receives payments and signs payouts, `gas` sends all transactions and owns the contracts. */
export const keyRoles = ['pay_to', 'gas'] as const
export type KeyRole = (typeof keyRoles)[number]
export const keyStates = ['next', 'current', 'retiring', 'retired'] as const

/** What gas pays for: payments of buyers, payouts and refunds, calls of the escrow contract, all other calls. */
export const gasActs = ['sale', 'payout', 'escrow', 'other'] as const
export type GasAct = (typeof gasActs)[number]

/** Kinds of sale that differ in gas: by the house; instant or with escrow, by signature; and from a balance. */
export const saleCostKinds = ['first_party', 'instant', 'escrowed', 'balance'] as const
export type SaleCostKind = (typeof saleCostKinds)[number]

/** Metric whose label `engine` names the engine that recovers signers. */
export const RECOVERY_METRIC = 'souk_signature_recovery'
