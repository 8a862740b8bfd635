import type { Input } from '../../../src/api/endpoint/define.ts'
import type { Api } from '../../../src/api/index.ts'
import { SUBSCRIBING } from '../../../src/api/sections/named-services.ts'
import { invalidField } from '../../../src/core/error.ts'
import { formatPrice, type Usdc } from '../../../src/core/money.ts'
import { type NamedService, namedServices, namedSlugs } from '../../../src/model/service.ts'
import { providerOf } from '../../kernel/rows.ts'
import type { Platform } from '../../kernel/switches.ts'
import { type Change, type ReadTx, type Store, type Write, writtenRow } from '../../store/port.ts'
import { type ServiceRow, services } from '../listings/rows.ts'
import { splitOf } from '../listings/versions.ts'
import { planSplit } from '../subscriptions/plan-view.ts'
import { type PlanRow, plans } from '../subscriptions/rows.ts'

/** The offer that a path sells: its price, and what prevents its sale, if anything. */
type Offer = { readonly price: Usdc | undefined; readonly fault: string | undefined }

/** @throws AppError 400 that names a path whose listing or plan is missing or out of the price range */
export async function namedServicesAfter(
  t: ReadTx,
  before: Platform,
  change: NonNullable<Input<Api['setFeatures']>['body']['named_services']> = {},
): Promise<Platform['named_services']> {
  for (const slug of namedSlugs) {
    const id = change[slug]
    if (typeof id === 'string') await checkNamed(t, slug, id)
  }
  const entries = Object.entries({ ...before.named_services, ...change })
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'))
}

async function checkNamed(t: ReadTx, slug: NamedService, id: string): Promise<void> {
  const { fault } = await offerOf(t, slug, id)
  if (fault !== undefined) throw invalidField(`named_services.${slug}`, fault)
}

/** @throws AppError 400 if a path that is not configured would be enabled */
export function refuseUnconfigured(switched: Readonly<Record<string, boolean>>, named: Platform['named_services']) {
  const bare = namedSlugs.find((slug) => switched[slug] === true && named[slug] === undefined)
  if (bare === undefined) return
  throw invalidField(
    `features.${bare}`,
    `has no listing yet: the operator sets one by PUT /dashboard/api/admin/named-services/${bare}`,
  )
}

export async function offerOf(t: ReadTx, slug: NamedService, id: string): Promise<Offer> {
  if (slug === SUBSCRIBING) {
    const plan = await t.table(plans).get(id)
    return planOffer(slug, plan, plan ? (await providerOf(t, plan)).first_party : false)
  }
  return listingOffer(slug, await t.table(services).get(id))
}

function listingOffer(slug: NamedService, service: ServiceRow | undefined): Offer {
  if (service?.status !== 'active') return { price: undefined, fault: 'is not an active listing' }
  const price = service.pricing_model === 'fixed' ? splitOf(service)?.agent : undefined
  return { price, fault: priceFault(slug, price) }
}

function planOffer(slug: NamedService, plan: PlanRow | undefined, firstParty: boolean): Offer {
  if (plan?.status !== 'active') return { price: undefined, fault: 'is not an active plan' }
  const price = planSplit(plan, { first_party: firstParty }).agent
  if (plan.billing_period !== 'monthly') return { price, fault: 'must be a monthly plan' }
  return { price, fault: priceFault(slug, price) }
}

function priceFault(slug: NamedService, price: Usdc | undefined): string | undefined {
  const { min, max } = namedServices[slug]
  if (price !== undefined && price >= min && price <= max) return undefined
  const range = min === max ? formatPrice(min) : `${formatPrice(min)} to ${formatPrice(max)}`
  return `must cost buyers ${range}, as advertised`
}

/** Which configured paths can sell now; kept up to date with listings and plans. */
export type NamedOffers = {
  readonly sells: (slug: string) => boolean
  readonly read: (named: Platform['named_services']) => Promise<void>
  /** Applies a transaction's writes to the offers on named paths. @returns whether a named path is affected */
  readonly see: (change: Change) => boolean
}

type Followed = { readonly slug: NamedService; readonly id: string; readonly firstParty: boolean; isSold: boolean }

export function followNamedOffers(store: Store): NamedOffers {
  let followed: readonly Followed[] = []
  return {
    sells: (slug) => followed.some((one) => one.slug === slug && one.isSold),
    async read(named) {
      followed = await store.read(async (t) => {
        const offered = namedSlugs.map((slug) => ({ slug, id: named[slug] }))
        return Promise.all(offered.flatMap(({ slug, id }) => (id === undefined ? [] : [followedOf(t, slug, id)])))
      })
    },
    see({ writes }) {
      let isSeen = false
      for (const write of writes) {
        const seen = followed.filter(({ id }) => id === write.key)
        for (const one of seen) {
          const offer = writtenOffer(one, write)
          if (offer === undefined) continue
          one.isSold = offer.fault === undefined
          isSeen = true
        }
      }
      return isSeen
    },
  }
}

async function followedOf(t: ReadTx, slug: NamedService, id: string): Promise<Followed> {
  const isSold = (await offerOf(t, slug, id)).fault === undefined
  const plan = slug === SUBSCRIBING ? await t.table(plans).get(id) : undefined
  return { slug, id, isSold, firstParty: plan ? (await providerOf(t, plan)).first_party : false }
}

/** The offer in a written plan or listing; undefined for any other write. */
function writtenOffer({ slug, firstParty }: Followed, write: Write): Offer | undefined {
  const plan = writtenRow(plans, write)
  if (plan !== undefined) return planOffer(slug, plan ?? undefined, firstParty)
  const listing = writtenRow(services, write)
  return listing === undefined ? undefined : listingOffer(slug, listing ?? undefined)
}
