import { z } from 'zod'
import type { Wallet } from '../core/hex.ts'
import { Micro } from '../core/money.ts'
import { JsonObject, SaleTerms } from './service.ts'

/** States of a request for work, and of the bids on it (decisions §9). */
export const postingStatuses = ['open', 'awarded', 'completed', 'cancelled', 'expired'] as const
export type PostingStatus = (typeof postingStatuses)[number]
export const bidStatuses = ['submitted', 'accepted', 'rejected', 'withdrawn'] as const
export type BidStatus = (typeof bidStatuses)[number]

/** Stored form of a request for work. Times are epoch milliseconds of the business clock. */
export const PostingRow = z.strictObject({
  id: z.string(),
  version: z.int(),
  /** Place among all postings in the order they were made, without gaps: what pollers resume from. */
  number: z.int(),
  poster_id: z.string(),
  poster_wallet: z.string() as unknown as z.ZodType<Wallet>, // lower-case by construction
  title: z.string(),
  brief: JsonObject,
  category: z.string(),
  budget_min: Micro,
  budget_max: Micro,
  deadline: z.int().nullable(),
  status: z.enum(postingStatuses),
  /** True while `open`: such rows fall due. */
  open: z.boolean(),
  expires_at: z.int(),
  /** While it is open and its poster is suspended: nobody else sees it. */
  poster_suspended: z.literal(true).exactOptional(),
  /** The job of the poster that this is a part of; null where it is none. */
  parent_job_id: z.string().nullable(),
  /** Bids that were not withdrawn. */
  bid_count: z.int(),
  awarded_bid_id: z.string().nullable(),
  job_id: z.string().nullable(),
  created_at: z.int(),
  updated_at: z.int(),
})
export type PostingRow = z.infer<typeof PostingRow>

export const BidRow = z.strictObject({
  id: z.string(),
  version: z.int(),
  posting_id: z.string(),
  provider_id: z.string(),
  service_id: z.string(),
  /** What the provider nets; the poster pays it with the fee. */
  price: Micro,
  /** What the poster pays and the provider nets, and the terms of the listing, as of when it was made; absent in those of before. */
  shares: z.strictObject({ agent: Micro, net: Micro }).exactOptional(),
  terms: SaleTerms.exactOptional(),
  eta_hours: z.number(),
  pitch: z.string(),
  status: z.enum(bidStatuses),
  /** True while `submitted`: a provider has one such bid on a posting at most. */
  live: z.boolean(),
  created_at: z.int(),
  updated_at: z.int(),
})
export type BidRow = z.infer<typeof BidRow>

/** A participant's wish to hear of new postings; it is opted in while `enabled`. */
export const OptInRow = z.strictObject({
  /** Id of the participant. */
  id: z.string(),
  version: z.int(),
  enabled: z.boolean(),
  min_budget: Micro.nullable(),
  max_budget: Micro.nullable(),
  /** Empty: of every category. */
  categories: z.array(z.string()),
  /** Notifications since the last one that was taken. */
  consecutive_failures: z.int(),
  updated_at: z.int(),
})
export type OptInRow = z.infer<typeof OptInRow>

/** How far telling of a new posting has come; the row is gone when everybody was told. */
export const FanoutRow = z.strictObject({
  /** Id of the posting. */
  id: z.string(),
  version: z.int(),
  /** Cursor of the last opt-in that was looked at. */
  after: z.string().nullable(),
  told: z.int(),
  at: z.int(),
})
export type FanoutRow = z.infer<typeof FanoutRow>

/** A notification that was not taken yet: under way, or waiting for its next try. */
export const NoticeRow = z.strictObject({
  /** `<posting id>:<participant id>`. */
  id: z.string(),
  version: z.int(),
  posting_id: z.string(),
  participant_id: z.string(),
  /** The delivery of the latest try. */
  delivery_id: z.string(),
  /** Tries that failed. */
  failures: z.int(),
  /** True while the next try waits for its time. */
  waiting: z.boolean(),
  next_at: z.int().nullable(),
})
export type NoticeRow = z.infer<typeof NoticeRow>
