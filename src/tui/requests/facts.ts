import type { WireAnswer } from '../../api/endpoint/define.ts'
import type { Api } from '../../api/index.ts'
import type { Link, Outcome } from '../../client/link.ts'
import { compact } from '../../core/record.ts'
import type { PostingStatus } from '../../model/posting.ts'
import { count } from '../../text/text.ts'
import { pageOf } from '../shell/finding.ts'
import { ask } from '../shell/queries.ts'
import { text, time } from '../shell/read.ts'

export const REQUESTS_PAGE = 50

type Answered = WireAnswer<Api['listPostings']>['postings'][number]

/** Work that somebody wants done. */
export type WantedWork = {
  readonly id: string
  readonly title: string
  readonly category: string
  readonly status: PostingStatus
  readonly posterId: string
  /** Like `$10.00 to $25.00`. */
  readonly budget: string
  readonly bids: number
  readonly createdAt: number | undefined
  readonly expiresAt: number | undefined
  readonly isSubcontract: boolean
  readonly brief: unknown
  readonly raw: unknown
}

export type Requests = {
  readonly requests: readonly WantedWork[]
  readonly total: number
  /** How many were looked at for what is typed, where those are not all. */
  readonly among: string
}

/** The row knows no fields: what is typed is looked for in so many of the newest. */
const SEARCHED_PAGES = 10

/** As many of the newest as are searched, a page after the other. */
export const searchWork =
  (link: Link, { status }: { readonly status: PostingStatus | undefined }) =>
  async (signal: AbortSignal): Promise<Outcome<Requests>> => {
    let found: readonly WantedWork[] = []
    let total = 0
    for (let page = 0; page < SEARCHED_PAGES; page += 1) {
      const answer = await fetchWork(link, { page, status })(signal)
      if (!answer.ok) return answer
      total = answer.value.total
      found = [...found, ...answer.value.requests]
      if (found.length >= total || answer.value.requests.length === 0) break
    }
    const among = found.length < total ? `the newest ${count(found.length)} of ${count(total)} looked at` : ''
    return { ok: true, value: { requests: found, total, among } }
  }

/** One page of requests, of one state or of all. */
export const fetchWork =
  (link: Link, { page, status }: { readonly page: number; readonly status: PostingStatus | undefined }) =>
  (signal: AbortSignal): Promise<Outcome<Requests>> => {
    const query = { ...pageOf(page, REQUESTS_PAGE), ...compact({ status }) }
    return ask(link, { name: 'listPostings', asked: { query, signal } }, ({ postings, total }) => ({
      requests: postings.map(readRequest),
      total,
      among: '',
    }))
  }

function readRequest(one: Answered): WantedWork {
  return {
    id: one.id,
    title: text(one.title),
    category: text(one.category),
    status: one.status,
    posterId: one.poster_id,
    budget: budgetWords(one),
    bids: one.bid_count,
    createdAt: time(one.created_at),
    expiresAt: time(one.expires_at),
    isSubcontract: one.is_subcontract,
    brief: one.brief,
    raw: one,
  }
}

/** `$1.50 to $25.00`; `$25.00` where there is no least. */
export function budgetWords(one: Pick<Answered, 'budget_min_usd' | 'budget_max_usd'>): string {
  const most = dollars(one.budget_max_usd)
  return one.budget_min_usd === 0 ? most : `${dollars(one.budget_min_usd)} to ${most}`
}

const CENTS = 2
const MICROS = 6

/** A number of dollars as money is written: two to six decimals. */
function dollars(value: number): string {
  const [whole = '0', cents = ''] = value.toFixed(MICROS).split('.')
  return `$${whole}.${cents.replace(/0+$/, '').padEnd(CENTS, '0')}`
}

export type BidFacts = {
  readonly id: string
  readonly providerId: string
  readonly serviceId: string
  /** What an award costs whoever asked for the work. */
  readonly price: string
  readonly hours: number
  readonly pitch: string
  readonly status: WireAnswer<Api['listBids']>['bids'][number]['status']
}

/** Bids are their request's owner's to read: without its key there are none, and that is said. */
export type Bids = { readonly of: string; readonly bids: readonly BidFacts[]; readonly isDenied: boolean }

export const fetchBids =
  (link: Link, id: string) =>
  async (signal: AbortSignal): Promise<Outcome<Bids>> => {
    if (id === '') return { ok: true, value: { of: '', bids: [], isDenied: false } }
    const answer = await ask(link, { name: 'listBids', asked: { params: { id }, signal } }, ({ bids }) =>
      bids.map(readBid),
    )
    if (answer.ok) return { ok: true, value: { of: id, bids: answer.value, isDenied: false } }
    if (answer.problem.kind !== 'denied') return answer
    return { ok: true, value: { of: id, bids: [], isDenied: true } }
  }

function readBid(bid: WireAnswer<Api['listBids']>['bids'][number]): BidFacts {
  return {
    id: bid.id,
    providerId: bid.provider_id,
    serviceId: bid.service_id,
    price: dollars(bid.agent_price_usd),
    hours: bid.eta_hours,
    pitch: text(bid.pitch),
    status: bid.status,
  }
}
