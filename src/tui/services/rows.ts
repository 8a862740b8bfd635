import type { WireAnswer } from '../../api/endpoint/define.ts'
import type { serviceFields } from '../../api/endpoint/list-fields.ts'
import type { Api } from '../../api/index.ts'
import type { Link, Outcome } from '../../client/link.ts'
import type { Delivery } from '../../nouns/deliveries.ts'
import type { Job } from '../../nouns/jobs.ts'
import { type ListPage, pageOf } from '../shell/finding.ts'
import { ask } from '../shell/queries.ts'
import { text } from '../shell/read.ts'
import { readService, type ServiceFacts } from './facts.ts'

/** Listings per page. */
export const SERVICES_PAGE = 50
/** Longest search text that the API accepts. */
const SEARCH_CHARS_MAX = 200
const DELIVERIES = 50
const SALES = 30
/** Default order. */
const MOST_SOLD = '-sold'

export type Services = {
  readonly services: readonly ServiceFacts[]
  readonly total: number
  /** True if an operator gets the public catalog, because the instance has no list for operators. */
  readonly isPublic: boolean
}

export type Search = ListPage<typeof serviceFields> & { readonly admin: boolean }

/** Fetches listings, most sold first. Without the admin key, or from older instances, it only searches the catalog. */
export const fetchServices =
  (link: Link, { admin, page, asked }: Search) =>
  async (signal: AbortSignal): Promise<Outcome<Services>> => {
    const query = pageOf(page, SERVICES_PAGE)
    const read = ({ services, total }: Pick<WireAnswer<Api['listAllServices']>, 'services' | 'total'>): Services => ({
      services: services.map(readService),
      total,
      isPublic: false,
    })
    if (admin) {
      const name = 'listAllServices'
      const answer = await mostSold(asked, (words) =>
        ask(link, { name, asked: { query: { ...query, ...words }, signal } }, read),
      )
      if (answer.ok || answer.problem.kind !== 'absent') return answer
    }
    const q = plainWords(asked.filter ?? '').slice(0, SEARCH_CHARS_MAX)
    const asWanted = { query: { ...query, ...(q === '' ? {} : { q }) }, signal }
    const found = await ask(link, { name: 'getCatalog', asked: asWanted }, read)
    return found.ok ? { ok: true, value: { ...found.value, isPublic: admin } } : found
  }

/** Orders by sales if no order is given. If that fails, as on older instances, repeats the request without an order. */
async function mostSold<T>(
  asked: Search['asked'],
  of: (words: Search['asked']) => Promise<Outcome<T>>,
): Promise<Outcome<T>> {
  if (asked.sort !== undefined) return of(asked)
  const answer = await of({ ...asked, sort: MOST_SOLD })
  return answer.ok || answer.problem.kind !== 'failed' ? answer : of(asked)
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
