import type { Authorization, Network, TokenDomain } from '../../../src/core/authorization.ts'
import type { Hex, Wallet } from '../../../src/core/hex.ts'
import type { Usdc } from '../../../src/core/money.ts'
import type { IdentityRegistry, ReputationRegistry, VerdictAnchors } from './registries.ts'

export type ChainMode = 'sandbox' | 'devnet' | 'base-sepolia' | 'base'

/** Where money is made up here: faucet and clock are for such chains only (decisions §3). */
export function isTestMoney({ mode }: { readonly mode: ChainMode }): boolean {
  return mode === 'sandbox' || mode === 'devnet'
}

/**
 * Why a transfer did not happen. With all but `unavailable` nothing moved; whether the same bytes could succeed later
 * depends on time and funds, so a row whose bytes were sent is released only once its nonce is unused and its window
 * has passed. `unavailable` is indeterminate: something may have been sent, so ask `authorizationState` or settle
 * again. `token_paused` passes: settle again.
 */
export type SettleFailure =
  | 'insufficient_funds'
  | 'authorization_used'
  | 'authorization_cancelled'
  | 'authorization_expired'
  | 'authorization_not_yet_valid'
  | 'signature_invalid'
  /** The token refuses the payer, or the payee. */
  | 'payer_blocked'
  | 'token_paused'
  /** Refused by the token or by the payer's contract without a reason that is known. */
  | 'reverted'
  | 'unavailable'

export type SettleResult =
  /** `already`: moved by an earlier call; the transaction is that first one. */
  { ok: true; transaction: Hex; already: boolean } | SettleRefusal

/** `sent`: whether the signed bytes may be public, so that anyone can submit them until their window closes. */
export type SettleRefusal = { ok: false; failure: SettleFailure; sent: boolean; transaction?: Hex }

/** Money that leaves the marketplace; `id` is the idempotency key, unique for ever. */
export type PayoutOrder = { id: string; to: Wallet; amount: Usdc }

/** `payee_blocked`: the token refuses the payee, which only its issuer can change. */
export type TransferFailure = 'insufficient_funds' | 'id_reused' | 'payee_blocked' | 'token_paused' | 'unavailable'

export type TransferResult = { ok: true; transaction: Hex; already: boolean } | { ok: false; failure: TransferFailure }

/** `used` without a transaction: cancelled by the payer, or used in a way that left no transfer. */
export type AuthorizationState = { used: boolean; transaction?: Hex }

export type FaucetResult =
  | { ok: true; transaction: Hex; granted: Usdc; remainingToday: Usdc }
  | { ok: false; failure: 'daily_limit'; remainingToday: Usdc }

/**
 * Where the money of x402 payments lives. Implementations may be called again with the same arguments after a
 * crash at any point: `settle` is idempotent by (from, nonce) and `transfer` by payout id.
 */
export type ChainPort = {
  readonly mode: ChainMode
  /** The v1 network name that offers carry; the sandbox says `base` so that unmodified clients pay it. */
  readonly network: Network
  readonly caip2: string
  readonly chainId: number
  readonly asset: { readonly address: Wallet; readonly name: string; readonly version: string; readonly decimals: 6 }
  readonly payTo: Wallet
  /** ERC-8004 registries of the chain, and where verdicts are anchored. */
  readonly identityRegistry: IdentityRegistry
  readonly reputationRegistry: ReputationRegistry
  readonly verdictAnchors: VerdictAnchors
  /** False where no key to pay with is here: payouts wait for the operator. It pays where this is absent. */
  readonly pays?: boolean
  /** The asset's EIP-712 domain. */
  readonly domain: TokenDomain
  /** The 32 bytes that the payer of an authorization signs. */
  readonly digestOf: (authorization: Authorization) => Uint8Array
  balanceOf(wallet: Wallet): Promise<Usdc>
  authorizationState(from: Wallet, nonce: Hex): Promise<AuthorizationState>
  /** Moves an authorised value; durable when it resolves. Must be given the bytes that were verified. */
  settle(authorization: Authorization, signature: Hex): Promise<SettleResult>
  /** Pays from `payTo`; durable when it resolves. */
  transfer(payout: PayoutOrder): Promise<TransferResult>
  /** Test money for a wallet, absent where money is real. `nowMs` is the clock that a day is counted by. */
  faucet?(request: { wallet: Wallet; amount: Usdc; nowMs: number }): Promise<FaucetResult>
}
