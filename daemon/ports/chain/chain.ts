import type { Authorization, chainNetworks, Network, TokenDomain } from '../../../src/core/authorization.ts'
import type { Hex, Wallet } from '../../../src/core/hex.ts'
import { type Usdc, usdc } from '../../../src/core/money.ts'
import type { ChainTxState } from '../../../src/model/payment.ts'
import type { Tx } from '../../store/port.ts'
import type { EscrowPort } from './escrow.ts'
import type { IdentityRegistry, ReputationRegistry, VerdictAnchors } from './registries.ts'

export type ChainMode = keyof typeof chainNetworks

/** Where money is made up here: faucet and clock are for such chains only (decisions §3). */
export function isTestMoney({ mode }: { readonly mode: ChainMode }): boolean {
  return mode === 'sandbox' || mode === 'devnet'
}

/**
 * Why a transfer did not happen. With all but `unavailable` nothing moved; whether the same bytes could succeed later
 * depends on time and funds. `token_paused` passes; `wallet_unsupported` is a contract wallet that is not deployed yet,
 * by a factory that is not allowed here. `unavailable` is indeterminate: ask `authorizationState` or settle again.
 */
export type SettleFailure =
  | 'insufficient_funds'
  | 'authorization_used'
  | 'authorization_cancelled'
  | 'authorization_expired'
  | 'authorization_not_yet_valid'
  | 'signature_invalid'
  | 'wallet_unsupported'
  | 'payer_blocked'
  | 'token_paused'
  | 'reverted'
  | 'unavailable'

export type SettleRefusal = {
  readonly ok: false
  readonly failure: SettleFailure
  /**
   * Whether the signed bytes have ever left for the chain: who has them may submit them until their window closes, so
   * what they promise stays open until then. Where nothing was sent, a refusal is the end of it.
   */
  readonly sent: boolean
  /** What was sent, where something was. */
  readonly transaction?: Hex
}

export type SettleResult =
  /** `already`: moved by an earlier call; the transaction is that first one. */
  { ok: true; transaction: Hex; already: boolean } | SettleRefusal

/** Moves an authorised value; durable when it resolves. Must be given the bytes that were verified. */
export type SettleAuthorization = {
  (authorization: Authorization, signature: Hex): Promise<SettleResult>
  /** Where money lies in the store: the same as a part of a transaction. Made ready before it; a refusal writes nothing. */
  readonly within?: (authorization: Authorization, signature: Hex) => (t: Tx) => Promise<SettleResult>
}

/** Whether an authorization would settle now, without settling it. */
export type VerifyResult = { readonly ok: true } | { readonly ok: false; readonly failure: SettleFailure }

/** Money that leaves the marketplace; `id` is the idempotency key, unique for ever. */
export type PayoutOrder = { id: string; to: Wallet; amount: Usdc }

/** All but `id_reused` may pass: the same order is sent again. */
export type TransferFailure =
  | 'insufficient_funds'
  | 'id_reused'
  | 'payee_blocked'
  | 'token_paused'
  | 'reverted'
  | 'unavailable'

export type TransferResult = { ok: true; transaction: Hex; already: boolean } | { ok: false; failure: TransferFailure }

/** How sure an answer is: in a block; beyond what the chain calls `safe`; beyond what it calls `finalized`. */
export type Finality = 'included' | 'confirmed' | 'final'

/** The block that an answer holds at; `timestamp` in unix seconds, by the chain's own clock. */
export type AsOf = { readonly block: number; readonly timestamp: number; readonly finality: Finality }

/** `used` without a transaction: cancelled by the payer, or used in a way that left no transfer. */
export type AuthorizationState = { used: boolean; transaction?: Hex; readonly asOf: AsOf }

/** A settled transfer that the chain undid for good: its money did not move after all. */
export type Reversal = {
  readonly from: Wallet
  readonly nonce: Hex
  readonly value: bigint
  readonly transaction: Hex
  /** The transaction that moved it after all, once no reorganisation can undo that any more: it is no loss. */
  readonly returned?: Hex
}

/** What may be wrong with a chain. */
export type ChainFaultCode =
  | 'silent'
  | 'gas_empty'
  | 'gas_low'
  | 'node_down'
  | 'facilitator'
  | 'head_late'
  | 'stuck'
  | 'failed'
  | 'fee_cap'
  | 'token_paused'
  | 'reversed'
  | 'nonce_taken'

export type ChainFault = {
  readonly code: ChainFaultCode
  /** What is wrong, with the way out. */
  readonly sentence: string
  /** The transaction that it is about. */
  readonly transaction?: string
}

/** A node that the chain is reached by: host and port, never its whole address, which may hold a key. */
export type ChainNode = { readonly node: string; readonly head: number | null; readonly error: string | null }

/** How a connected chain is, as last seen; money of the gas key in wei. */
export type ChainStatus = {
  readonly health: 'ok' | 'degraded' | 'down'
  /** Each thing that is wrong, those that stop payments first. */
  readonly faults: readonly ChainFault[]
  /** The preferred first. */
  readonly nodes: readonly ChainNode[]
  readonly head: { readonly block: number; readonly ageSeconds: number } | null
  /** Blocks that the node which is asked lies behind the highest head ever seen. */
  readonly lagBlocks: number
  readonly gas: { readonly address: Wallet; readonly wei: bigint; readonly payments: number } | null
  /** Orders that wait for a transaction, and transactions that wait for a block. */
  readonly waiting: number
  readonly inFlight: number
  /** Of the oldest transaction that is in no block. */
  readonly oldestSeconds: number | null
  /** Why nothing goes out although something waits. */
  readonly held: 'gas' | 'fee' | null
  readonly tokenPaused: boolean
  /** Nonces of the gas key that somebody else's transaction took; all of these since the start. */
  readonly foreignNonces: number
  readonly failed: number
  readonly resent: number
  readonly replaced: number
  readonly reorged: number
  /** Must be 0: each is a loss. */
  readonly reversed: number
  readonly lastError: string | null
}

/** Something to count. */
export type ChainEvent =
  | { readonly kind: 'asked'; readonly method: string; readonly seconds: number; readonly fault?: string }
  | { readonly kind: 'sent'; readonly what: 'batch' | 'single' | 'call'; readonly items: number }
  | { readonly kind: 'included'; readonly seconds: number; readonly gasUsed: bigint; readonly ok: boolean }
  | { readonly kind: 'resent' | 'replaced' | 'reorged' | 'superseded' | 'reversed' | 'confirmed' | 'final' }

/** A transaction of the gas key; times in epoch milliseconds of the machine. */
export type ChainTransaction = {
  /** `<signer>:<nonce>`. */
  readonly id: string
  readonly nonce: number
  readonly to: Wallet
  readonly state: ChainTxState
  /** Id of the order, where it is a call and carries no transfers. */
  readonly call: string | null
  readonly transfers: readonly {
    readonly from: Wallet
    readonly to: Wallet
    readonly value: bigint
    readonly nonce: Hex
    readonly state: 'open' | 'moved' | 'undone' | 'failed'
  }[]
  /** Of every set of bytes that went out for the nonce, the latest last; any of them may be mined. */
  readonly hashes: readonly Hex[]
  /** Wei for each unit of gas that the latest offers at most. */
  readonly maxFee: bigint
  readonly sentAt: number
  readonly included: { readonly hash: Hex; readonly block: number; readonly ok: boolean; readonly at: number } | null
}

/** Which transactions of the gas key, the newest first. */
export type ChainTxSlice = { readonly isOpen: boolean; readonly limit: number; readonly offset: number }

/** What went to the chain, and what became of it. */
export type ChainTransactions = {
  /** `isOpen`: only those that are not final. */
  page(slice: ChainTxSlice): Promise<{ readonly rows: readonly ChainTransaction[]; readonly total: number }>
  /** By its id, its nonce, or any of its hashes. */
  find(id: string): Promise<ChainTransaction | undefined>
  /**
   * Forgets final ones that were last written before a time, but for calls, whose ids answer a repeat.
   * @param isNeeded - whether somebody may still ask what became of a transfer
   * @returns how many went
   */
  sweep(before: number, isNeeded: (from: Wallet, nonce: Hex) => Promise<boolean>): Promise<number>
}

/** Most test money that one wallet gets in a day (decisions §3). */
export const FAUCET_DAILY_LIMIT = usdc(1_000_000_000n)

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
  /** Where jobs' money waits in a contract; absent where the books alone hold it. */
  readonly escrow?: EscrowPort
  /** False where no key to pay with is here: payouts wait for the operator. It pays where this is absent. */
  readonly pays?: boolean
  /** The asset's EIP-712 domain. */
  readonly domain: TokenDomain
  /** The 32 bytes that the payer of an authorization signs. */
  readonly digestOf: (authorization: Authorization) => Uint8Array
  balanceOf(wallet: Wallet): Promise<Usdc>
  /** @param finality - how sure the answer has to be; `included` unless given. */
  authorizationState(from: Wallet, nonce: Hex, finality?: Finality): Promise<AuthorizationState>
  /** Whether it would settle now: signature, window, nonce, funds. Moves nothing. */
  verify(authorization: Authorization, signature: Hex): Promise<VerifyResult>
  /**
   * Whether the contract at `from` takes the signature as its own (ERC-1271, ERC-6492); false for a wallet without
   * code. Absent where no contracts are.
   */
  isContractSignature?(authorization: Authorization, signature: Hex): Promise<boolean>
  readonly settle: SettleAuthorization
  /** Pays from `payTo`; durable when it resolves. */
  transfer(payout: PayoutOrder): Promise<TransferResult>
  /** How the chain is reached and what is under way; absent where it is a ledger in the store. */
  status?(): ChainStatus
  /**
   * Tells of each settlement that the chain undid for good, and of those whose money came back after that; again after a
   * restart, so that none is missed.
   * @returns the function that ends the subscription.
   */
  onReversed?(listener: (reversal: Reversal) => void): () => void
  /** Tells of everything there is to count. @returns the function that ends it. */
  observe?(listener: (event: ChainEvent) => void): () => void
  /** What was sent. */
  readonly transactions: ChainTransactions
  /** Test money for a wallet, absent where money is real. `nowMs` is the clock that a day is counted by. */
  faucet?(request: { wallet: Wallet; amount: Usdc; nowMs: number }): Promise<FaucetResult>
}
