import type { z } from 'zod'
import type { Endpoint } from '../../../src/api/endpoint/define.ts'
import { api, type EndpointName, endpointNames } from '../../../src/api/index.ts'
import type { requestsApi } from '../../../src/api/sections/admin-requests.ts'
import { AppError } from '../../../src/core/error.ts'
import { MINUTE_MS } from '../../../src/core/time.ts'
import { noFacts, type RequestFacts } from '../../endpoint/exchange.ts'
import { matchesGlob } from '../../events/own.ts'
import { type AdminActRow, adminActs } from '../../events/rows.ts'
import { defineResource } from '../../kernel/context.ts'
import { participants } from '../../kernel/rows.ts'
import type { ReadTx } from '../../store/port.ts'
import { type JobRow, jobs } from '../jobs/rows.ts'
import { services } from '../listings/rows.ts'
import { type PaymentRow, payments } from '../payments/rows.ts'
import { threads } from '../threads/rows.ts'

/** Maximum time between a 402 and the payment that answers it. */
const OFFER_AGE_MS = 10 * MINUTE_MS

/** Finds the earlier 402 that named the price which `request` paid or tried to pay; undefined if unknown. */
export type OfferOf = (request: LoggedRequest) => LoggedRequest | undefined

/** A 402 that refuses a payment responds to an attempt to pay, so it is no offer. */
function isOffer({ status, code }: LoggedRequest): boolean {
  return status === 402 && code === 'payment_required'
}

function isTry(request: LoggedRequest): boolean {
  const paid = request.payment !== null || (request.status === 402 && !isOffer(request))
  return paid && !request.remade
}

/** The caller of a request; for an anonymous buyer, its idempotency key; undefined if unknown. */
function buyerOf({ caller, attempt }: LoggedRequest): string | undefined {
  if (caller !== null) return `caller ${caller}`
  return attempt === null ? undefined : `attempt ${attempt}`
}

/** Indexes the offers in a log on first use, for all later lookups. */
export function offersIn(entries: readonly LoggedRequest[]): OfferOf {
  let known: ReadonlyMap<string, readonly LoggedRequest[]> | undefined
  return (request) => {
    if (!isTry(request)) return undefined
    known ??= byBuyer(entries)
    const { caller, attempt, path } = request
    // Look for an offer to the caller, and for an anonymous offer with the idempotency key.
    const buyers = [
      { caller, attempt },
      { caller: null, attempt },
    ].flatMap((one) => buyerOf({ ...request, ...one }) ?? [])
    const found = buyers.flatMap(
      (buyer) => known?.get(`${path} ${buyer}`)?.findLast((one) => isBefore(one, request)) ?? [],
    )
    return found.toSorted((one, other) => other.at - one.at)[0]
  }
}

function isBefore(offer: LoggedRequest, { at }: LoggedRequest): boolean {
  return offer.at <= at && offer.at >= at - OFFER_AGE_MS
}

function byBuyer(entries: readonly LoggedRequest[]): ReadonlyMap<string, readonly LoggedRequest[]> {
  const known = new Map<string, LoggedRequest[]>()
  for (const entry of entries) {
    const buyer = isOffer(entry) ? buyerOf(entry) : undefined
    if (buyer === undefined) continue
    const key = `${entry.path} ${buyer}`
    const before = known.get(key)
    if (before) before.push(entry)
    else known.set(key, [entry])
  }
  return known
}

type RequestRecord = z.output<typeof requestsApi.listRequests.reply.schema>['requests'][number]

export type Filters = {
  readonly status?: string | undefined
  readonly method?: string | undefined
  readonly path?: string | undefined
  /** One id, or several separated by commas. */
  readonly request?: string | undefined
  readonly job?: string | undefined
  readonly since?: number | undefined
}

/** The ids by which a job's HTTP requests are found. */
type AboutJob = { readonly ids: readonly string[]; readonly paymentId: string | null }

/** Filter for logged requests. `job` selects the job's purchase, and paths with the id of the job or conversation. */
export async function matcherOf(t: ReadTx, filters: Filters): Promise<(request: LoggedRequest) => boolean> {
  const { status, method, path, request: named, job, since } = filters
  const ids = named === undefined ? undefined : new Set(idsIn(named))
  const about = job === undefined ? undefined : await aboutJob(t, job)
  const isPath = path === undefined ? undefined : pathMatcher(path)
  return (request) =>
    (status === undefined || isStatus(request.status, status)) &&
    (method === undefined || request.method === method) &&
    (isPath === undefined || isPath(request.path)) &&
    (ids === undefined || ids.has(request.id)) &&
    (since === undefined || request.at >= since) &&
    (about === undefined || isAbout(request, about))
}

export function idsIn(named: string): readonly string[] {
  return [...new Set(named.split(','))]
}

export async function aboutJob(t: ReadTx, id: string): Promise<AboutJob> {
  const job = await t.table(jobs).get(id)
  return { ids: job ? [id, job.thread_id] : [id], paymentId: job?.payment_id ?? null }
}

export function isAbout({ path, payment }: LoggedRequest, { ids, paymentId }: AboutJob): boolean {
  return (payment !== null && payment === paymentId) || ids.some((id) => path.includes(id))
}

function isStatus(status: number | null, wanted: string): boolean {
  return wanted.endsWith('xx') ? String(status)[0] === wanted[0] : status === Number(wanted)
}

function pathMatcher(wanted: string): (path: string) => boolean {
  return wanted.includes('*') ? (path) => matchesGlob(wanted, path) : (path) => path.includes(wanted)
}

/** An HTTP request as the API shows it. Counting its steps needs the whole trace, so `steps` is null here. */
export async function recordOf(
  { t, offerOf }: { readonly t: ReadTx; readonly offerOf: OfferOf },
  request: LoggedRequest,
): Promise<RequestRecord & { readonly steps: null }> {
  const payment = request.payment === null ? undefined : await t.table(payments).get(request.payment)
  const job = payment && (await jobOf(t, payment))
  const caller = request.caller?.startsWith('p_') ? await t.table(participants).get(request.caller) : undefined
  return {
    id: request.id,
    request_id: request.id,
    at: request.at,
    method: request.method,
    path: shownPath(request.path),
    endpoint: request.row,
    status: request.status,
    ms: request.tookMs,
    caller: request.caller,
    name: caller?.name ?? null,
    code: request.code,
    price: payment?.price ?? request.price,
    receipt_id: payment?.receipt_id ?? null,
    job_id: job?.id ?? null,
    service: job?.service_name ?? (await serviceIn(t, request.path)),
    offer_id: offerOf(request)?.id ?? null,
    steps: null,
    remembered: request.remade ? 'part' : 'whole',
  }
}

const SUBJECT = /\b(?:svc|job|thr)_[0-9a-f]{16}\b/

/** Name of the listing that a path is about, by the path's listing, job or conversation id; null if there is none. */
async function serviceIn(t: ReadTx, path: string): Promise<string | null> {
  const [id = ''] = SUBJECT.exec(path) ?? []
  if (id.startsWith('job_')) return (await t.table(jobs).get(id))?.service_name ?? null
  const listing = id.startsWith('thr_') ? (await t.table(threads).get(id))?.service_id : id
  return listing ? ((await t.table(services).get(listing))?.name ?? null) : null
}

export async function jobOf(t: ReadTx, { id }: PaymentRow): Promise<JobRow | undefined> {
  return (await t.table(jobs).page('payment', [id], { limit: 1 })).rows[0]
}

const statusOf: Readonly<Partial<Record<PaymentRow['state'], number>>> = { fulfilled: 200 }

/** The request of a payment, reconstructed; undefined if its id was not stored. */
export function requestOfPayment(payment: PaymentRow): LoggedRequest | undefined {
  const { request_id: id, endpoint, state, price, created_at } = payment
  if (id === undefined) return undefined
  const row: Endpoint | undefined = Object.hasOwn(api, endpoint) ? api[endpoint as EndpointName] : undefined // checked
  return {
    id,
    at: created_at,
    method: row?.method ?? 'POST',
    path: row?.path ?? endpoint,
    seq: null,
    row: endpoint,
    status: statusOf[state] ?? null,
    tookMs: null,
    attempt: null,
    caller: payment.participant_id ?? payment.payer,
    code: state === 'released' || state === 'refunded' ? state : null,
    price,
    payment: payment.id,
    remade: true,
  }
}

function requestOfAct({ request_id, act, subject_id, wall_at }: AdminActRow): LoggedRequest {
  return {
    id: request_id,
    at: wall_at,
    method: '–',
    path: `${act} ${subject_id}`,
    seq: null,
    row: null,
    status: 200,
    tookMs: null,
    attempt: null,
    caller: 'admin',
    code: null,
    price: null,
    payment: null,
    remade: true,
  }
}

/** Requests reconstructed from the store: those that paid, and operator actions. */
export async function durableRequests(t: ReadTx, limit: number): Promise<LoggedRequest[]> {
  const [paid, acts] = await Promise.all([
    t.table(payments).page('newest', [], { limit }),
    t.table(adminActs).page('seq', [], { limit }),
  ])
  return [...paid.rows.flatMap((row) => requestOfPayment(row) ?? []), ...acts.rows.map(requestOfAct)]
}

/** A past HTTP request, reconstructed from the store; undefined if its id is unknown. */
export async function durableRequest(t: ReadTx, id: string): Promise<LoggedRequest | undefined> {
  const paid = (await t.table(payments).page('request', [id], { limit: 1 })).rows[0]
  if (paid) return requestOfPayment(paid)
  const acts = await t.table(adminActs).page('seq', [], { limit: ACTS_SEARCHED })
  const act = acts.rows.find(({ request_id }) => request_id === id)
  return act && requestOfAct(act)
}

/** Number of newest operator actions searched for a request id. */
const ACTS_SEARCHED = 1_000

/** Maximum requests kept, a few megabytes. The oldest request is dropped first. */
export const REQUESTS_KEPT = 4_096
/** Maximum concurrent followers of the log. */
const MAX_FOLLOWERS = 16
/** Maximum unfinished requests; normally, the limit of connections is reached first. */
const MAX_UNDER_WAY = 8_192
const MAX_PATH_CHARS = 200
const TRY_AGAIN_SECONDS = 5
/** Endpoints that are not logged: the operator's reads. A polling cockpit would displace all other requests. */
const LOOKS: ReadonlySet<string> = new Set(endpointNames.filter(isLook))

function isLook(name: EndpointName): boolean {
  const { method, access }: Endpoint = api[name]
  return name === 'getHealth' || (method === 'GET' && access.kind === 'admin')
}

/** Path segments that look like one of our keys, tokens or secrets, or are longer than any id or name. */
const SECRET_SEGMENT = /^(?:sk|adm|jt|whsec|souk)_|^.{65,}$/

/** A logged request: method, path, caller and result, without headers, query or body. */
export type LoggedRequest = RequestFacts & {
  readonly id: string
  /** Wall time. */
  readonly at: number
  readonly method: string
  path: string
  /** Number of a finished request, in order of finishing; null while in progress. */
  seq: number | null
  /** Name of the endpoint; null if the path has none. */
  row: string | null
  status: number | null
  tookMs: number | null
  /** `Idempotency-Key` of the request, the same for all attempts of a purchase; never shown. */
  readonly attempt: string | null
  /** Reconstructed from the store after a restart. */
  readonly remade?: true
}

/** The path with possible secrets masked. */
export function shownPath(path: string): string {
  const clipped = path.length > MAX_PATH_CHARS ? `${path.slice(0, MAX_PATH_CHARS)}…` : path
  return clipped
    .split('/')
    .map((segment) => (SECRET_SEGMENT.test(segment) ? '…' : segment))
    .join('/')
}

export type RequestLog = {
  readonly begin: (request: Pick<LoggedRequest, 'id' | 'method' | 'path' | 'attempt'>) => LoggedRequest
  readonly end: (request: LoggedRequest, status: number) => void
  readonly find: (id: string) => LoggedRequest | undefined
  /** Requests that finished after the one with this number, oldest first. */
  readonly after: (seq: number) => readonly LoggedRequest[]
  readonly underWay: () => readonly LoggedRequest[]
  readonly last: () => number
  /** Resolves when a request with a higher number has finished, or on abort. @throws AppError `rate_limited` */
  readonly wait: (seq: number, signal: AbortSignal) => Promise<void>
}

export const requestLog = defineResource<RequestLog>('request-log')

export function openRequestLog(wall: () => number): RequestLog {
  const ring: (LoggedRequest | undefined)[] = new Array(REQUESTS_KEPT).fill(undefined)
  const open = new Map<string, LoggedRequest>()
  const followers = new Set<() => void>()
  let last = 0

  function after(seq: number): readonly LoggedRequest[] {
    const found: LoggedRequest[] = []
    for (let at = Math.max(seq, last - REQUESTS_KEPT) + 1; at <= last; at += 1) {
      const entry = ring[at % REQUESTS_KEPT]
      if (entry) found.push(entry)
    }
    return found
  }

  return {
    begin(request) {
      const entry: LoggedRequest = {
        ...request,
        at: wall(),
        seq: null,
        row: null,
        status: null,
        tookMs: null,
        ...noFacts(),
      }
      if (open.size >= MAX_UNDER_WAY) open.delete(open.keys().next().value ?? '')
      open.set(entry.id, entry)
      return entry
    },
    end(entry, status) {
      if (!open.delete(entry.id)) return
      if (status < 400 && entry.row !== null && LOOKS.has(entry.row)) return
      last += 1
      entry.seq = last
      entry.status = status
      entry.tookMs = Math.max(0, wall() - entry.at)
      ring[last % REQUESTS_KEPT] = entry
      for (const wake of followers) wake()
    },
    find: (id) => open.get(id) ?? ring.find((entry) => entry?.id === id),
    after,
    underWay: () => [...open.values()],
    last: () => last,
    async wait(seq, signal) {
      if (last > seq || signal.aborted) return
      if (followers.size >= MAX_FOLLOWERS) {
        throw new AppError('rate_limited', `${MAX_FOLLOWERS} clients follow the request log already: close one.`, {
          retryAfter: TRY_AGAIN_SECONDS,
        })
      }
      const { promise, resolve } = Promise.withResolvers<void>()
      followers.add(resolve)
      signal.addEventListener('abort', () => resolve(), { once: true })
      await promise
      followers.delete(resolve)
    },
  }
}
