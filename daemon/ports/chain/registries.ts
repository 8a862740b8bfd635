import type { Hex, Wallet } from '../../../src/core/hex.ts'

/** `eip155:<chain id>:<registry address>`, lower case: how ERC-8004 names a registry. */
export function registryName(chainId: number, address: Wallet): string {
  return `eip155:${chainId}:${address}`
}

/** Identities of agents, an ERC-721 (ERC-8004). The first agent id is 0: never take it for a missing one. */
export type IdentityRegistry = {
  readonly address: Wallet
  /** `registryName` of it. */
  readonly name: string
  /**
   * Owner of an identity; undefined when there is none, and for a registry that this chain does not know.
   * @param registry - as `name`, in any case
   */
  ownerOf(registry: string, agentId: bigint): Promise<Wallet | undefined>
  /** Registers a wallet anew; absent where identities cost real money. @returns the agent id. */
  mint?(wallet: Wallet): Promise<bigint>
}

/** What `giveFeedback` is called with; `id` is the idempotency key, unique for ever. */
export type FeedbackOrder = {
  readonly id: string
  readonly agentId: bigint
  /** Who speaks: the wallet that signs. */
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

/** Why the registry took nothing; all but `unavailable` are final. */
export type WriteFailure = 'unknown_agent' | 'self_feedback' | 'value_out_of_range' | 'id_reused' | 'unavailable'

export type WriteResult =
  /** `already`: written by an earlier call with the same id. */
  { ok: true; transaction: Hex; already: boolean } | { ok: false; failure: WriteFailure }

export type SummaryQuery = {
  readonly agentId: bigint
  /** At least one: the registry answers for named clients only. */
  readonly clients: readonly Wallet[]
  /** Empty: any. */
  readonly tag1: string
  readonly tag2: string
}

export type FeedbackSummary = { readonly count: bigint; readonly value: bigint; readonly valueDecimals: number }

/** Bounds of the reference registry. */
const MAX_DECIMALS = 18
const MAX_VALUE = 10n ** 38n

export function isOutOfRange(value: bigint, decimals: number): boolean {
  return decimals < 0 || decimals > MAX_DECIMALS || value > MAX_VALUE || value < -MAX_VALUE
}

/** What clients say of agents (ERC-8004). */
export type ReputationRegistry = {
  readonly address: Wallet
  readonly name: string
  /** As whom this marketplace speaks: the registry takes whoever sends for the client. */
  readonly client: Wallet
  /** Durable when it resolves. */
  giveFeedback(order: FeedbackOrder): Promise<WriteResult>
  /** @throws RangeError without clients, as the contract reverts. */
  getSummary(query: SummaryQuery): Promise<FeedbackSummary>
  /** Second tags that a client used with a first tag for an agent, sorted. */
  secondTags(query: { agentId: bigint; client: Wallet; tag1: string }): Promise<readonly string[]>
}

/** A root that is said to stand for a subject; `id` is the idempotency key. */
export type AnchorOrder = { readonly id: string; readonly subject: Hex; readonly root: Hex; readonly uri: string }

export type Anchor = {
  readonly subject: Hex
  readonly root: Hex
  /** Number among those of its subject, from 1. */
  readonly seq: number
  readonly uri: string
  readonly transaction: Hex
  /** Epoch milliseconds of the machine. */
  readonly at: number
}

/** Which evidence stood for a subject when; no part of ERC-8004. */
export type VerdictAnchors = {
  readonly address: Wallet
  /** Durable when it resolves. */
  anchor(order: AnchorOrder): Promise<WriteResult>
  /** The latest ones of a subject, newest first. */
  latest(subject: Hex, limit: number): Promise<readonly Anchor[]>
}

/** Precision in which the reference registry adds. */
const SUM_DECIMALS = 18

export type Rated = { readonly value: bigint; readonly value_decimals: number }

/**
 * `getSummary` of the ERC-8004 reference registry: the mean in 18 decimals, truncated to the number of
 * decimals that was used most often; the lowest wins a tie.
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
