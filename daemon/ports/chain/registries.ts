import type { Hex, Wallet } from '../../../src/core/hex.ts'

/** ERC-8004 name of a registry: `eip155:<chain id>:<registry address>`, lower case. */
export function registryName(chainId: number, address: Wallet): string {
  return `eip155:${chainId}:${address}`
}

/** Agent identities: an ERC-721 token (ERC-8004). Ids start at 0, so do not treat 0 as missing. */
export type IdentityRegistry = {
  readonly address: Wallet
  /** Its `registryName`. */
  readonly name: string
  /**
   * Owner of an identity. Undefined if it does not exist, or if `registry` names another registry.
   * @param registry - compared with `name`, ignoring case
   */
  ownerOf(registry: string, agentId: bigint): Promise<Wallet | undefined>
  /** Registers a wallet as an agent; no chain with real money has this method. @returns the agent id */
  mint?(wallet: Wallet): Promise<bigint>
}

/** Arguments of `giveFeedback`; `id` is a permanent idempotency key. */
export type FeedbackOrder = {
  readonly id: string
  readonly agentId: bigint
  readonly client: Wallet
  readonly value: bigint
  readonly valueDecimals: number
  readonly tag1: string
  readonly tag2: string
  readonly endpoint: string
  readonly uri: string
  /** keccak-256 of the bytes at `uri`. */
  readonly hash: Hex
}

/** Why the registry refused; all but `unavailable` are final. */
export type WriteFailure = 'unknown_agent' | 'self_feedback' | 'value_out_of_range' | 'id_reused' | 'unavailable'

export type WriteResult =
  /** `already`: written by an earlier call with the same id. */
  { ok: true; transaction: Hex; already: boolean } | { ok: false; failure: WriteFailure }

export type SummaryQuery = {
  readonly agentId: bigint
  /** At least one client, as the registry requires. */
  readonly clients: readonly Wallet[]
  /** Empty: any. */
  readonly tag1: string
  readonly tag2: string
}

export type FeedbackSummary = { readonly count: bigint; readonly value: bigint; readonly valueDecimals: number }

/** Limit of decimals in the reference registry. */
const MAX_DECIMALS = 18
const MAX_VALUE = 10n ** 38n

export function isOutOfRange(value: bigint, decimals: number): boolean {
  return decimals < 0 || decimals > MAX_DECIMALS || value > MAX_VALUE || value < -MAX_VALUE
}

/** Feedback on agents (ERC-8004). */
export type ReputationRegistry = {
  readonly address: Wallet
  readonly name: string
  /** The marketplace's wallet, which sends feedback. */
  readonly client: Wallet
  /** This wallet, and those that sent feedback before it. */
  clients(): readonly Wallet[]
  /** When the promise resolves, the order is durable. */
  giveFeedback(order: FeedbackOrder): Promise<WriteResult>
  /** @throws RangeError if the query has no clients: the contract refuses that, too */
  getSummary(query: SummaryQuery): Promise<FeedbackSummary>
  /** All values of `tag2` that a client has used with `tag1`, sorted. */
  secondTags(query: { agentId: bigint; client: Wallet; tag1: string }): Promise<readonly string[]>
}

/** An evidence root to anchor for a subject; `id` is the idempotency key. */
export type AnchorOrder = { readonly id: string; readonly subject: Hex; readonly root: Hex; readonly uri: string }

export type Anchor = {
  readonly subject: Hex
  readonly root: Hex
  /** Number of this anchor among its subject's anchors, counted from 1. */
  readonly seq: number
  readonly uri: string
  readonly transaction: Hex
  /** Epoch milliseconds: the time of the block, or of the machine in a sandbox. */
  readonly at: number
}

/** Stores evidence roots in order of time; not part of ERC-8004. */
export type VerdictAnchors = {
  readonly address: Wallet
  /** When the promise resolves, the order is durable. */
  anchor(order: AnchorOrder): Promise<WriteResult>
  /** Latest anchors of a subject, newest first. */
  latest(subject: Hex, limit: number): Promise<readonly Anchor[]>
}

/** Decimals of the reference registry's sums. */
const SUM_DECIMALS = 18

export type Rated = { readonly value: bigint; readonly value_decimals: number }

/**
 * `getSummary` of the ERC-8004 reference registry. Computes the mean with 18 decimals, then truncates it to the number
 * of decimals that is most frequent among the values; on a tie, to the lowest.
 */
export function summaryOf(feedback: readonly Rated[]): FeedbackSummary {
  if (feedback.length === 0) return { count: 0n, value: 0n, valueDecimals: 0 }
  const used = new Map<number, number>()
  let sum = 0n
  for (const { value, value_decimals } of feedback) {
    used.set(value_decimals, (used.get(value_decimals) ?? 0) + 1)
    sum += value * 10n ** BigInt(SUM_DECIMALS - value_decimals)
  }
  const count = BigInt(feedback.length)
  const valueDecimals = mostUsed(used)
  return { count, value: sum / count / 10n ** BigInt(SUM_DECIMALS - valueDecimals), valueDecimals }
}

function mostUsed(used: ReadonlyMap<number, number>): number {
  const [most] = [...used].sort(([one, oneTimes], [other, otherTimes]) => otherTimes - oneTimes || one - other)
  return most?.[0] ?? 0
}
