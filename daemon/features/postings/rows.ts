import { z } from 'zod'
import { Micro, StoredWallet } from '../../../src/core/codecs.ts'
import { existing, notFound } from '../../../src/core/error.ts'
import { formatAmount } from '../../../src/core/money.ts'
import type { EventType } from '../../../src/model/event-types.ts'
import { type JsonObject, KnownJsonObject, SaleTerms } from '../../../src/model/service.ts'
import { bidStatuses, postingStatuses } from '../../../src/model/words.ts'
import { emit } from '../../events/event-log.ts'
import { notYours } from '../../kernel/parties.ts'
import type { ParticipantRow } from '../../kernel/rows.ts'
import { type AnyCollection, type Draw, defineCollection, type ReadTx, stored, type Tx } from '../../store/port.ts'

/** @throws AppError 404 */
export async function postingById(t: ReadTx, id: string): Promise<PostingRow> {
  return existing(await t.table(postings).get(id), 'The request')
}

/** A request that everybody may see. @throws AppError 404 */
export async function shownPosting(t: ReadTx, id: string): Promise<PostingRow> {
  const posting = await postingById(t, id)
  refuseHidden(posting)
  return posting
}

/** @throws AppError 404 for a suspended poster's request */
export function refuseHidden({ poster_suspended: isHidden }: PostingRow): void {
  if (isHidden) throw notFound('The request')
}

/** Locks a request for this transaction. @throws AppError 404 */
export async function lockPosting(t: Tx, id: string): Promise<PostingRow> {
  return existing(await t.table(postings).getForUpdate(id), 'The request')
}

/** @throws AppError 404 if the request has no such bid */
export async function bidById(t: ReadTx, { id, postingId }: { id: string; postingId: string }): Promise<BidRow> {
  const bid = await t.table(bids).get(id)
  if (bid?.posting_id !== postingId) throw notFound('The bid')
  return bid
}

/** @throws AppError 403 for anyone but the poster */
export function refuseUnlessPoster(posting: PostingRow, caller: Pick<ParticipantRow, 'id'>): void {
  if (posting.poster_id !== caller.id) throw notYours('The request')
}

/** Key under which actions on one request run one at a time (see `keyedMutex`). */
export function mutexKey(postingId: string): string {
  return `posting:${postingId}`
}

/** A stored request for work. Times are epoch milliseconds of business time. */
export const postings = defineCollection('postings', {
  schema: z.strictObject({
    ...stored,
    /** Number of the buyer's request, counted without gaps in order of creation. Pollers resume from it. */
    number: z.int(),
    poster_id: z.string(),
    poster_wallet: StoredWallet,
    title: z.string(),
    brief: KnownJsonObject,
    category: z.string(),
    budget_min: Micro,
    budget_max: Micro,
    deadline: z.int().nullable(),
    status: z.enum(postingStatuses),
    /** True while the status is `open`. Only then can the request expire. */
    open: z.boolean(),
    expires_at: z.int(),
    /** Set while the request is open and its poster is suspended. Other participants cannot see the request then. */
    poster_suspended: z.literal(true).exactOptional(),
    /** The poster's job of which this request is a part; null if there is none. */
    parent_job_id: z.string().nullable(),
    /** Number of bids except withdrawn bids. */
    bid_count: z.int(),
    awarded_bid_id: z.string().nullable(),
    job_id: z.string().nullable(),
    created_at: z.int(),
    updated_at: z.int(),
  }),
  indexes: [
    { name: 'number', fields: ['number'], unique: true },
    { name: 'newest', fields: ['status', 'number'], order: 'desc' },
    { name: 'due', fields: ['expires_at'], where: { field: 'open', equals: true } },
    { name: 'poster', fields: ['poster_id', 'number'], order: 'desc' },
    { name: 'poster_open', fields: ['poster_id'], where: { field: 'open', equals: true } },
  ],
})
export type PostingRow = z.infer<typeof postings.schema>

export const bids = defineCollection('bids', {
  schema: z.strictObject({
    ...stored,
    posting_id: z.string(),
    provider_id: z.string(),
    service_id: z.string(),
    /** Amount for the provider. The poster pays it plus the fee. */
    price: Micro,
    /** Poster's price, provider's amount and the listing's terms when the bid was made. Absent in old rows. */
    shares: z.strictObject({ agent: Micro, net: Micro }).exactOptional(),
    terms: SaleTerms.exactOptional(),
    eta_hours: z.number(),
    pitch: z.string(),
    status: z.enum(bidStatuses),
    /** True while `submitted`. A provider has at most one such bid per request. */
    live: z.boolean(),
    created_at: z.int(),
    updated_at: z.int(),
  }),
  indexes: [
    { name: 'posting', fields: ['posting_id', 'created_at'] },
    { name: 'bidder', fields: ['posting_id', 'provider_id'] },
    { name: 'own', fields: ['provider_id', 'created_at'], order: 'desc' },
    { name: 'live', fields: ['posting_id', 'provider_id'], unique: true, where: { field: 'live', equals: true } },
    { name: 'service_live', fields: ['service_id'], where: { field: 'live', equals: true } },
  ],
})
export type BidRow = z.infer<typeof bids.schema>

/** A participant's opt-in to notifications of new requests. */
export const optIns = defineCollection('posting_opt_ins', {
  schema: z.strictObject({
    /** The row's id is the participant's id. */
    ...stored,
    enabled: z.boolean(),
    min_budget: Micro.nullable(),
    max_budget: Micro.nullable(),
    /** Empty: all categories. */
    categories: z.array(z.string()),
    /** Number of failed notifications since the last success. */
    consecutive_failures: z.int(),
    updated_at: z.int(),
  }),
  indexes: [{ name: 'enabled', fields: ['id'], where: { field: 'enabled', equals: true } }],
})
export type OptInRow = z.infer<typeof optIns.schema>

/** Progress of the notifications about a new request for work. The row is removed when all are sent. */
export const fanouts = defineCollection('posting_fanouts', {
  schema: z.strictObject({
    /** Id of the request. */
    ...stored,
    /** Cursor of the last opt-in processed. */
    after: z.string().nullable(),
    told: z.int(),
    at: z.int(),
  }),
  indexes: [{ name: 'at', fields: ['at'] }],
})

/** An undelivered notification: in progress, or waiting for a retry. */
export const notices = defineCollection('posting_notices', {
  schema: z.strictObject({
    /** `<posting id>:<participant id>`. */
    ...stored,
    posting_id: z.string(),
    participant_id: z.string(),
    /** Id of the webhook delivery of the latest attempt. */
    delivery_id: z.string(),
    failures: z.int(),
    /** True while a retry is scheduled, false during an attempt. */
    waiting: z.boolean(),
    next_at: z.int().nullable(),
  }),
  indexes: [
    { name: 'due', fields: ['next_at'], where: { field: 'waiting', equals: true } },
    { name: 'delivery', fields: ['delivery_id'], unique: true },
  ],
})

export const postingCollections: readonly AnyCollection[] = [postings, bids, optIns, fanouts, notices]

type PostingNotification = { readonly posting: PostingRow; readonly type: EventType; readonly at: number }

/** Emits `posting.<event>` to the poster. */
export async function emitPosting(t: Tx, draw: Draw, { posting, type, at }: PostingNotification): Promise<void> {
  const { id, poster_id, title, status, bid_count, job_id } = posting
  await emit(t, draw, {
    type,
    participantId: poster_id,
    subject: { kind: 'posting', id },
    data: { title, status, bid_count, job_id },
    at,
  })
}

type BidTold = { readonly bid: BidRow; readonly type: EventType; readonly to: string; readonly at: number }

/** Emits `bid.<event>`. The poster learns of the bidder's actions. The bidder learns what became of the bid. */
export async function emitBid(t: Tx, draw: Draw, { bid, type, to, at }: BidTold): Promise<void> {
  const { posting_id, provider_id, service_id, price, status } = bid
  const data: JsonObject = { posting_id, provider_id, service_id, price: formatAmount(price), status }
  await emit(t, draw, { type, participantId: to, subject: { kind: 'bid', id: bid.id }, data, at })
}
