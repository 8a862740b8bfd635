import { findListing } from '../cli/nouns/services/services.ts'
import { openSession } from '../cli/session.ts'
import {
  type CheckedShop,
  type ListingPlan,
  ownListings,
  planListing,
  type ShopHost,
  type WrittenListing,
} from './checked-shop.ts'
import type { ShopFacts } from './notices.ts'
import { isTestMoney, modesOf, type SellerStanding, standingOf } from './shop.ts'

/** Describes the steps of a start without doing them. Sends only read requests. */
export async function* rehearse(context: ShopHost, shop: CheckedShop): AsyncGenerator<ShopFacts> {
  const { options, args, io } = context
  yield would('program', `run ${io.path(shop.program.path)} for each job`)
  const session = await openSession(context)
  const isFree = isTestMoney(await modesOf(session))
  const standing = await standingOf(context, session)
  yield* standingSteps(standing, isFree)
  if (shop.written !== undefined) {
    const plan = planListing(shop.written, standing.isRegistered ? await ownListings(session) : [])
    yield would('listing', listingWords(shop.written.name, plan))
    const practice = practiceWords({ context, plan, isFree, written: shop.written })
    if (practice !== undefined) yield would('practice', practice)
  }
  const named = await Promise.all(args.services.map((id) => findListing(session, id)))
  const names = [...named, ...(shop.written ? [shop.written] : [])].map((one) => one.name).join(', ')
  yield would(
    'work',
    `${options.once ? 'process waiting jobs of' : 'serve'} ${names}, ${options.concurrency} in parallel`,
  )
}

function would(step: Extract<ShopFacts, { event: 'would' }>['step'], does: string): ShopFacts {
  return { event: 'would', dry_run: true, step, does }
}

function standingSteps({ wallet, isRegistered, name }: SellerStanding, isFree: boolean): readonly ShopFacts[] {
  const byHand = 'stop here: with real money, you create the wallet and the account yourself'
  return [
    ...(wallet === undefined ? [would('wallet', isFree ? `create wallet ${name}, with test money` : byHand)] : []),
    ...(isRegistered ? [] : [would('account', isFree ? `register ${name}, for $0.01 of test money` : byHand)]),
  ]
}

function listingWords(name: string, { found, change, changed, body }: ListingPlan): string {
  if (found === undefined) return `create ${name}`
  if (change === 'unchanged') return `keep ${name} (${found.id}) unchanged`
  const told = changed.map((field) => `${field} ${shown(found[field])} → ${shown(body[field])}`)
  return `change ${name} (${found.id}): ${told.join(', ')}`
}

const SHOWN_CHARS_MAX = 60

function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > SHOWN_CHARS_MAX ? `${text.slice(0, SHOWN_CHARS_MAX)}…` : text
}

type Practising = {
  readonly context: ShopHost
  readonly plan: ListingPlan
  readonly isFree: boolean
  readonly written: WrittenListing
}

function practiceWords({ context, plan, isFree, written }: Practising): string | undefined {
  const { practice } = context.options
  if (!written.isActive || practice === 'never' || (practice === 'changed' && plan.change === 'unchanged'))
    return undefined
  if (!isFree) return 'none: the instance has no test money, and trials never use real money'
  if (written.isQuoted) return 'none: its price is quoted in a conversation'
  return 'buy the listing once with a separate wallet and test money'
}
