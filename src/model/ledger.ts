import { z } from 'zod'
import { Micro } from '../core/codecs.ts'
import { type Usdc, usdc } from '../core/money.ts'

/** Kinds of accounts: what stands before the colon of a name (decisions §5). */
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
] as const
export type AccountKind = (typeof accountKinds)[number]

/** Kinds whose money waits for something: each non-zero account has an owner and a next event with a time. */
export const heldKinds = ['esc', 'hold', 'rfd', 'out', 'refp', 'blk'] as const satisfies readonly AccountKind[]
export type HeldKind = (typeof heldKinds)[number]

export function isHeld(kind: AccountKind): kind is HeldKind {
  return heldKinds.some((held) => held === kind)
}

/** @throws RangeError on a name of no kind: money never moves to an account that nobody reads. */
export function accountKind(name: string): AccountKind {
  const kind = accountKinds.find((candidate) => name === candidate || name.startsWith(`${candidate}:`))
  if (!kind) throw new RangeError(`${name} is no account`)
  return kind
}

/** Who an account belongs to: what stands behind the colon; empty for those of the marketplace. */
export function accountOwner(name: string): string {
  const colon = name.indexOf(':')
  return colon < 0 ? '' : name.slice(colon + 1)
}

/** Only the chain may be negative: what came in from it. */
export const mayBeNegative = (name: string): boolean => name === 'ext'

/** Money that moves from one account to another; `A → B x` of the posting table. */
export type Leg = {
  readonly from: string
  readonly to: string
  readonly amount: Usdc
  /** Of a share in a fee: which side of the sale was referred, and who that is where it is registered. */
  readonly share?: { readonly role: 'agent' | 'provider'; readonly referredId: string | null }
}

/** One line of a transaction: what an account gains (positive) or gives (negative). */
export const LedgerLine = z.strictObject({ account: z.string(), delta: Micro })
export type LedgerLine = z.infer<typeof LedgerLine>

/**
 * Nets legs into one line per account, in first-seen order; what cancels out is left out.
 * @throws RangeError on a negative leg: money never moves backwards under a forward name.
 */
export function linesOf(legs: readonly Leg[]): LedgerLine[] {
  const deltas = new Map<string, bigint>()
  for (const { from, to, amount } of legs) {
    if (amount < 0n) throw new RangeError(`negative leg ${from} → ${to}`)
    deltas.set(from, (deltas.get(from) ?? 0n) - amount)
    deltas.set(to, (deltas.get(to) ?? 0n) + amount)
  }
  return [...deltas].filter(([, delta]) => delta !== 0n).map(([account, delta]) => ({ account, delta: usdc(delta) }))
}

/** Types of a balance history entry (decisions §4). */
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

/**
 * Every kind of transaction, and what its line of a balance is called in that balance's history;
 * null where no balance moves.
 */
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
  /** What could not be sent is back: an entry that gains. */
  payout_failed: 'withdrawal',
  blocked: null,
  unblocked: null,
  referral_due: null,
  referral_withdrawal: 'referral',
  settlement: null,
  splitter: null,
  adjustment: 'adjustment',
  /** A payment that the chain undid: what it had brought in is taken out again. */
  reversal: 'adjustment',
} as const satisfies Record<string, HistoryType | null>
export type EntryKind = keyof typeof entryKinds

/** Kinds whose money divides into what a provider gets and what the marketplace keeps. */
export const saleKinds: ReadonlySet<EntryKind> = new Set([
  'instant_sale',
  'product_sale',
  'subscription',
  'renewal',
  'escrow_release',
  'dispute_split',
])
