import { z } from 'zod'
import { Micro } from '../core/codecs.ts'
import { type Usdc, usdc } from '../core/money.ts'

/** Account kinds, which are the prefixes of account names (decisions §5). */
export const accountKinds = [
  'ext',
  'bal',
  'hold',
  'esc',
  'prov',
  'fees',
  'ops',
  'refp',
  'ref',
  'rfd',
  'out',
  'blk',
  'oper',
  'cold',
] as const
export type AccountKind = (typeof accountKinds)[number]

/**
 * Accounts of a statement. `wallet`: paid from, or refunded to, the wallet itself. The last three are the operator's, and
 * have the names of their ledger accounts.
 */
export const statementAccounts = ['wallet', 'balance', 'earnings', 'referrals', 'fees', 'ops', 'oper'] as const
export type StatementAccount = (typeof statementAccounts)[number]

/** Kinds of accounts whose money has an owner and a next event. */
export const heldKinds = ['esc', 'hold', 'rfd', 'out', 'refp', 'blk'] as const satisfies readonly AccountKind[]
export type HeldKind = (typeof heldKinds)[number]

/** Words for held money by kind. For money of a job, the job's state is shown instead. */
export const heldWords: Readonly<Record<HeldKind, string>> = {
  esc: 'in escrow',
  hold: 'being paid',
  rfd: 'refund',
  out: 'payout',
  refp: 'reward',
  blk: 'kept back',
}

export function isHeld(kind: AccountKind): kind is HeldKind {
  return heldKinds.some((held) => held === kind)
}

/** @throws RangeError on an unknown kind */
export function accountKind(name: string): AccountKind {
  const kind = accountKinds.find((candidate) => name === candidate || name.startsWith(`${candidate}:`))
  if (!kind) throw new RangeError(`${name} is not an account`)
  return kind
}

/** Owner in an account name; empty for the marketplace. */
export function accountOwner(name: string): string {
  const colon = name.indexOf(':')
  return colon < 0 ? '' : name.slice(colon + 1)
}

/** Whether an account may be negative: only `ext`, the outside world, and `cold`, the operator's cold address, may. */
export const mayBeNegative = (name: string): boolean => name === 'ext' || name === 'cold'

/** A movement between two accounts, written `A → B x` in the posting table. */
export type Leg = {
  readonly from: string
  readonly to: string
  readonly amount: Usdc
  /** For a referral share: which side was referred, and its participant id (null if not registered). */
  readonly share?: { readonly role: 'agent' | 'provider'; readonly referredId: string | null }
}

/** One account's gain or loss in an entry. */
export const LedgerLine = z.strictObject({ account: z.string(), delta: Micro })
export type LedgerLine = z.infer<typeof LedgerLine>

/** Combines legs to one line per account, without zeros, in order of first use. @throws RangeError on a negative leg */
export function linesOf(legs: readonly Leg[]): LedgerLine[] {
  const deltas = new Map<string, bigint>()
  for (const { from, to, amount } of legs) {
    if (amount < 0n) throw new RangeError(`negative leg ${from} → ${to}`)
    deltas.set(from, (deltas.get(from) ?? 0n) - amount)
    deltas.set(to, (deltas.get(to) ?? 0n) + amount)
  }
  return [...deltas].filter(([, delta]) => delta !== 0n).map(([account, delta]) => ({ account, delta: usdc(delta) }))
}

/** Types of balance history entries (decisions §4). */
export const historyTypes = [
  'deposit',
  'withdrawal',
  'purchase',
  'escrow_hold',
  'refund',
  'release',
  'referral',
  'fee',
  'adjustment',
] as const
export type HistoryType = (typeof historyTypes)[number]

/** Entry kinds, each with its name in a balance history; null if the entry changes no balance. */
export const entryKinds = {
  balance_hold: 'purchase',
  balance_release: 'release',
  deposit: 'deposit',
  fixed_price_call: null,
  escrow_hold: null,
  instant_sale: null,
  product_sale: null,
  subscription: null,
  renewal: 'purchase',
  escrow_release: null,
  refund: 'refund',
  dispute_split: 'refund',
  payout: 'withdrawal',
  payout_confirmed: null,
  payout_failed: 'withdrawal',
  blocked: null,
  unblocked: null,
  referral_due: null,
  referral_withdrawal: 'referral',
  settlement: null,
  splitter: null,
  adjustment: 'adjustment',
  /** A payment that the chain reverted. */
  reversal: 'adjustment',
} as const satisfies Record<string, HistoryType | null>
export type EntryKind = keyof typeof entryKinds

/** Kinds of entries that have a provider's part and a fee. */
export const saleKinds: ReadonlySet<EntryKind> = new Set([
  'instant_sale',
  'product_sale',
  'subscription',
  'renewal',
  'escrow_release',
  'dispute_split',
])
