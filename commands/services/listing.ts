import { z } from 'zod'
import { CliError } from '../../src/cli/exit.ts'
import type { Session } from '../../src/cli/session.ts'
import { nearest } from '../../src/cli/text.ts'

const Fixed = z.object({ fixed: z.string().nullable() })
const Score = z.looseObject({ score: z.number(), is_new: z.boolean() })

/** What the command line reads of a listing; the rest passes through to `--json`. */
export const Listing = z.looseObject({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  provider_id: z.string(),
  provider_name: z.string(),
  provider_verification_tier: z.string(),
  fulfillment_type: z.string(),
  estimated_delivery: z.string(),
  pricing_model: z.string(),
  category: z.string(),
  tags: z.array(z.string()),
  price: Fixed,
  agent_price: Fixed,
  provider_net_price: Fixed,
  webhook_healthy: z.boolean(),
  provider_reputation: z.union([z.number(), Score]).nullable(),
  provider_trust: z.looseObject({ verdict: z.string(), level_name: z.string() }).optional(),
  input_schema: z.record(z.string(), z.unknown()),
  deliverable_schema: z.record(z.string(), z.unknown()),
})
export type Listing = z.output<typeof Listing>

export const Catalog = z.looseObject({
  total: z.number(),
  limit: z.number(),
  offset: z.number(),
  services: z.array(Listing),
})

const SERVICE_ID = /^svc_[0-9a-f]{16}$/
const CANDIDATES_MAX = 100

/** A listing by its id, or by its name as people type it: `qr_code`, `"QR code"`. */
export async function findListing(session: Session, words: string): Promise<Listing> {
  const id = SERVICE_ID.test(words) ? words : await idByName(session, words)
  const { body } = await session.call({ method: 'GET', path: `/v1/services/${encodeURIComponent(id)}` })
  return Listing.parse(body)
}

async function idByName(session: Session, words: string): Promise<string> {
  const wanted = plainName(words)
  const found = await catalogOf(session, wanted)
  const exact = found.filter(({ name }) => plainName(name) === wanted)
  const [only] = exact.length > 0 ? exact : found
  if (only && (exact.length === 1 || found.length === 1)) return only.id
  if (only) throw ambiguous(words, exact.length > 0 ? exact : found)
  const all = await catalogOf(session, undefined)
  const near = nearest(
    wanted,
    all.map(({ name }) => plainName(name)),
  )
  throw new CliError(
    'not_found',
    `No service is called "${words}"${near ? ` (did you mean ${near.replaceAll(' ', '_')}?)` : ''}.`,
    {
      next: ['souk services list'],
    },
  )
}

async function catalogOf(session: Session, q: string | undefined): Promise<readonly Listing[]> {
  const query = { q, limit: CANDIDATES_MAX }
  return Catalog.parse((await session.call({ method: 'GET', path: '/v1/services/catalog', query })).body).services
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
