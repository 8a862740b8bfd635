import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { NewListing } from '../../../src/api/sections/services.ts'
import { AppError } from '../../../src/core/error.ts'
import { type Entropy, toWallet } from '../../../src/core/hex.ts'
import { isKeyOf } from '../../../src/core/record.ts'
import type { Context } from '../../kernel/context.ts'
import { IDENTITY, shipped } from '../../kernel/identity.ts'
import { participants, putSetting, settings } from '../../kernel/rows.ts'
import { commit } from '../../store/draw.ts'
import type { Draw, Store, Tx } from '../../store/port.ts'
import { houseOrder } from '../first-party/order.ts'
import { type ListingFields, readListing } from '../listings/input.ts'
import { services } from '../listings/rows.ts'
import { liveness } from '../listings/write.ts'
import { firstPartyStatus } from './first-party-listings.ts'

export type SeedName = 'demo' | 'house' | 'none'

/** Functions that fill a new store. The demo's history is created later, through the API. */
const seeds = { demo: async () => undefined, house: seedFirstParty, none: async () => undefined } as const

const ADDRESS_BYTES = 20
const SECRET_BYTES = 32

/** Fixtures are next to the sources in a checkout, and next to the bundle in a release. */
const listingsFolder = shipped('listings/')

/** @throws AppError invalid_request */
export function seedNamed(name: string): (ctx: Context) => Promise<void> {
  if (isKeyOf(seeds, name)) return seeds[name]
  const names = Object.keys(seeds).join(', ')
  throw new AppError('invalid_request', `seed: unknown seed "${name}" (choose one of ${names}, or a file)`)
}

/** Settings key that marks a store with the demo's history. */
export const HISTORY = 'history'
/** Settings key of a seed that is not loaded yet. */
const PLANNED = 'planned_seed'
const Planned = z.strictObject({ name: z.string() })

/** Records the seed before loading it. If the first start is killed, the next start then completes it. */
export async function planSeed(
  parts: { readonly store: Store; readonly entropy: Entropy },
  name: string,
): Promise<void> {
  await commit(parts, async (t) => {
    if (await t.table(settings).getForUpdate(IDENTITY)) return
    await putSetting(t, PLANNED, { name })
  })
}

/** Loads the named or planned seed into an empty marketplace. Does nothing if the marketplace has listings. */
export async function seedStore(ctx: Context, named: string | undefined): Promise<void> {
  const planned = await ctx.store.table(settings).get(PLANNED)
  const name = named ?? (planned && Planned.parse(planned.value).name)
  if (name === undefined) return
  const seed = seedNamed(name)
  const page = await ctx.store.table(services).page('status', [], { limit: 1 })
  const found = await seedFound(ctx)
  if (page.rows.length === 0) await seed(ctx)
  else if (found === name) await renewUnsold(ctx)
  else throw otherSeed(ctx, name, found)
  if (planned) await commit(ctx, dropPlan)
}

/** The seed that was loaded, recognised from the store's contents. */
export async function seedFound({ store }: Pick<Context, 'store'>): Promise<SeedName> {
  if (await store.table(settings).get(HISTORY)) return 'demo'
  const { rows } = await store.table(services).page('slug', [], { limit: 1, order: 'desc' })
  return rows.some((row) => row.first_party_slug !== null) ? 'house' : 'none'
}

function otherSeed({ config }: Context, name: string, found: SeedName): AppError {
  const sentence = `This data folder was created with --seed ${found}; --seed ${name} needs a new data folder.`
  return new AppError('conflict', sentence, { details: [{ path: 'data', message: config.dataDir }] })
}

async function dropPlan(t: Tx): Promise<void> {
  await t.table(settings).getForUpdate(PLANNED)
  await t.table(settings).delete(PLANNED)
}

/** Updates schemas and descriptions of unavailable listings that an earlier version created. */
async function renewUnsold(ctx: Context): Promise<void> {
  const listings = await readListings()
  await commit(ctx, async (t) => {
    for (const [slug, { input_schema, deliverable_schema, description }] of listings) {
      const { rows } = await t.table(services).page('slug', [slug], { limit: 1 })
      const [row] = rows
      if (!row || row.status === 'active' || row.status === 'deleted') continue
      if (JSON.stringify(row.deliverable_schema) === JSON.stringify(deliverable_schema)) continue
      const held = await t.table(services).getForUpdate(row.id)
      if (held) await t.table(services).put({ ...held, input_schema, deliverable_schema, description })
    }
  })
}

/** Creates the first-party provider and its listings. Listings that cannot be sold yet are suspended. */
async function seedFirstParty(ctx: Context): Promise<void> {
  const listings = await readListings()
  const now = ctx.clock.now()
  await commit(ctx, async (t, draw) => {
    const provider = await t.table(participants).insert(firstPartyProvider(draw, now))
    for (const [at, [slug, fields]] of inOrder(listings).entries()) {
      const listedAt = now - at // the catalog shows the newest first
      await t.table(services).insert({
        ...fields,
        id: draw.id('service'),
        provider_id: provider.id,
        first_party_slug: slug,
        status: firstPartyStatus(ctx, slug),
        ...liveness('healthy'), // its engines are part of this program
        listed_at: listedAt,
        updated_at: listedAt,
      })
    }
  })
}

/** Listings in display order; unknown ones come last. */
function inOrder(listings: readonly [string, ListingFields][]): [string, ListingFields][] {
  const place = new Map<string, number>(houseOrder.map((slug, at) => [slug, at]))
  const placeOf = ([slug]: [string, ListingFields]) => place.get(slug) ?? houseOrder.length
  return listings.toSorted((one, other) => placeOf(one) - placeOf(other))
}

/** Reads the listing files. Each is the body of a request that creates a listing (decisions §7). */
async function readListings(): Promise<[string, ListingFields][]> {
  const files = (await readdir(listingsFolder)).filter((file) => file.endsWith('.json')).sort()
  return Promise.all(
    files.map(async (file) => {
      const text = await readFile(join(listingsFolder, file), 'utf8')
      const fields = readListing(NewListing.parse(JSON.parse(text)), `${file}: `)
      return [file.slice(0, -'.json'.length), fields] satisfies [string, ListingFields]
    }),
  )
}

/** The provider's wallet has no key. Earnings move to the operator in the books, never on a chain (decisions §5). */
function firstPartyProvider(draw: Draw, now: number) {
  return {
    id: draw.id('participant'),
    wallet: toWallet(`0x${draw.bytes(ADDRESS_BYTES).toString('hex')}`),
    name: 'souk',
    description: 'First-party services of this marketplace.',
    type: 'provider' as const,
    webhook_url: null,
    capabilities: [],
    links: {},
    listable: true,
    in_directory: true,
    verification_tier: 'email_verified' as const,
    referred_by: null,
    terms_version: null,
    terms_accepted_at: null,
    first_party: true,
    key_hash: draw.bytes(SECRET_BYTES).toString('hex'),
    webhook_secret: `whsec_${draw.bytes(SECRET_BYTES).toString('base64')}`,
    previous_webhook_secret: null,
    suspended_at: null,
    created_at: now,
    updated_at: now,
  }
}
