import { join } from 'node:path'
import { z } from 'zod'
import { invalidField } from '../../core/error.ts'
import { formatPrice, parseAmount, type Usdc, usdc } from '../../core/money.ts'
import { keysOf } from '../../core/record.ts'
import { readJson, writeJson } from '../files.ts'
import type { Places } from '../paths.ts'

/** Names on either list of a policy. */
const NAMES_MAX = 200
const NAME_CHARS_MAX = 256
/** A participant, listing, plan, product or posting of one instance, `market` for its own fees; an address; an instance. */
const NAME = /^[\w.:/[\]-]+(@[\w.:/[\]-]+)?$/

/** What each limit is about, in the words of a refusal. */
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

/** What a wallet may sign for: USDC as decimal text; what is absent is not limited. */
export const SpendPolicy = z.strictObject({
  per_payment: Limit.optional(),
  per_command: Limit.optional(),
  per_day: Limit.optional(),
  per_seller: Limit.optional(),
  /** A person is asked about a payment above it. */
  ask_above: Limit.optional(),
  /** Where it holds names, nobody else is paid. */
  allow: Names,
  /** Never paid, whatever `allow` says. */
  deny: Names,
})
export type SpendPolicy = z.output<typeof SpendPolicy>

/** Policies by wallet address, lower-case: another name for the same key changes nothing. */
const Policies = z.record(z.string(), SpendPolicy)

/** Who gets a payment, by every name that a list may hold. */
export type Recipient = {
  /** The instance as it is chosen here: `local`, the name of a remote, an address. */
  readonly at: string
  /** Under which name its credentials are kept: one and the same whatever it is called. */
  readonly instance: string
  /** Whoever sells, as the instance says; `market` for fees of its own; null where that is not known. */
  readonly seller: string | null
  /** What the call names: a listing, a plan, a product, a posting, a thread. */
  readonly subject: string | null
  /** Whom the signature pays, lower-case. */
  readonly payTo: string | null
}

/** What was agreed to before, in USDC. */
export type SpentTotals = { readonly day: Usdc; readonly seller: Usdc }

/** The same with what this command agreed to. */
type AllTotals = SpentTotals & { readonly command: Usdc }

export type Proposed = { readonly price: Usdc; readonly payee: Recipient }

/** Which rule stands in the way. */
export type Broken = {
  readonly rule: LimitName | 'allow' | 'deny'
  readonly message: string
  /** What would let it pass: the words behind `wallet policy set`. */
  readonly change: readonly string[]
}

type Config = Pick<Places, 'config'>

function fileOf(places: Config): string {
  return join(places.config, 'spending.json')
}

/** @returns undefined where none was set. @throws AppError for a damaged file: nothing is signed then. */
export function policyOf(places: Config, wallet: string): SpendPolicy | undefined {
  return readJson(fileOf(places), Policies)?.[wallet.toLowerCase()]
}

/** @throws AppError invalid_request for a limit or a name that cannot be one. */
export function keepPolicy(places: Config, wallet: string, policy: SpendPolicy): SpendPolicy {
  const parsed = SpendPolicy.safeParse(policy)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    throw invalidField(issue?.path.join('.') ?? 'policy', issue?.message ?? 'cannot be kept')
  }
  writeJson(fileOf(places), { ...readJson(fileOf(places), Policies), [wallet.toLowerCase()]: parsed.data })
  return parsed.data
}

/** The first rule that a payment would break. */
export function brokenRule(policy: SpendPolicy, { price, payee }: Proposed, totals: AllTotals): Broken | undefined {
  const denied = policy.deny.find((name) => isNamed(name, payee))
  if (denied !== undefined) {
    return { rule: 'deny', message: `${denied} is on the list of those never paid`, change: ['--remove', denied] }
  }
  if (policy.allow.length > 0 && !policy.allow.some((name) => isNamed(name, payee))) {
    const name = nameOf(payee)
    return { rule: 'allow', message: `${name} is not on the list of those that are paid`, change: ['--allow', name] }
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
    const message = `${formatPrice(price)} is asked for${already}; ${formatPrice(limit)} is the limit of ${limits[rule]}`
    return { rule, message, change: [flagOf(rule), formatPrice(used + price).slice(1)] }
  }
  return undefined
}

/** The option of `wallet policy set` that changes a limit. */
export function flagOf(rule: LimitName): string {
  return `--${rule.replaceAll('_', '-')}`
}

/** Whether a person has to agree first. */
export function needsAsking({ ask_above: above }: SpendPolicy, price: Usdc): boolean {
  const limit = above === undefined ? undefined : parseAmount(above)
  return limit !== undefined && price > limit
}

/** A payee as a list names it. */
export function nameOf({ at, seller, subject }: Recipient): string {
  const named = seller ?? subject
  return named === null ? at : `${named}@${at}`
}

/** An id means somebody of one instance: another may claim the same one. */
function isNamed(name: string, { at, instance, seller, subject, payTo }: Recipient): boolean {
  const found = /^([a-z0-9_]+)@(.+)$/i.exec(name)
  const [id, where] = [found?.[1] ?? null, found?.[2] ?? name]
  if (id === null) return [at, instance].includes(name) || (payTo !== null && name.toLowerCase() === payTo)
  return [at, instance].includes(where) && [seller, subject].includes(id)
}
