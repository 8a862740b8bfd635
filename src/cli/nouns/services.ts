import type { WireAnswer } from '../../api/endpoint/define.ts'
import type { Api } from '../../api/index.ts'
import { isId, wireId } from '../../client/wire-id.ts'
import { compact } from '../../core/record.ts'
import { nearest } from '../../text/text.ts'
import { CliError } from '../exit.ts'
import type { Session } from '../session.ts'

export type Listing = WireAnswer<Api['getService']>

const CANDIDATES_MAX = 100

/** A listing by its id, or by its name as people type it: `qr_code`, `"QR code"`. */
export async function findListing(session: Session, words: string): Promise<Listing> {
  const id = isId('service', words) ? words : wireId('service', await idByName(session, words))
  const listing = await session.call('getService', { params: { id } })
  // What is bought is what was asked for, whatever the answer calls itself.
  if (listing.id !== id) throw new CliError('failure', `The instance answered with another service than ${id}.`)
  return listing
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
  const query = { ...compact({ q }), limit: String(CANDIDATES_MAX) }
  return (await session.call('getCatalog', { query })).services
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
