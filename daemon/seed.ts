import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { AppError } from '../src/core/error.ts'
import type { Wallet } from '../src/core/hex.ts'
import { fulfillmentTypes, JsonObject, pricingModels, serviceTypes } from '../src/model/service.ts'
import { parsePrice } from './rules/pricing.ts'
import { participants, services } from './store/collections.ts'
import { commit, type Draw } from './store/draw.ts'
import type { World } from './world.ts'

/** Named seeds of `souk up --seed`. */
const seeds = { demo: seedDemo } as const

const ADDRESS_BYTES = 20
const SECRET_BYTES = 32

/** Fixtures lie beside the sources and beside the bundle alike. */
const listingsFolder = fileURLToPath(new URL('../fixtures/listings/', import.meta.url))

/** Form of a listing file: a whole create body (decisions §7). */
const ListingFile = z.object({
  name: z.string(),
  description: z.string(),
  price: z.unknown(),
  pricing_model: z.enum(pricingModels),
  service_type: z.enum(serviceTypes),
  fulfillment_type: z.enum(fulfillmentTypes),
  estimated_delivery: z.string(),
  category: z.string(),
  tags: z.array(z.string()),
  input_schema: JsonObject,
  deliverable_schema: JsonObject,
})

/** Loads a named seed into an empty marketplace; one that holds listings is left as it is. */
export async function seedStore(world: World, name: string): Promise<void> {
  const seed = seeds[name as keyof typeof seeds] as (typeof seeds)['demo'] | undefined
  if (!seed) throw new AppError('invalid_request', `There is no seed ${name}: use ${Object.keys(seeds).join(', ')}.`)
  const page = await world.store.table(services).page('status', [], { limit: 1 })
  if (page.rows.length === 0) await seed(world)
}

/** The first-party provider with every observed listing; those that nothing fulfils stay inactive. */
async function seedDemo(world: World): Promise<void> {
  const listings = await readListings()
  const now = world.clock.now()
  await commit(world, async (t, draw) => {
    const provider = await t.table(participants).insert(firstPartyProvider(draw, now))
    for (const [slug, body] of listings) {
      await t.table(services).insert({
        ...body,
        id: draw.id('service'),
        provider_id: provider.id,
        price: body.pricing_model === 'fixed' ? parsePrice(body.price) : null,
        webhook_url: null,
        first_party_slug: slug,
        form: 'newer',
        status: world.firstParty(slug) ? 'active' : 'inactive',
        webhook_healthy: true,
        listed_at: now,
        updated_at: now,
      })
    }
  })
}

async function readListings(): Promise<[string, z.infer<typeof ListingFile>][]> {
  const files = (await readdir(listingsFolder)).filter((file) => file.endsWith('.json')).sort()
  return Promise.all(
    files.map(async (file) => {
      const text = await readFile(join(listingsFolder, file), 'utf8')
      return [file.slice(0, -'.json'.length), ListingFile.parse(JSON.parse(text))] satisfies [string, unknown]
    }),
  )
}

/** Its wallet has no key: what it earns moves to the operator in the books, never on a chain (decisions §5). */
function firstPartyProvider(draw: Draw, now: number) {
  return {
    id: draw.id('participant'),
    wallet: `0x${draw.bytes(ADDRESS_BYTES).toString('hex')}` as Wallet,
    name: 'souk',
    description: 'Services of this marketplace itself.',
    type: 'provider' as const,
    webhook_url: null,
    capabilities: [],
    links: {},
    listable: true,
    verification_tier: 'email_verified' as const,
    referred_by: null,
    terms_version: null,
    first_party: true,
    key_hash: draw.bytes(SECRET_BYTES).toString('hex'),
    webhook_secret: `whsec_${draw.bytes(SECRET_BYTES).toString('base64')}`,
    created_at: now,
    updated_at: now,
  }
}
