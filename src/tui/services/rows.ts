import type { WireAnswer } from '../../api/index.ts'
import type { Link, Outcome } from '../../client/link.ts'
import type { Delivery } from '../../nouns/deliveries.ts'
import type { Job } from '../../nouns/jobs.ts'
import type { CatalogListing } from '../../nouns/services.ts'
import { ask } from '../shell/queries.ts'

type Selling = WireAnswer<'listAllServices'>['services'][number]['selling']

/** A listing. Only the operator's list has sales figures. */
export type MarketListing = (WireAnswer<'getService'> | CatalogListing) & { readonly selling?: Selling }

/** The reputation of the provider, as a number. Undefined if it has none. */
export function scoreOf({ provider_reputation: score }: MarketListing): number | undefined {
  return (typeof score === 'number' ? score : score?.score) ?? undefined
}

export function isNewProvider({ provider_is_new: isNew, provider_reputation: score }: MarketListing): boolean {
  return isNew === true || (typeof score === 'object' && score?.is_new === true)
}

/** Longest search text that the API accepts. */
const SEARCH_CHARS_MAX = 200
const DELIVERIES = 50
const SALES = 30

/** What the catalog can search for: the plain words of a filter. */
export function catalogQuery(filter: string): { readonly q?: string } {
  const words = filter.split(' ').filter((word) => !/[!:"]/.test(word))
  const q = words.join(' ').slice(0, SEARCH_CHARS_MAX)
  return q === '' ? {} : { q }
}

/** Fetches a listing with all details. Undefined without an id. */
export const fetchService =
  (link: Link, id: string) =>
  async (signal: AbortSignal): Promise<Outcome<MarketListing | undefined>> =>
    id === '' ? none : ask(link, { name: 'getService', asked: { params: { id }, signal } }, (listing) => listing)

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
    const read = ({ deliveries }: WireAnswer<'getWebhooks' | 'listDeliveries'>) => deliveries
    return admin
      ? ask(link, { name: 'getWebhooks', asked: { query: { ...query, participant: provider }, signal } }, read)
      : ask(link, { name: 'listDeliveries', asked: { query, signal } }, read)
  }
