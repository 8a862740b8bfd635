import type { WireAnswer } from '../../api/index.ts'
import type { Link } from '../../client/link.ts'
import type { Delivery } from '../../nouns/deliveries.ts'
import type { Job } from '../../nouns/jobs.ts'
import type { CatalogListing } from '../../nouns/services.ts'
import { fetching, fetchNothing } from '../shell/queries.ts'
import type { Fetch } from '../shell/query.ts'

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
export const fetchService = (link: Link, id: string): Fetch<MarketListing | undefined> =>
  id === '' ? fetchNothing : fetching('getService', { params: { id } }, (listing) => listing)(link)

/** Fetches the newest jobs of a listing. Undefined without an id. */
export const fetchSales = (link: Link, id: string): Fetch<readonly Job[] | undefined> => {
  const query = { filter: `service:${id}`, limit: String(SALES) }
  return id === '' ? fetchNothing : fetching('listAllJobs', { query }, ({ jobs }) => jobs)(link)
}

export type DeliveriesOf = { readonly provider: string; readonly isOwn: boolean; readonly admin: boolean }

/** Fetches the newest deliveries of a provider. Undefined if the user may not read them. */
export function fetchDeliveries(
  link: Link,
  { provider, isOwn, admin }: DeliveriesOf,
): Fetch<readonly Delivery[] | undefined> {
  if (provider === '' || !(admin || isOwn)) return fetchNothing
  const query = { limit: String(DELIVERIES) }
  if (!admin) return fetching('listDeliveries', { query }, ({ deliveries }) => deliveries)(link)
  return fetching('getWebhooks', { query: { ...query, participant: provider } }, ({ deliveries }) => deliveries)(link)
}
