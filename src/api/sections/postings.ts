import { z } from 'zod'
import { idOf, namedObject, Time, UsdNumber } from '../../core/codecs.ts'
import { MAX_NAME_CHARS } from '../../core/limits.ts'
import { JsonObject } from '../../model/service.ts'
import { bidStatuses, postingStatuses } from '../../model/words.ts'
import { paged, pageQuery, TimeInput } from '../endpoint/common.ts'
import { endpointsWith, json, key, open } from '../endpoint/define.ts'
import { MAX_QUERY_CHARS } from './services.ts'

const endpoint = endpointsWith({ section: 'Requests (postings)' })
export const MAX_TITLE_CHARS = 500
/** Longest cursor. A cursor is the number of the last request seen. */
const MAX_CURSOR_DIGITS = 15

/** A request for work (decisions §9). */
export const Posting = namedObject('Posting', {
  id: idOf('posting'),
  posting_id: idOf('posting'),
  poster_id: idOf('participant'),
  title: z.string(),
  brief: JsonObject.meta({ description: 'details of the request; becomes the input of the job' }),
  category: z.string(),
  budget_min_usd: UsdNumber,
  budget_max_usd: UsdNumber,
  deadline: Time.nullable(),
  status: z.enum(postingStatuses),
  expires_at: Time.meta({ description: '30 days after creation, or the request’s deadline if earlier' }),
  is_subcontract: z.boolean().meta({ description: 'true: subtask of a job that the poster provides' }),
  bid_count: z.int().meta({ description: 'number of bids that are not withdrawn' }),
  created_at: Time,
  updated_at: Time,
})

const BudgetFilter = z
  .codec(z.string().regex(/^\d{1,9}(\.\d{1,6})?$/, 'must be dollars such as 25 or 0.50'), UsdNumber, {
    decode: Number,
    encode: String,
  })
  .meta({ type: 'number' })

export const PostingNotifications = namedObject('PostingNotifications', {
  participant_id: idOf('participant'),
  enabled: z.boolean(),
  min_budget_usd: UsdNumber.nullable(),
  max_budget_usd: UsdNumber.nullable(),
  categories: z.array(z.string()).meta({ description: 'empty: all categories' }),
  consecutive_failures: z.int().meta({ description: 'failed notifications since the last success' }),
})

export const Bid = namedObject('Bid', {
  id: idOf('bid'),
  bid_id: idOf('bid'),
  posting_id: idOf('posting'),
  provider_id: idOf('participant'),
  service_id: idOf('service'),
  price_usd: UsdNumber.meta({ description: 'net amount for the provider' }),
  agent_price_usd: UsdNumber.meta({ description: 'price that the poster pays for an award' }),
  eta_hours: z.number(),
  pitch: z.string(),
  status: z.enum(bidStatuses),
  created_at: Time,
  updated_at: Time,
})

export const postingsApi = {
  listPostings: endpoint({
    path: '/v1/postings',
    access: open,
    query: z.strictObject({
      status: z.enum(postingStatuses).optional(),
      category: z.string().max(MAX_NAME_CHARS).optional(),
      q: z.string().max(MAX_QUERY_CHARS).optional().meta({ description: 'full-text search, ranked' }),
      cursor: z
        .string()
        .regex(new RegExp(`^\\d{1,${MAX_CURSOR_DIGITS}}$`), 'must be a next_cursor of this list')
        .optional()
        .meta({ description: 'next_cursor of an earlier page; lists only newer requests' }),
      created_after: TimeInput.optional(),
      min_budget_usd: BudgetFilter.optional().meta({ description: 'budget_max_usd of at least' }),
      max_budget_usd: BudgetFilter.optional().meta({ description: 'budget_max_usd of at most' }),
      ...pageQuery,
    }),
    reply: json({
      postings: z.array(Posting),
      ...paged,
      next_cursor: z
        .string()
        .nullable()
        .meta({ description: 'cursor for the next page; null in a search, which is sorted by relevance' }),
    }),
    errors: ['unavailable'],
    summary:
      'browse requests; query `status`, `category`, `q` (full text), `cursor` (keyset polling with `next_cursor`, chronological only, not combinable with `q`), `created_after`',
  }),

  getPostingNotifications: endpoint({
    path: '/v1/postings/notifications',
    reply: json(PostingNotifications),
    summary: 'own notification opt-in status and filters',
  }),

  getPosting: endpoint({ path: '/v1/postings/:id', access: open, reply: json(Posting), summary: 'request detail' }),
}

export const bidsApi = {
  listBids: endpoint({
    path: '/v1/postings/:id/bids',
    access: key('poster'),
    query: z.strictObject({ status: z.enum(bidStatuses).optional(), ...pageQuery }),
    reply: json({ bids: z.array(Bid), ...paged }),
    summary: 'list bids',
  }),
}
