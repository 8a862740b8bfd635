import type { Api } from '../../api/index.ts'
import type { Link, Outcome } from '../../client/link.ts'
import { get, pathTo, post } from '../shell/queries.ts'
import { fields, list, number, text } from '../shell/read.ts'
import type { Ui } from '../shell/ui.ts'
import { type Delivery, readDelivery, readService, type Service } from './facts.ts'

/** Listings on a page. */
export const SERVICES_PAGE = 50
/** The interface takes no longer search text. */
const SEARCH_CHARS_MAX = 200
const DELIVERIES = 50

const paths = {
  getCatalog: '/v1/services/catalog',
  getService: '/v1/services/:id',
  testService: '/v1/services/:id/test',
  getWebhooks: '/dashboard/api/admin/webhooks',
  listDeliveries: '/v1/webhooks/deliveries',
} as const satisfies Partial<{ [K in keyof Api]: Api[K]['path'] }>

export type Services = { readonly services: readonly Service[]; readonly total: number; readonly offset: number }

export type Search = { readonly words: string; readonly sort: Ui['serviceSort']; readonly page: number }

export const fetchServices =
  (link: Link, { words, sort, page }: Search) =>
  (signal: AbortSignal) => {
    const query = {
      limit: SERVICES_PAGE,
      offset: page * SERVICES_PAGE,
      q: words === '' ? undefined : words.slice(0, SEARCH_CHARS_MAX),
      sort: sort === 'best' ? undefined : sort,
    }
    return get<Services>(link, { path: paths.getCatalog, query, signal }, (body) => ({
      services: list(body.services).map(readService),
      total: number(body.total) ?? 0,
      offset: number(body.offset) ?? 0,
    }))
  }

/** A listing with what only its own row says; nothing for no id. */
export const fetchService =
  (link: Link, id: string) =>
  async (signal: AbortSignal): Promise<Outcome<Service | undefined>> =>
    id === '' ? none : get(link, { path: pathTo(paths.getService, id), signal }, readService)

const none = { ok: true, value: undefined } as const

export type DeliveriesOf = { readonly provider: string; readonly isOwn: boolean; readonly admin: boolean }

/** The newest messages to a provider's webhooks, where this credential may see them; undefined where it may not. */
export const fetchDeliveries =
  (link: Link, { provider, isOwn, admin }: DeliveriesOf) =>
  async (signal: AbortSignal): Promise<Outcome<readonly Delivery[] | undefined>> => {
    if (provider === '' || !(admin || isOwn)) return none
    const call = admin
      ? { path: paths.getWebhooks, query: { participant: provider, limit: DELIVERIES } }
      : { path: paths.listDeliveries, query: { limit: DELIVERIES }, own: true }
    return get(link, { ...call, signal }, (body) => list(body.deliveries).map(readDelivery))
  }

export type HookTest = { readonly delivered: boolean; readonly words: string }

/** Sends a test message to the webhook of one's own listing. */
export function testHook(link: Link, id: string): Promise<Outcome<HookTest>> {
  return post(link, { path: pathTo(paths.testService, id), own: true }, (body) => {
    const status = number(fields(body).status)
    const answer = status === undefined ? 'no answer' : `HTTP ${status}`
    const why = text(body.error)
    const words = `${answer} in ${number(body.latency_ms) ?? 0} ms${why === '' ? '' : `: ${why}`}`
    return { delivered: body.delivered === true, words }
  })
}
