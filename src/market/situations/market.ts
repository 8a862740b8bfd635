import { DAY_MS } from '../../core/time.ts'
import { bidOn, fileOf, postRequest } from '../acts.ts'
import { listingOf, type Makeable, made, type Scene, type Situation, visitor } from './scene.ts'

const MONTH_MS = 32 * DAY_MS
/** Business time after which an unpaid subscription has surely expired. A failed renewal is retried for three days. */
const UNPAID_MS = 41 * DAY_MS

async function awarded(scene: Scene): Promise<void> {
  const { play, cast, told } = scene
  const id = await postRequest(play, 'acme', told.title ?? 'Proofread a page')
  const bid = await bidOn(play, id, { by: 'inkwell', price: told.price ?? '2.00' })
  await bidOn(play, id, { by: 'pixelforge', price: '3.00' })
  const { job_id: job } = await cast.acme.pay('awardPosting', { params: { id }, body: { bid_id: bid } })
  const deliverables = { text: 'Two commas were missing.' }
  await cast.inkwell.call('updateJob', { params: { id: job }, body: { status: 'completed', deliverables } })
  await cast.acme.pay('verifyJob', { params: { id: job }, body: { rating: 5 } })
}

async function bidMade({ play, told, on }: Scene): Promise<void> {
  const id = on ?? (await postRequest(play, 'acme', told.title ?? 'Proofread a page'))
  await bidOn(play, id, { by: 'pixelforge', price: told.price ?? '3.00' })
}

async function bidTakenBack({ play, cast, told }: Scene): Promise<void> {
  const id = await postRequest(play, 'acme', told.title ?? 'Proofread a page')
  const bidId = await bidOn(play, id, { by: 'pixelforge', price: told.price ?? '3.00' })
  await cast.pixelforge.call('withdrawBid', { params: { id, bidId } })
}

async function requestCancelled({ play, cast, told }: Scene): Promise<void> {
  const id = await postRequest(play, 'acme', told.title ?? 'Proofread a page')
  await cast.acme.call('cancelPosting', { params: { id } })
}

async function requestRunsOut({ cast, operator, advance }: Scene): Promise<void> {
  const { now } = await operator.call('getClock', {})
  const deadline = new Date(Date.parse(now) + DAY_MS).toISOString()
  const body = { title: 'Proofread a page', brief: { text: 'One page.' }, budget_max_usd: 5, deadline }
  await cast.acme.call('createPosting', { body })
  await advance(2 * DAY_MS)
}

async function posterSuspended(scene: Scene): Promise<void> {
  const poster = await visitor(scene)
  const body = { title: 'Proofread a page', brief: { text: 'One page.' }, budget_max_usd: 5 }
  await poster.call('createPosting', { body })
  const standing = async (suspended: boolean) => {
    const params = { id: poster.id }
    await scene.operator.call('setParticipant', { params, body: { suspended, reason: 'A letter came.' } })
  }
  await standing(true)
  await standing(false)
}

async function told(scene: Scene): Promise<void> {
  const sink = await scene.sink()
  const seller = await visitor(scene, { type: 'provider', hookUrl: sink.url })
  await listingOf(seller)
  await seller.call('setPostingNotifications', { body: { enabled: true } })
  await postRequest(scene.play, 'acme', 'Proofread a page')
  await scene.operator.call('runCron', { params: { name: 'posting-notify-retries' } })
}

async function planLife({ cast, shelf, told }: Scene): Promise<void> {
  const plan = {
    name: told.name ?? 'Passing',
    price: told.price ?? '1.00',
    billing_period: 'monthly' as const,
    service_ids: [shelf.palette],
  }
  const { id } = await cast.pixelforge.call('createPlan', { body: plan })
  await cast.pixelforge.call('updatePlan', { params: { id }, body: { price: '1.50' } })
  await cast.pixelforge.call('deletePlan', { params: { id } })
}

/** Subscribes a new user to the plan of another new user. */
async function subscribed(scene: Scene) {
  const seller = await visitor(scene, { type: 'provider' })
  const service = await listingOf(seller)
  const price = scene.told.price ?? '1.00'
  const plan = { name: 'All counts', price, billing_period: 'monthly' as const, service_ids: [service] }
  const { id: planId } = await seller.call('createPlan', { body: plan })
  const who = await visitor(scene)
  const { id } = await who.pay('subscribe', { params: { id: planId } })
  return { who, seller, id }
}

/** Subscribes a new user to the given plan, or to a new one. */
async function joined(scene: Scene): Promise<void> {
  const { on } = scene
  if (on === undefined) await subscribed(scene)
  else await (await visitor(scene)).pay('subscribe', { params: { id: on } })
}

async function pausedAndOn(scene: Scene): Promise<void> {
  const { who, id } = await subscribed(scene)
  await who.call('pauseSubscription', { params: { id } })
  await who.call('resumeSubscription', { params: { id } })
}

async function endedNow(scene: Scene): Promise<void> {
  const { who, id } = await subscribed(scene)
  await who.call('cancelSubscription', { params: { id }, body: { at_period_end: false } })
}

async function renewed(scene: Scene): Promise<void> {
  const { who } = await subscribed(scene)
  await who.pay('deposit', { body: { amount: '5.00' } })
  await scene.advance(MONTH_MS)
}

export async function unserved(scene: Scene): Promise<void> {
  const { seller } = await subscribed(scene)
  const params = { id: seller.id }
  await scene.operator.call('setParticipant', { params, body: { suspended: true, reason: 'A letter came.' } })
}

async function productLife(scene: Scene): Promise<void> {
  const { play, cast, told, on } = scene
  if (on !== undefined) {
    await (await visitor(scene)).pay('purchaseProduct', { params: { id: on }, body: {} })
    return
  }
  const file = await fileOf(play, 'page.txt', 'A page.\n')
  const sold = { name: told.name ?? 'A page', price: told.price ?? '0.50' }
  const { id } = await cast.pixelforge.call('createProduct', { body: sold, file })
  await (await visitor(scene)).pay('purchaseProduct', { params: { id }, body: {} })
  await cast.pixelforge.call('updateProduct', { params: { id }, body: { price: '0.60' } })
  await cast.pixelforge.call('deleteProduct', { params: { id } })
}

async function listingLife({ cast, told }: Scene): Promise<void> {
  const id = await listingOf(cast.inkwell, told)
  await cast.inkwell.call('updateService', { params: { id }, body: { price: '0.60' } })
  await cast.inkwell.call('deleteService', { params: { id } })
}

const request = { sets: ['title'] } as const
const bid = { sets: ['title', 'price'] } as const
const wares = { sets: ['name', 'price'] } as const
const priced = { sets: ['price'] } as const
const asTimePasses = (moves: number): Makeable =>
  made(
    async (scene) => {
      await subscribed(scene)
      await scene.advance(moves)
    },
    { moves, ...priced },
  )

export const marketSituations = {
  'posting.created': made(requestCancelled, request),
  'posting.open': { why: 'a request is open as soon as it is posted; posting.created covers both' },
  'posting.awarded': made(awarded, bid),
  'posting.completed': made(awarded, bid),
  'posting.cancelled': made(requestCancelled, request),
  'posting.expired': made(requestRunsOut, { moves: 2 * DAY_MS }),
  'posting.suspended': made(posterSuspended),
  'posting.reinstated': made(posterSuspended),
  'bid.submitted': made(bidMade, { about: ['posting'], ...bid }),
  'bid.withdrawn': made(bidTakenBack, bid),
  'bid.accepted': made(awarded, bid),
  'bid.rejected': made(awarded, bid),
  'request.created': made(told),
  'request.notifications_disabled': { why: 'it needs twenty failed notifications in a row, which takes days' },
  'plan.created': made(planLife, wares),
  'plan.updated': made(planLife, wares),
  'plan.deleted': made(planLife, wares),
  'subscription.created': made(joined, { about: ['plan'], ...priced }),
  'subscription.renewed': made(renewed, { moves: MONTH_MS, ...priced }),
  'subscription.past_due': asTimePasses(MONTH_MS),
  'subscription.expired': asTimePasses(UNPAID_MS),
  'subscription.canceled': made(endedNow, priced),
  'subscription.paused': made(pausedAndOn, priced),
  'subscription.resumed': made(pausedAndOn, priced),
  'subscription.unserved': made(unserved, priced),
  'product.created': made(productLife, wares),
  'product.updated': made(productLife, wares),
  'product.deleted': made(productLife, wares),
  'product.sold': made(productLife, { about: ['product'], ...wares }),
  'service.created': made(listingLife, wares),
  'service.updated': made(listingLife, wares),
  'service.deleted': made(listingLife, wares),
} as const satisfies Readonly<Record<string, Situation>>
