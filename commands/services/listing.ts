import { CliError } from '../../src/cli/exit.ts'
import { isObject } from '../../src/cli/output.ts'
import type { Session } from '../../src/cli/session.ts'
import { nearest } from '../../src/cli/text.ts'

type Fixed = { readonly fixed: string | null }
type Schema = Readonly<Record<string, unknown>>

/** What the command line reads of a listing; the rest passes through to `--json`. */
export type Listing = Schema & {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly provider_id: string
  readonly provider_name: string
  readonly provider_verification_tier: string
  readonly fulfillment_type: string
  readonly estimated_delivery: string
  readonly pricing_model: string
  readonly category: string
  readonly tags: readonly string[]
  readonly price: Fixed
  readonly agent_price: Fixed
  readonly provider_net_price: Fixed
  readonly webhook_healthy: boolean
  readonly provider_reputation: number | { readonly score: number; readonly is_new: boolean } | null
  readonly provider_trust?: { readonly verdict: string; readonly level_name: string }
  readonly input_schema: Schema
  readonly deliverable_schema: Schema
}

export type Catalog = Schema & {
  readonly total: number
  readonly limit: number
  readonly offset: number
  readonly services: readonly Listing[]
}

/** A catalog page as it came. @throws CliError failure when it is none: the contract's tests hold its members to it. */
export function catalogFrom(body: unknown): Catalog {
  if (isObject(body) && Array.isArray(body.services) && typeof body.total === 'number') return body as Catalog
  throw new CliError('failure', 'The instance answered with something else than a catalog.')
}

function listingFrom(body: unknown): Listing {
  if (isObject(body) && typeof body.id === 'string' && isObject(body.input_schema)) return body as Listing
  throw new CliError('failure', 'The instance answered with something else than a listing.')
}

const SERVICE_ID = /^svc_[0-9a-f]{16}$/
const CANDIDATES_MAX = 100

/** A listing by its id, or by its name as people type it: `qr_code`, `"QR code"`. */
export async function findListing(session: Session, words: string): Promise<Listing> {
  const id = SERVICE_ID.test(words) ? words : await idByName(session, words)
  const { body } = await session.call({ method: 'GET', path: `/v1/services/${encodeURIComponent(id)}` })
  return listingFrom(body)
}

/** Only the whole name counts: money must not go to what merely sounds like it. */
async function idByName(session: Session, words: string): Promise<string> {
  const wanted = plainName(words)
  const exact = (await catalogOf(session, wanted)).filter(({ name }) => plainName(name) === wanted)
  const [only] = exact
  if (only && exact.length === 1) return only.id
  if (only) throw ambiguous(words, exact)
  const names = (await catalogOf(session, undefined)).map(({ name }) => plainName(name))
  const near = nearest(wanted, names)?.replaceAll(' ', '_')
  throw new CliError('not_found', `No service is called "${words}"${near ? ` (did you mean ${near}?)` : ''}.`, {
    next: ['souk services list'],
  })
}

async function catalogOf(session: Session, q: string | undefined): Promise<readonly Listing[]> {
  const query = { q, limit: CANDIDATES_MAX }
  return catalogFrom((await session.call({ method: 'GET', path: '/v1/services/catalog', query })).body).services
}

function plainName(text: string): string {
  return text
    .toLowerCase()
    .replace(/[\s_-]+/g, ' ')
    .trim()
}

function ambiguous(words: string, found: readonly Listing[]): CliError {
  return new CliError('usage', `"${words}" fits ${found.length} services; name one by its id.`, {
    facts: found.slice(0, 5).map(({ id, name }) => `${id}  ${name}`),
  })
}
