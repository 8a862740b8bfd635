import { type CommandContext, defineCommand } from '../../src/cli/command.ts'
import { CliError, usage } from '../../src/cli/exit.ts'
import type { Globals } from '../../src/cli/globals.ts'
import type { Io } from '../../src/cli/io.ts'
import { kinds } from '../../src/cli/naming/kinds.ts'
import { idOf, plainName } from '../../src/cli/naming/resolve.ts'
import { chosenWallet } from '../../src/cli/nouns/wallets.ts'
import * as z from '../../src/cli/params.ts'
import { wouldDo } from '../../src/cli/session.ts'
import { originOf } from '../../src/client/origin.ts'
import { listRemotes } from '../../src/client/remotes.ts'
import { LOCAL, type Places, readSettings } from '../../src/client/settings.ts'
import { spentBefore } from '../../src/client/spending/ledger.ts'
import {
  brokenRule,
  flagOf,
  keepPolicy,
  type LimitName,
  limitNames,
  limits,
  nameOf,
  needsAsking,
  policyOf,
  type Recipient,
  type SpendPolicy,
} from '../../src/client/spending/policy.ts'
import { isAddress } from '../../src/core/hex.ts'
import { formatAmount, parseAmount, ZERO } from '../../src/core/money.ts'
import { compact } from '../../src/core/record.ts'
import { bold, cyan, didYouMean, green, red } from '../../src/text/text.ts'

const NONE = 'none'
const limit = (description: string) => z.text({ description, value: 'usd' })
const names = (description: string) => z.list({ description, value: 'name' })

const options = z.object({
  perPayment: limit('limit per payment; `none` removes a limit'),
  perCommand: limit('limit per command, in addition to --max-price'),
  perDay: limit('limit per 24 hours, over all processes'),
  perSeller: limit('limit per seller in 24 hours'),
  askAbove: limit('payments above this need approval'),
  allow: names('allow only these: seller, listing, address or instance'),
  deny: names('never pay this seller, listing, address or instance'),
  remove: names('remove a name from the allow and deny lists'),
})
type Context = CommandContext<{ name?: string | undefined }, z.output<typeof options>>

export const walletPolicySet = defineCommand({
  name: 'wallet policy set',
  summary: 'set the spending limits of a wallet',
  description:
    'Applies to every payment of the wallet on this machine, by signature or balance, from any command and from `souk mcp`. Limits that you omit keep their values. A day is any 24 hours. A payment counts when it is signed, even without an answer; deposits count too. Approval needs a terminal or the program that runs `souk mcp`; --yes does not approve. Ids refer to the chosen instance.',
  args: z.object({ name: z.text({ description: 'wallet name (default: the active one)' }) }),
  options,
  examples: [
    'souk wallet policy set --per-payment 0.75 --per-day 5.00',
    'souk wallet policy set main --ask-above 0.80 --deny p_0123456789abcdef --dry-run',
    'souk wallet policy set main --per-day none --json',
  ],
  async run(context) {
    const { args, globals, io, places } = context
    const { name, address } = chosenWallet(places, args.name ?? globals.as)
    const policy = await changed(context, policyOf(places, address) ?? noPolicy)
    wouldDo(globals, `set the spend policy of ${name} in ${io.path(places.config)}/spending.json`)
    return { wallet: name, address, is_set: true, policy: keepPolicy(places, address, policy) }
  },
  view({ wallet, policy }, io) {
    io.line(`${green('✓')} the spend policy of ${bold(wallet)}`)
    showPolicy(io, policy)
  },
})

async function changed(context: Context, before: SpendPolicy): Promise<SpendPolicy> {
  const { allow, deny, remove, perPayment, perCommand, perDay, perSeller, askAbove } = context.options
  const given: Readonly<Record<LimitName, string | undefined>> = {
    per_payment: perPayment,
    per_command: perCommand,
    per_day: perDay,
    per_seller: perSeller,
    ask_above: askAbove,
  }
  const isSaid = [allow, deny, remove].some(({ length }) => length > 0)
  if (!isSaid && limitNames.every((rule) => given[rule] === undefined)) {
    throw usage('Give at least one limit to set.', {
      next: ['souk wallet policy set --per-day 5.00', 'souk wallet policy set --help'],
    })
  }
  const namer = { ...context, asAdmin: false }
  const gone = new Set(await payeeIds(namer, remove))
  const list = async (before: readonly string[], added: readonly string[]) =>
    [...new Set([...before, ...(await payeeIds(namer, added))])].filter((name) => !gone.has(name))
  const kept = Object.fromEntries(
    limitNames.map((rule) => [rule, given[rule] === undefined ? before[rule] : limitSaid(rule, given[rule])]),
  )
  return { ...compact(kept), allow: await list(before.allow, allow), deny: await list(before.deny, deny) }
}

/** A typed limit; undefined if the word removes the limit. @throws CliError `usage` for an invalid amount */
function limitSaid(rule: LimitName, text: string): string | undefined {
  if (text === NONE) return undefined
  const amount = parseAmount(text)
  if (amount !== undefined) return formatAmount(amount)
  throw usage(`${flagOf(rule)} must be an amount such as 5.00, or ${NONE}; you gave "${text}".`)
}

export const walletPolicyShow = defineCommand({
  name: 'wallet policy show',
  isDefault: true,
  summary: 'show the spending limits of a wallet',
  args: z.object({ name: z.text({ description: 'wallet name (default: the active one)' }) }),
  examples: ['souk wallet policy show', 'souk wallet policy show main --json'],
  async run({ args, globals, places }) {
    const { name, address } = chosenWallet(places, args.name ?? globals.as)
    const policy = policyOf(places, address)
    return { wallet: name, address, is_set: policy !== undefined, policy: policy ?? noPolicy }
  },
  view({ wallet, address, is_set: isSet, policy }, io) {
    io.line(`${bold(wallet)}   ${address}   ${isSet ? 'has a spend policy' : 'has no spend policy'}`)
    showPolicy(io, policy)
    io.note(`  a day is any 24 hours by this machine’s clock; ${cyan('--max-price')} also limits each command`)
    io.note(`  next: ${cyan(io.hint(isSet ? 'souk wallet spend' : 'souk wallet policy set --per-day 5.00'))}`)
  },
})

export const walletPolicyTest = defineCommand({
  name: 'wallet policy test',
  summary: 'test a payment: whether the policy allows it, and which rule refuses it',
  description: 'Sends and signs nothing. Exits with code 5 if a limit stops the payment.',
  args: z.object({ amount: z.string().meta({ description: 'amount in USDC, such as 0.50' }) }),
  options: z.object({
    seller: z.text({ description: 'seller, listing or instance', value: 'name' }),
    to: z.text({ description: 'payee address', value: 'address' }),
  }),
  examples: ['souk wallet policy test 0.50', 'souk wallet policy test 0.50 --seller p_0123456789abcdef --json'],
  async run(context) {
    const { args, options, globals, places, system, exit } = context
    const price = parseAmount(args.amount)
    if (price === undefined) throw usage(`The amount must be like 0.50; you gave "${args.amount}".`)
    if (options.to !== undefined && !isAddress(options.to))
      throw usage(`--to must be an address; you gave "${options.to}".`)
    const { name, address } = chosenWallet(places, globals.as)
    const policy = policyOf(places, address) ?? noPolicy
    const payee = payeeNamed(context, options)
    const before = spentBefore(places, { wallet: address.toLowerCase(), now: system.now() }, payee)
    const broken = brokenRule(policy, { price, payee }, { ...before, command: ZERO })
    if (broken !== undefined) exit('payment')
    return {
      wallet: name,
      amount: formatAmount(price),
      payee: nameOf(payee),
      allowed: broken === undefined,
      asks: broken === undefined && needsAsking(policy, price),
      rule: broken?.rule ?? null,
      reason: broken?.message ?? null,
      change: broken === undefined ? null : ['souk wallet policy set', name, ...broken.change].join(' '),
      day: formatAmount(before.day),
    }
  },
  view({ amount, payee, allowed, asks, rule, reason, change }, io) {
    if (!allowed) {
      io.line(`${red('✗')} $${amount} to ${payee} would be refused by ${rule}: ${reason}`)
      if (change !== null) io.note(`  → ${cyan(io.hint(change))}`)
    } else io.line(`${green('✓')} $${amount} to ${payee} would be allowed${asks ? ', after approval' : ''}`)
  },
})

/** The policy that is shown for a wallet without one. */
export const noPolicy: SpendPolicy = { allow: [], deny: [] }

type Where = { readonly places: Places; readonly globals: Globals }

/** Name or URL of the selected instance; sends no request. */
export function chosenInstance({ places, globals }: Where): string {
  if (globals.baseUrl !== undefined) return originOf(globals.baseUrl)
  return globals.remote ?? readSettings(places).remote ?? LOCAL
}

const ID = /^((p|svc|plan|prod|post|thr)_[0-9a-f]{16}|market)$/

type Namer = Where & Parameters<typeof idOf>[0]

/**
 * Ids of the participants or listings with these names at the selected instance.
 * @throws CliError `usage` for an unknown or ambiguous name
 */
export async function payeeIds(namer: Namer, names: readonly string[]): Promise<readonly string[]> {
  const found: string[] = []
  for (const name of names) found.push(await payeeId(namer, name))
  return found
}

async function payeeId(namer: Namer, name: string): Promise<string> {
  try {
    return listedName(namer, name)
  } catch (error) {
    if (!(error instanceof CliError) || /[@/]/.test(name)) throw error
    for (const kind of [kinds.participant, kinds.service]) {
      const known = await kind.known(namer, name).catch(() => []) // an unknown name is refused below
      const isCalled = known.some(({ names }) => names.some((one) => plainName(one) === plainName(name)))
      if (isCalled) return listedName(namer, await idOf(namer, kind, name))
    }
    throw error
  }
}

/**
 * Stored form of a list entry: an address, an instance, or an id with its instance. Other instances may use the same
 * id.
 * @throws CliError `usage` for other values
 */
export function listedName(where: Where, text: string): string {
  const [id = '', ...rest] = text.split('@')
  if (rest.length > 0 || ID.test(id)) {
    if (!ID.test(id)) throw usage(`"${text}" is not a payee.`, { facts: [WHAT_NAMES] })
    return `${id}@${rest.length === 0 ? chosenInstance(where) : knownInstance(where, rest.join('@'))}`
  }
  return isAddress(text) ? text.toLowerCase() : knownInstance(where, text)
}

function knownInstance({ places }: Where, name: string): string {
  if (/^https?:\/\//.test(name)) return originOf(name)
  const known = [LOCAL, ...listRemotes(places).map((remote) => remote.name)]
  if (known.includes(name)) return name
  throw usage(`There is no seller, listing or instance "${name}"${didYouMean(name, known)}.`, {
    facts: [WHAT_NAMES],
    next: ['souk remote list'],
  })
}

const WHAT_NAMES =
  'give a participant or a listing by its name or id (p_…, svc_…, plan_…, prod_…, post_…, with @INSTANCE), market, an address, or an instance'

/** The payee of a policy test, from `--seller` and `--to`. */
export function payeeNamed(
  where: Where,
  { seller, to }: { seller?: string | undefined; to?: string | undefined },
): Recipient {
  const named = seller === undefined ? undefined : listedName(where, seller)
  const at = named?.includes('@') ? named.slice(named.indexOf('@') + 1) : (named ?? chosenInstance(where))
  const id = named?.includes('@') ? named.slice(0, named.indexOf('@')) : null
  const isSeller = id === null || id === 'market' || id.startsWith('p_')
  return {
    at,
    instance: at,
    seller: isSeller ? id : null,
    subject: isSeller ? null : id,
    payTo: to?.toLowerCase() ?? null,
  }
}

export function showPolicy(io: Io, policy: SpendPolicy): void {
  for (const rule of limitNames) {
    const limit = policy[rule] === undefined ? 'no limit' : `$${policy[rule]}`
    io.line(`  ${rule.padEnd(12)}  ${limit.padEnd(10)}  ${limits[rule]}`)
  }
  if (policy.allow.length > 0) io.line(`  allow         ${policy.allow.join(', ')}`)
  if (policy.deny.length > 0) io.line(`  deny          ${policy.deny.join(', ')}`)
}
