import type { WireAnswer } from '../../api/endpoint/define.ts'
import type { serviceFields } from '../../api/endpoint/list-fields.ts'
import type { Api } from '../../api/index.ts'
import type { Link, Outcome } from '../../client/link.ts'
import type { Delivery } from '../../nouns/deliveries.ts'
import type { Job } from '../../nouns/jobs.ts'
import { type ListPage, pageOf } from '../shell/finding.ts'
import { ask } from '../shell/queries.ts'
import { text } from '../shell/read.ts'
import { type AnyListing, readService, type ServiceFacts } from './facts.ts'

/** Listings per page. */
export const SERVICES_PAGE = 50
/** Longest search text that the API accepts. */
const SEARCH_CHARS_MAX = 200
const DELIVERIES = 50
const SALES = 30
/** Default order. */
const MOST_SOLD = '-sold' as const

export type Services = ReturnType<typeof readServices>

export type Search = ListPage<typeof serviceFields> & { readonly admin: boolean }

const readServices = ({ services, total }: { readonly services: readonly AnyListing[]; readonly total: number }) => ({
  services: services.map(readService),
  total,
})

/** Fetches listings, most sold first. Without the admin key, only searches the catalog. */
export const fetchServices =
  (link: Link, { admin, page, asked }: Search) =>
  async (signal: AbortSignal): Promise<Outcome<Services>> => {
    const query = pageOf(page, SERVICES_PAGE)
    if (admin) {
      const all = { query: { ...query, sort: MOST_SOLD, ...asked }, signal }
      return ask(link, { name: 'listAllServices', asked: all }, readServices)
    }
    const q = plainWords(asked.filter ?? '').slice(0, SEARCH_CHARS_MAX)
    return ask(
      link,
      { name: 'getCatalog', asked: { query: { ...query, ...(q === '' ? {} : { q }) }, signal } },
      readServices,
    )
  }

function plainWords(filter: string): string {
  return filter
    .split(' ')
    .filter((word) => !/[!:"]/.test(word))
    .join(' ')
}

/** Fetches a listing with all details. Undefined without an id. */
export const fetchService =
  (link: Link, id: string) =>
  async (signal: AbortSignal): Promise<Outcome<ServiceFacts | undefined>> =>
    id === '' ? none : ask(link, { name: 'getService', asked: { params: { id }, signal } }, readService)

const none = { ok: true, value: undefined } as const

/** Fetches the newest jobs of a listing. Empty without an id. */
export const fetchSales =
  (link: Link, id: string) =>
  async (signal: AbortSignal): Promise<Outcome<readonly Job[]>> => {
    if (id === '') return { ok: true, value: [] }
    const query = { filter: `service:${id}`, limit: String(SALES) }
    return ask(link, { name: 'listAllJobs', asked: { query, signal } }, ({ jobs }) => jobs)
  }

export type DeliveriesOf = { readonly provider: string; readonly isOwn: boolean; readonly admin: boolean }

/** Fetches the newest deliveries of a provider. Undefined if the user may not read them. */
export const fetchDeliveries =
  (link: Link, { provider, isOwn, admin }: DeliveriesOf) =>
  async (signal: AbortSignal): Promise<Outcome<readonly Delivery[] | undefined>> => {
    if (provider === '' || !(admin || isOwn)) return none
    const query = { limit: String(DELIVERIES) }
    const read = ({ deliveries }: WireAnswer<Api['getWebhooks' | 'listDeliveries']>) => deliveries
    return admin
      ? ask(link, { name: 'getWebhooks', asked: { query: { ...query, participant: provider }, signal } }, read)
      : ask(link, { name: 'listDeliveries', asked: { query, signal } }, read)
  }

export type HookTest = { readonly delivered: boolean; readonly words: string }

/** Sends a test message to the webhook of one's own listing. */
export function testHook(link: Link, id: string): Promise<Outcome<HookTest>> {
  return ask(link, { name: 'testService', asked: { params: { id } } }, ({ status, error, latency_ms, delivered }) => {
    const answer = status === null ? 'no answer' : `HTTP ${status}`
    const why = text(error)
    return { delivered, words: `${answer} in ${latency_ms} ms${why === '' ? '' : `: ${why}`}` }
  })
}
