import type { Authorization, chainNetworks, Network, TokenDomain } from '../../../src/core/authorization.ts'
import type { Hex, Wallet } from '../../../src/core/hex.ts'
import { type Usdc, usdc } from '../../../src/core/money.ts'
import type { ChainTxState, KeyRole, keyStates } from '../../../src/model/payment.ts'
import type { Tx } from '../../store/port.ts'
import type { EscrowPort } from './escrow.ts'
import type { IdentityRegistry, ReputationRegistry, VerdictAnchors } from './registries.ts'

export type ChainMode = keyof typeof chainNetworks

/** Whether the chain has test money, which faucet and clock require (decisions §3). */
export function isTestMoney({ mode }: { readonly mode: ChainMode }): boolean {
  return mode === 'sandbox' || mode === 'devnet'
}

/**
 * Why a transfer failed. With `unavailable` the outcome is unknown: call `authorizationState`, or settle again. With
 * any other failure no money moved; a retry may succeed later, depending on time and funds. `token_paused` is
 * temporary. `wallet_unsupported`: the payer is an undeployed contract wallet whose factory is not allowed.
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
   * Whether the signed bytes were ever sent. If so, anyone who has them may submit them until the authorization
   * expires, so the reservation stays open. If not, the refusal is final, except `unavailable` and `token_paused`.
   */
  readonly sent: boolean
  readonly transaction?: Hex
}

/** The refusal of a transfer whose bytes were not sent. */
export function unsent(failure: SettleFailure): SettleRefusal {
  return { ok: false, failure, sent: false }
}

export type SettleResult =
  /** `already`: an earlier call moved the money, with this `transaction`. */
  { ok: true; transaction: Hex; already: boolean } | SettleRefusal

/** Moves the authorised amount; durable when the promise resolves. Pass exactly the bytes that were verified. */
export type SettleAuthorization = {
  (authorization: Authorization, signature: Hex): Promise<SettleResult>
  /** Settles within a store transaction; present only if the store itself holds the money. A refusal writes nothing. */
  readonly within?: (authorization: Authorization, signature: Hex) => (t: Tx) => Promise<SettleResult>
}

export type VerifyResult = { readonly ok: true } | { readonly ok: false; readonly failure: SettleFailure }

/**
 * A payout from the marketplace; `id` is a permanent idempotency key. `from` is the pay-to address that signed it first
 * (default: the first one of this marketplace).
 */
export type PayoutOrder = { id: string; to: Wallet; amount: Usdc; from?: Wallet | undefined }

/** Why a payout failed. Every failure except `id_reused` may be temporary, so retry with the same order. */
export type TransferFailure =
  | 'insufficient_funds'
  | 'id_reused'
  | 'payee_blocked'
  | 'token_paused'
  | 'reverted'
  | 'unavailable'

export type TransferResult = { ok: true; transaction: Hex; already: boolean } | { ok: false; failure: TransferFailure }

/**
 * `included`: in a block. `confirmed`: not above the chain's `safe` block. `final`: not above its `finalized` block.
 */
export type Finality = 'included' | 'confirmed' | 'final'

/** The block that an answer refers to; `timestamp` in unix seconds of the chain. */
export type AsOf = { readonly block: number; readonly timestamp: number; readonly finality: Finality }

/** `used` without `transaction`: the payer cancelled the authorization, or the transfer was not found. */
export type AuthorizationState = { used: boolean; transaction?: Hex; readonly asOf: AsOf }

/** A settled transfer that the chain reverted permanently. */
export type Reversal = {
  readonly from: Wallet
  readonly nonce: Hex
  readonly value: bigint
  readonly transaction: Hex
  /** The final transaction that moved the money after all, so there is no loss. */
  readonly returned?: Hex
}

export type ChainFaultCode =
  | 'silent'
  | 'gas_empty'
  | 'gas_signer'
  | 'payout_signer'
  | 'gas_low'
  | 'node_down'
  | 'node_behind'
  | 'reorged'
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
  readonly sentence: string
  readonly transaction?: string
}

/** State of a node. `node` is only its host and port, because the whole URL may contain a key. */
export type ChainNode = { readonly node: string; readonly head: number | null; readonly error: string | null }

/** Last seen status of a connected chain; gas balance in wei. */
export type ChainStatus = {
  readonly health: 'ok' | 'degraded' | 'down'
  /** Problems; those that stop payments come first. */
  readonly faults: readonly ChainFault[]
  /** The preferred first. */
  readonly nodes: readonly ChainNode[]
  readonly head: { readonly block: number; readonly ageSeconds: number } | null
  /** Number of blocks that the preferred node is behind the highest head seen. */
  readonly lagBlocks: number
  readonly gas: { readonly address: Wallet; readonly wei: bigint; readonly payments: number } | null
  /** Number of orders that have no transaction yet. */
  readonly waiting: number
  readonly inFlight: number
  /** Age of the oldest transaction that is in no block. */
  readonly oldestSeconds: number | null
  /** Why waiting orders are not sent: too little gas money, a gas price above the limit, or a signer that fails. */
  readonly held: 'gas' | 'fee' | 'signer' | null
  readonly tokenPaused: boolean
  /** Number of the gas key's nonces that another program has used since the daemon started. */
  readonly foreignNonces: number
  readonly failed: number
  readonly resent: number
  readonly replaced: number
  readonly reorged: number
  /** Number of permanently reverted settlements; each one is a loss. */
  readonly reversed: number
  readonly lastError: string | null
}

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
  /** Order id of a call; null for transfers. */
  readonly call: string | null
  readonly transfers: readonly {
    readonly from: Wallet
    readonly to: Wallet
    readonly value: bigint
    readonly nonce: Hex
    readonly state: 'open' | 'moved' | 'undone' | 'failed'
  }[]
  /** Hashes of all versions sent for the nonce, oldest first. Any of these versions may be mined. */
  readonly hashes: readonly Hex[]
  /** Fee limit of the latest version, in wei per gas. */
  readonly maxFee: bigint
  readonly sentAt: number
  readonly included: {
    readonly hash: Hex
    readonly block: number
    readonly ok: boolean
    readonly at: number
    readonly costWei?: bigint | undefined
  } | null
}

/** Query for all transactions, newest first, or for the open ones only, oldest first. */
export type ChainTxSlice = { readonly isOpen: boolean; readonly limit: number; readonly offset: number }

export type ChainTransactions = {
  /** Lists transactions. `isOpen`: only those that are not final. */
  page(slice: ChainTxSlice): Promise<{ readonly rows: readonly ChainTransaction[]; readonly total: number }>
  /** Finds a transaction by its id, nonce or mined hash, or by any of its hashes if it is not final yet. */
  find(id: string): Promise<ChainTransaction | undefined>
  /**
   * Removes final transactions last written before `before`, except contract calls, whose ids prevent repeats.
   * @param isNeeded - whether a transfer's outcome may still be queried
   * @returns the number of removed transactions
   */
  sweep(before: number, isNeeded: (from: Wallet, nonce: Hex) => Promise<boolean>): Promise<number>
}

/** An address that receives, or received, the payments of this marketplace. */
export type PayToAddress = {
  readonly address: Wallet
  /** Wall time until which payments to it are taken; Infinity for the address that is quoted. */
  readonly until: number
}

/** A key of the operator. `next` is not in use yet, `retiring` is replaced and still followed, `retired` may be deleted. */
export type OperatorKey = {
  readonly address: Wallet
  readonly role: KeyRole
  readonly state: (typeof keyStates)[number]
  /** Wall time of the latest change of state; 0 for a first key. */
  readonly since: number
  /** Wall time until which payments to a replaced address are taken. */
  readonly until: number | null
  readonly leaked: boolean
  /** Amount of USDC moved to the address that replaced this one. */
  readonly swept: Usdc
}

/** The next key of a role: in a file (a devnet makes its own), or the key of the signer that has this address. */
export type KeyOrder = {
  readonly role: KeyRole
  readonly source?: string | undefined
  readonly address?: Wallet | undefined
}

export type OperatorKeys = {
  list(): Promise<readonly OperatorKey[]>
  /**
   * Prepares the next key of a role, stored with its source, and marks the replaced one as leaked if it is. Returns the
   * prepared key if there is one already.
   * @throws AppError about the new key
   */
  prepare(order: KeyOrder): Promise<OperatorKey>
  markLeaked(address: Wallet): Promise<void>
  /** Puts a prepared key in the place of the current one. Can be repeated after a crash. */
  replace(role: KeyRole): Promise<void>
  /**
   * Moves what a pay-to address holds above `keep` to the prepared or current one, at most once per amount. A replaced
   * gas key loses its roles and its ETH.
   * @returns what is left (USDC, or wei that are worth a move); undefined if the outcome is not known yet
   */
  sweep(address: Wallet, keep: bigint): Promise<bigint | undefined>
  retire(address: Wallet): Promise<void>
}

/** All pay-to addresses that may hold money: the quoted one, then those that its key replaced. */
export function payeesOf(chain: Pick<ChainPort, 'payTo' | 'payees'>): readonly PayToAddress[] {
  return chain.payees?.() ?? [{ address: chain.payTo, until: Number.POSITIVE_INFINITY }]
}

/** Whether a pay-to address may hold money of this marketplace. */
export function isOwn(chain: Pick<ChainPort, 'payTo' | 'payees'>, wallet: string): boolean {
  return payeesOf(chain).some(({ address }) => address === wallet)
}

/** The address that a payment signed for `to` must pay: `to` itself while its quotes last, else the quoted address. */
export function payeeFor(chain: Pick<ChainPort, 'payTo' | 'payees'>, to: Wallet | undefined, wallNow: number): Wallet {
  return payeesOf(chain).find(({ address, until }) => address === to && wallNow < until)?.address ?? chain.payTo
}

export async function hotBalance(chain: Pick<ChainPort, 'payTo' | 'payees' | 'balanceOf'>): Promise<Usdc> {
  const held = await Promise.all(payeesOf(chain).map(({ address }) => chain.balanceOf(address)))
  return usdc(held.reduce((sum, one) => sum + one, 0n))
}

/** A transfer into or out of a pay-to address; `nonce` of the authorization that moved it, if one did. */
export type MoneyMove = {
  /** `<transaction>:<log index>`. */
  readonly id: string
  readonly from: Wallet
  readonly to: Wallet
  readonly value: Usdc
  readonly transaction: Hex
  readonly nonce?: Hex
}

export type Movements = {
  readonly rows: readonly MoneyMove[]
  readonly deposits: readonly Hex[]
  /** Whether everything that happened before the start is final. */
  readonly isWhole: boolean
}

/** What the chain did after the backup from which the store was restored. */
export type CatchUp = {
  /** Whether movements may still be missing in the books. Until then nothing is paid out. */
  isDue(): boolean
  /** Transfers since the backup that no reorganisation can undo any more. @throws RpcUnavailableError */
  movements(): Promise<Movements>
  /** Called when all movements are in the books. */
  end(): Promise<void>
  /**
   * Transfers of a wallet to a pay-to address in final blocks, a bounded number of them.
   * @param since - first block (default: that of the first start)
   * @returns also the first block that was not read
   */
  received(from: Wallet, since?: number): Promise<{ readonly rows: readonly MoneyMove[]; readonly next: number }>
}

/** Limit of test money per wallet and day (decisions §3). */
export const FAUCET_DAILY_LIMIT = usdc(1_000_000_000n)

export type FaucetResult =
  | { ok: true; transaction: Hex; granted: Usdc; remainingToday: Usdc }
  | { ok: false; failure: 'daily_limit'; remainingToday: Usdc }

/**
 * The chain that holds x402 money. Calls may be repeated with the same arguments after a crash: `settle` is idempotent
 * by (from, nonce), `transfer` by payout id.
 */
export type ChainPort = {
  readonly mode: ChainMode
  /** Network name in x402 v1 offers. The sandbox uses `base`, so that unmodified clients can pay. */
  readonly network: Network
  readonly caip2: string
  readonly chainId: number
  readonly asset: { readonly address: Wallet; readonly name: string; readonly version: string; readonly decimals: 6 }
  readonly payTo: Wallet
  /** All pay-to addresses in use, the quoted one first; absent on a chain whose keys cannot change. */
  payees?(): readonly PayToAddress[]
  /** Rotation of the operator's keys; absent on a chain without keys. */
  readonly keys?: OperatorKeys
  readonly identityRegistry: IdentityRegistry
  readonly reputationRegistry: ReputationRegistry
  readonly verdictAnchors: VerdictAnchors
  /** Escrow contract; absent if the marketplace holds money only in its books. */
  readonly escrow?: EscrowPort
  /** Whether the daemon has a payout key (default: true). Without one, payouts wait for the operator. */
  readonly pays?: boolean
  /** The asset's EIP-712 domain. */
  readonly domain: TokenDomain
  readonly digestOf: (authorization: Authorization) => Uint8Array
  balanceOf(wallet: Wallet): Promise<Usdc>
  /** @param finality - required finality (default: `included`) */
  authorizationState(from: Wallet, nonce: Hex, finality?: Finality): Promise<AuthorizationState>
  /** Whether an authorization would settle now. Checks signature, window, nonce and funds. */
  verify(authorization: Authorization, signature: Hex): Promise<VerifyResult>
  /**
   * Whether the contract at `from` accepts the signature (ERC-1271, ERC-6492); false if there is no contract. Absent on
   * a chain without contracts.
   */
  isContractSignature?(authorization: Authorization, signature: Hex): Promise<boolean>
  readonly settle: SettleAuthorization
  /** Pays from a pay-to address; durable when the promise resolves. */
  transfer(payout: PayoutOrder): Promise<TransferResult>
  /** Connection and pending work; absent for a sandbox ledger. */
  status?(): ChainStatus
  /**
   * Reports every permanent reversal, past ones too. Reports a reversal again if the money moves after all.
   * @returns the function that ends the subscription
   */
  onReversed?(listener: (reversal: Reversal) => void): () => void
  /** Reports events for metrics. @returns the function that ends the subscription */
  observe?(listener: (event: ChainEvent) => void): () => void
  readonly catchUp?: CatchUp
  /** Stores the latest block, just before a backup. */
  noteSeen?(): Promise<void>
  readonly transactions: ChainTransactions
  /** Grants test money to a wallet; absent with real money. `nowMs` decides the day of the daily limit. */
  faucet?(request: { wallet: Wallet; amount: Usdc; nowMs: number }): Promise<FaucetResult>
}
