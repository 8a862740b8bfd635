import { join } from 'node:path'
import { z } from 'zod'
import { invalidField } from '../../core/error.ts'
import { formatPrice, parseAmount, type Usdc, usdc } from '../../core/money.ts'
import { keysOf } from '../../core/record.ts'
import { readJson, writeJson } from '../files.ts'
import type { Places } from '../settings.ts'

/** Names per list. */
const NAMES_MAX = 200
const NAME_CHARS_MAX = 256
/** Name of a payee: `ID@INSTANCE` (a seller or item), `market@INSTANCE` (fees), a wallet address, or an instance. */
const NAME = /^[\w.:/[\]-]+(@[\w.:/[\]-]+)?$/

/** How error messages name each spending limit. */
export const limits = {
  per_payment: 'a payment',
  per_command: 'all payments of a command',
  per_day: 'all payments of any 24 hours',
  per_seller: 'payments to one seller in any 24 hours',
  ask_above: 'a payment without approval',
} as const
export type LimitName = keyof typeof limits
export const limitNames = keysOf(limits)

const Limit = z.string().refine((text) => parseAmount(text) !== undefined, 'must be an amount such as 5.00')
const Name = z.string().max(NAME_CHARS_MAX).regex(NAME)
const Names = z.array(Name).max(NAMES_MAX)

/** The spending policy of a wallet. Limits are in decimal USDC; without a limit, amounts are unlimited. */
export const SpendPolicy = z.strictObject({
  per_payment: Limit.optional(),
  per_command: Limit.optional(),
  per_day: Limit.optional(),
  per_seller: Limit.optional(),
  /** Payments above this need approval. */
  ask_above: Limit.optional(),
  /** If the list is not empty, only payees on it may be paid. */
  allow: Names,
  /** Payees that are never paid, even if `allow` has them. */
  deny: Names,
})
export type SpendPolicy = z.output<typeof SpendPolicy>

/** Policies by wallet address in lower case, so that renaming a wallet keeps its policy. */
const Policies = z.record(z.string(), SpendPolicy)

/** A payee, with all names that an allow or deny list may use for it. */
export type Recipient = {
  /** Selected instance: `local`, a remote's name, or an address. */
  readonly at: string
  /** Id of the instance, under which its credentials are saved. */
  readonly instance: string
  /** Seller, as the instance names it. `market` for fees, null if unknown. */
  readonly seller: string | null
  /** Id of the listing, plan, product, request or thread. */
  readonly subject: string | null
  /** Address that is paid, lower case. */
  readonly payTo: string | null
}

/** USDC paid in the last 24 hours: in total, and to the seller. */
export type SpentTotals = { readonly day: Usdc; readonly seller: Usdc }

/** Totals of the last 24 hours, and what this command has paid. */
type AllTotals = SpentTotals & { readonly command: Usdc }

export type Proposed = { readonly price: Usdc; readonly payee: Recipient }

export type Broken = {
  readonly rule: LimitName | 'allow' | 'deny'
  readonly message: string
  /** Arguments of `wallet policy set NAME` that would make the policy allow the payment. */
  readonly change: readonly string[]
}

type Config = Pick<Places, 'config'>

function fileOf(places: Config): string {
  return join(places.config, 'spending.json')
}

/** A wallet's policy; undefined without one. @throws AppError if the file is damaged, so that nothing is signed */
export function policyOf(places: Config, wallet: string): SpendPolicy | undefined {
  return readJson(fileOf(places), Policies)?.[wallet.toLowerCase()]
}

/** @throws AppError `invalid_request` for an invalid limit or name */
export function keepPolicy(places: Config, wallet: string, policy: SpendPolicy): SpendPolicy {
  const parsed = SpendPolicy.safeParse(policy)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    throw invalidField(issue?.path.join('.') ?? 'policy', issue?.message ?? 'cannot be kept')
  }
  writeJson(fileOf(places), { ...readJson(fileOf(places), Policies), [wallet.toLowerCase()]: parsed.data })
  return parsed.data
}

/** First rule that a payment violates; undefined if it violates none. */
export function brokenRule(policy: SpendPolicy, { price, payee }: Proposed, totals: AllTotals): Broken | undefined {
  const denied = policy.deny.find((name) => isNamed(name, payee))
  if (denied !== undefined) {
    return { rule: 'deny', message: `${denied} is on the deny list`, change: ['--remove', denied] }
  }
  if (policy.allow.length > 0 && !policy.allow.some((name) => isNamed(name, payee))) {
    const name = nameOf(payee)
    return { rule: 'allow', message: `${name} is not on the allow list`, change: ['--allow', name] }
  }
  const before: Partial<Record<LimitName, Usdc>> = {
    per_command: totals.command,
    per_seller: totals.seller,
    per_day: totals.day,
  }
  for (const rule of ['per_payment', 'per_command', 'per_seller', 'per_day'] as const) {
    const limit = policy[rule] === undefined ? undefined : parseAmount(policy[rule])
    const used = before[rule] ?? usdc(0n)
    if (limit === undefined || used + price <= limit) continue
    const already = used === 0n ? '' : `, and ${formatPrice(used)} is already authorised`
    const message = `the price is ${formatPrice(price)}${already}; the limit of ${limits[rule]} is ${formatPrice(limit)}`
    return { rule, message, change: [flagOf(rule), formatPrice(used + price).slice(1)] }
  }
  return undefined
}

/** The option of `wallet policy set` that changes a limit. */
export function flagOf(rule: LimitName): string {
  return `--${rule.replaceAll('_', '-')}`
}

export function needsAsking({ ask_above: above }: SpendPolicy, price: Usdc): boolean {
  const limit = above === undefined ? undefined : parseAmount(above)
  return limit !== undefined && price > limit
}

/** Name of a payee for an allow or deny list; the instance if seller and item are unknown. */
export function nameOf({ at, seller, subject }: Recipient): string {
  const named = seller ?? subject
  return named === null ? at : `${named}@${at}`
}

/** An id matches only with its instance, since other instances may use the same id. */
function isNamed(name: string, { at, instance, seller, subject, payTo }: Recipient): boolean {
  const found = /^([a-z0-9_]+)@(.+)$/i.exec(name)
  const [id, where] = [found?.[1] ?? null, found?.[2] ?? name]
  if (id === null) return [at, instance].includes(name) || (payTo !== null && name.toLowerCase() === payTo)
  return [at, instance].includes(where) && [seller, subject].includes(id)
}
