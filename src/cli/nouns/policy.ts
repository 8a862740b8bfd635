import { originOf } from '../../client/origin.ts'
import type { Places } from '../../client/paths.ts'
import { listRemotes } from '../../client/remotes.ts'
import { LOCAL, readSettings } from '../../client/settings.ts'
import { type LimitName, limitNames, limits, type Recipient, type SpendPolicy } from '../../client/spending/policy.ts'
import { isAddress } from '../../core/hex.ts'
import { nearest } from '../../text/text.ts'
import { usage } from '../exit.ts'
import type { Globals } from '../globals.ts'
import type { Io } from '../io.ts'

/** What holds for a wallet that has none. */
export const noPolicy: SpendPolicy = { allow: [], deny: [] }

type Where = { readonly places: Places; readonly globals: Globals }

/** The instance that names are meant at, as it is chosen; nobody is asked. */
export function chosenInstance({ places, globals }: Where): string {
  if (globals.baseUrl !== undefined) return originOf(globals.baseUrl)
  return globals.remote ?? readSettings(places).remote ?? LOCAL
}

const ID = /^((p|svc|plan|prod|post|thr)_[0-9a-f]{16}|market)$/

/**
 * A name as a list keeps it: an id with the instance it is of, since another instance may claim the same id; a wallet
 * address; an instance.
 * @throws CliError usage for what is none of these
 */
export function listedName(where: Where, text: string): string {
  const [id = '', ...rest] = text.split('@')
  if (rest.length > 0 || ID.test(id)) {
    if (!ID.test(id)) throw notNamed(text)
    return `${id}@${rest.length === 0 ? chosenInstance(where) : knownInstance(where, rest.join('@'))}`
  }
  return isAddress(text) ? text.toLowerCase() : knownInstance(where, text)
}

function knownInstance({ places }: Where, name: string): string {
  if (/^https?:\/\//.test(name)) return originOf(name)
  const known = [LOCAL, ...listRemotes(places).map((remote) => remote.name)]
  if (known.includes(name)) return name
  const near = nearest(name, known)
  throw usage(`There is no instance "${name}"${near === undefined ? '' : ` (did you mean ${near}?)`}.`, {
    facts: [WHAT_NAMES],
    next: ['souk remote list'],
  })
}

const WHAT_NAMES = 'a name is p_…, svc_…, plan_…, prod_…, post_… or market, with @INSTANCE; an address; or an instance'

function notNamed(text: string) {
  return usage(`"${text}" names nobody who could be paid.`, { facts: [WHAT_NAMES] })
}

/** Somebody to try a policy on. */
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

export type LimitRow = { readonly rule: LimitName; readonly limit: string | null; readonly about: string }

export function limitRows(policy: SpendPolicy): readonly LimitRow[] {
  return limitNames.map((rule) => ({ rule, limit: policy[rule] ?? null, about: limits[rule] }))
}

/** A policy for people. */
export function showPolicy(io: Io, policy: SpendPolicy): void {
  for (const { rule, limit, about } of limitRows(policy)) {
    io.line(`  ${rule.padEnd(12)}  ${(limit === null ? 'no limit' : `$${limit}`).padEnd(10)}  ${about}`)
  }
  if (policy.allow.length > 0) io.line(`  allow         ${policy.allow.join(', ')}`)
  if (policy.deny.length > 0) io.line(`  deny          ${policy.deny.join(', ')}`)
}
