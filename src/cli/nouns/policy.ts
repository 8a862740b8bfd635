import { originOf } from '../../client/origin.ts'
import type { Places } from '../../client/paths.ts'
import { listRemotes } from '../../client/remotes.ts'
import { LOCAL, readSettings } from '../../client/settings.ts'
import { type LimitName, limitNames, limits, type Recipient, type SpendPolicy } from '../../client/spending/policy.ts'
import { isAddress } from '../../core/hex.ts'
import { nearest } from '../../text/text.ts'
import { CliError, usage } from '../exit.ts'
import type { Globals } from '../globals.ts'
import type { Io } from '../io.ts'
import { kinds } from '../naming/kinds.ts'
import { idOf, plainName } from '../naming/resolve.ts'

/** What holds for a wallet that has none. */
export const noPolicy: SpendPolicy = { allow: [], deny: [] }

type Where = { readonly places: Places; readonly globals: Globals }

/** The instance that names are meant at, as it is chosen; nobody is asked. */
export function chosenInstance({ places, globals }: Where): string {
  if (globals.baseUrl !== undefined) return originOf(globals.baseUrl)
  return globals.remote ?? readSettings(places).remote ?? LOCAL
}

const ID = /^((p|svc|plan|prod|post|thr)_[0-9a-f]{16}|market)$/

type Namer = Where & Parameters<typeof idOf>[0]

/**
 * The same for what people call somebody: the name of a participant or a listing at the chosen instance becomes its id.
 * @throws CliError usage for what nobody is called, or several are
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
      const known = await kind.known(namer, name).catch(() => []) // nothing is lost: the name stays unknown, and is refused
      const isCalled = known.some(({ names }) => names.some((one) => plainName(one) === plainName(name)))
      if (isCalled) return listedName(namer, await idOf(namer, kind, name))
    }
    throw error
  }
}

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

const WHAT_NAMES =
  'give a participant or a listing by its name or id (p_…, svc_…, plan_…, prod_…, post_…, with @INSTANCE), market, an address, or an instance'

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
