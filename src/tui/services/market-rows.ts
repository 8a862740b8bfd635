import type { WireAnswer } from '../../api/endpoint/define.ts'
import { planFields, postingFields, productFields, subscriptionFields } from '../../api/endpoint/list-fields.ts'
import type { Api } from '../../api/index.ts'
import type { Link, Outcome } from '../../client/link.ts'
import type { ListFields } from '../../core/filter.ts'
import { byteSize, count, shortAddress } from '../../text/text.ts'
import { zonedTime } from '../../text/time.ts'
import { accent, dim, good, type Piece, warn } from '../parts/line.ts'
import { budgetWords } from '../requests/facts.ts'
import { listAsked, pageOf } from '../shell/finding.ts'
import { ask } from '../shell/queries.ts'
import { text, time } from '../shell/read.ts'
import type { ShopView } from '../shell/ui.ts'

export const MARKET_PAGE = 50

/** What is offered besides listings, and what is wanted. */
export type MarketView = Exclude<ShopView, 'services'>

/** A plan, a subscription, a request for work or a product, as its list shows it. */
export type MarketRow = {
  readonly id: string
  /** How it stands, sign and word. */
  readonly state: Piece
  readonly name: string
  /** Whose it is, or between whom. */
  readonly who: string
  /** What is paid for it, like `$5.25` or `$1.50 to $25.00`. */
  readonly amount: string
  /** `month`, or a category. */
  readonly kind: string
  /** Subscribers, bids or sales. */
  readonly many: string
  readonly createdAt: number | undefined
  /** What happens next by itself, as words before the time, and when; empty where nothing does. */
  readonly next: string
  readonly nextAt: number | undefined
  /** All that is known of it, label by label. */
  readonly facts: readonly (readonly [label: string, words: string])[]
  readonly raw: unknown
}

export type MarketList = { readonly rows: readonly MarketRow[]; readonly total: number }

/** What each view can be asked about. */
export const marketFields = {
  plans: planFields,
  subscriptions: subscriptionFields,
  requests: postingFields,
  products: productFields,
} as const satisfies Record<MarketView, ListFields>

export type WantedMarket = {
  readonly view: MarketView
  readonly page: number
  /** As it was typed, and found good for the view. */
  readonly filter: string
  readonly sort: string | undefined
}

type Answered<K extends 'listAllPlans' | 'listAllSubscriptions' | 'listAllPostings' | 'listAllProducts'> = WireAnswer<
  Api[K]
>

/** One page of what everybody offers or wants, the newest first unless sorted. */
export const fetchMarket =
  (link: Link, wanted: WantedMarket) =>
  (signal: AbortSignal): Promise<Outcome<MarketList>> => {
    const page = pageOf(wanted.page, MARKET_PAGE)
    if (wanted.view === 'plans') {
      const asked = { query: { ...page, ...listAsked(wanted, planFields) }, signal }
      return ask(link, { name: 'listAllPlans', asked }, ({ plans, total }) => ({ rows: plans.map(readPlan), total }))
    }
    if (wanted.view === 'subscriptions') {
      const asked = { query: { ...page, ...listAsked(wanted, subscriptionFields) }, signal }
      return ask(link, { name: 'listAllSubscriptions', asked }, ({ subscriptions, total }) => ({
        rows: subscriptions.map(readSubscription),
        total,
      }))
    }
    if (wanted.view === 'requests') {
      const asked = { query: { ...page, ...listAsked(wanted, postingFields) }, signal }
      return ask(link, { name: 'listAllPostings', asked }, ({ postings, total }) => ({
        rows: postings.map(readPosting),
        total,
      }))
    }
    const asked = { query: { ...page, ...listAsked(wanted, productFields) }, signal }
    return ask(link, { name: 'listAllProducts', asked }, ({ products, total }) => ({
      rows: products.map(readProduct),
      total,
    }))
  }

export type ShopCounts = Readonly<Partial<Record<ShopView, number>>>

/** How much there is of everything; what an older instance does not tell is left out. */
export const fetchShopCounts =
  (link: Link, admin: boolean) =>
  async (signal: AbortSignal): Promise<Outcome<ShopCounts>> => {
    if (!admin) return { ok: true, value: {} }
    const asked = { query: { limit: '1' }, signal }
    const total = (answer: { readonly total: number }) => answer.total
    const [services, plans, subscriptions, requests, products] = await Promise.all([
      ask(link, { name: 'listAllServices', asked }, total),
      ask(link, { name: 'listAllPlans', asked }, total),
      ask(link, { name: 'listAllSubscriptions', asked }, total),
      ask(link, { name: 'listAllPostings', asked }, total),
      ask(link, { name: 'listAllProducts', asked }, total),
    ])
    const told = Object.entries({ services, plans, subscriptions, requests, products }).flatMap(([name, answer]) =>
      answer.ok ? [[name, answer.value] as const] : [],
    )
    return { ok: true, value: Object.fromEntries(told) }
  }

const periods = { monthly: 'month', annual: 'year' } as const
const nothingNext = { next: '', nextAt: undefined } as const

function nameOf(name: string, id: string): string {
  return text(name) || id
}

function readPlan(plan: Answered<'listAllPlans'>['plans'][number]): MarketRow {
  const who = nameOf(plan.provider_name, plan.provider_id)
  const period = periods[plan.billing_period]
  return {
    id: plan.plan_id,
    state: plan.status === 'active' ? good('● offered') : dim('‖ not offered'),
    name: text(plan.name),
    who,
    amount: `$${plan.agent_price}`,
    kind: period,
    many: count(plan.subscribers),
    createdAt: time(plan.created_at),
    ...nothingNext,
    facts: [
      ['provider', `${who}  ${plan.provider_id}`],
      ['price', `$${plan.agent_price} a ${period}, of which the provider gets $${plan.provider_net_price}`],
      ['subscribed', count(plan.subscribers)],
      ...plan.services.map(({ service_id, name, status }): readonly [string, string] => [
        'service',
        `${service_id}  ${text(name)}${status === 'active' ? '' : `  ${status}`}`,
      ]),
      ['what', text(plan.description)],
    ],
    raw: plan,
  }
}

type SubscriptionAnswered = Answered<'listAllSubscriptions'>['subscriptions'][number]

const standings: Readonly<Record<SubscriptionAnswered['status'], Piece>> = {
  active: good('● active'),
  past_due: warn('! past due'),
  paused: dim('‖ paused'),
  canceled: dim('× cancelled'),
  expired: dim('– ended'),
}

function readSubscription(one: SubscriptionAnswered): MarketRow {
  const { subscriber, provider_id: provider } = one
  const buyer = text(one.subscriber_name) || shortAddress(subscriber.wallet)
  const period = periods[one.billing_period]
  const isEnding = one.cancel_at_period_end && one.ended_at === null
  const ends = { next: 'ends', nextAt: time(one.current_period_end) }
  const charged = { next: 'is charged', nextAt: time(one.next_charge_at) }
  const next = one.next_charge_at === null ? nothingNext : charged
  return {
    id: one.subscription_id,
    state: isEnding ? warn('● ends') : standings[one.status],
    name: text(one.plan_name),
    who: `${buyer} → ${nameOf(one.provider_name, provider)}`,
    amount: `$${one.amount}`,
    kind: period,
    many: count(one.periods_paid),
    createdAt: time(one.created_at),
    ...(isEnding ? ends : next),
    facts: [
      ['plan', `${one.plan_id}  ${text(one.plan_name)}`],
      ['subscriber', `${buyer}  ${subscriber.participant_id}`],
      ['wallet', text(subscriber.wallet)],
      ['provider', `${nameOf(one.provider_name, provider)}  ${provider}`],
      ['price', `$${one.amount} a ${period}: the provider gets $${one.provider_amount}, the platform $${one.fee}`],
      ['period', `${timeOf(one.current_period_start)} to ${timeOf(one.current_period_end)}`],
      ['paid', `${count(one.periods_paid)} times, first by ${one.payment.method}  ${one.receipt_id}`],
      ...(one.failed_charges === 0 ? [] : [['failed', `${count(one.failed_charges)} charges in a row`] as const]),
      ['access', one.has_access ? 'its services are free of charge' : 'none: its services cost their price'],
    ],
    raw: one,
  }
}

type PostingAnswered = Answered<'listAllPostings'>['postings'][number]

const wishes: Readonly<Record<PostingAnswered['status'], Piece>> = {
  open: accent('● open'),
  awarded: good('✓ awarded'),
  completed: good('✓ done'),
  cancelled: dim('× taken back'),
  expired: dim('– ran out'),
}

function readPosting(one: PostingAnswered): MarketRow {
  const who = nameOf(one.poster_name, one.poster_id)
  const budget = budgetWords(one)
  return {
    id: one.posting_id,
    state: wishes[one.status],
    name: text(one.title),
    who,
    amount: budget,
    kind: text(one.category),
    many: count(one.bid_count),
    createdAt: time(one.created_at),
    ...(one.status === 'open' ? { next: 'runs out', nextAt: time(one.expires_at) } : nothingNext),
    facts: [
      ['asked by', `${who}  ${one.poster_id}${one.is_subcontract ? '  as a part of a job of its own' : ''}`],
      ['budget', budget],
      ['bids', count(one.bid_count)],
      ['until', `${timeOf(one.expires_at)}${one.deadline === null ? '' : `, wanted by ${timeOf(one.deadline)}`}`],
      ['brief', text(JSON.stringify(one.brief))],
    ],
    raw: one,
  }
}

type ProductAnswered = Answered<'listAllProducts'>['products'][number]

const sales: Readonly<Record<ProductAnswered['status'], Piece>> = {
  draft: dim('○ draft'),
  active: good('● for sale'),
  inactive: dim('‖ withdrawn'),
  deleted: dim('× deleted'),
}

function readProduct(one: ProductAnswered): MarketRow {
  const who = nameOf(one.provider_name, one.provider_id)
  const { file } = one
  return {
    id: one.product_id,
    state: sales[one.status],
    name: text(one.name),
    who,
    amount: `$${one.agent_price}`,
    kind: text(one.category),
    many: count(one.sold),
    createdAt: time(one.listed_at),
    ...nothingNext,
    facts: [
      ['provider', `${who}  ${one.provider_id}`],
      ['price', `$${one.agent_price}, of which the provider gets $${one.provider_net_price}`],
      ['sold', count(one.sold)],
      [
        'file',
        file === null ? 'none yet' : `${text(file.name)}  ${byteSize(file.size_bytes)}  ${text(file.content_type)}`,
      ],
      ...(file === null ? [] : [['sha256', text(file.sha256)] as const]),
      ['what', text(one.description)],
    ],
    raw: one,
  }
}

function timeOf(iso: string): string {
  const at = time(iso)
  return at === undefined ? '—' : zonedTime(at)
}
