import { z } from 'zod'
import { Amount, idOf, UsdNumber } from '../../core/codecs.ts'
import { MAX_NAME_CHARS, MAX_TEXT_CHARS } from '../../core/limits.ts'
import { JsonObject } from '../../model/service.ts'
import { TimeInput } from '../endpoint/common.ts'
import { endpointsWith, json, jsonBody, key, paid } from '../endpoint/define.ts'
import { Bid, MAX_TITLE_CHARS, Posting, PostingNotifications } from './postings.ts'
import { PriceInput } from './services.ts'

const endpoint = endpointsWith({ feature: 'requests', origin: 'ours', section: 'Requests (writes)' })
/** Longest duration of work that a bid may promise. */
const MAX_ETA_HOURS = 2_160
const MIN_ETA_HOURS = 0.1
const MAX_CATEGORIES = 50

const Category = z.string().trim().min(1).max(MAX_NAME_CHARS)

export const NewPosting = z.strictObject({
  title: z.string().trim().min(1).max(MAX_TITLE_CHARS),
  brief: JsonObject.meta({ description: 'details of the request, at most 16 KiB of JSON' }),
  category: Category.optional(),
  budget_min_usd: UsdNumber.optional(),
  budget_max_usd: UsdNumber,
  deadline: TimeInput.nullable().optional(),
  parent_job_id: idOf('job').optional().meta({ description: 'parent job, of which you are the provider' }),
})
export type NewPosting = z.output<typeof NewPosting>

export const NewBid = z.strictObject({
  price_usd: PriceInput,
  eta_hours: z.number().min(MIN_ETA_HOURS).max(MAX_ETA_HOURS),
  service_id: idOf('service').meta({ description: 'your active listing for the work' }),
  pitch: z.string().max(MAX_TEXT_CHARS).optional(),
})
export type NewBid = z.output<typeof NewBid>

const NotificationChange = z.strictObject({
  enabled: z.boolean().optional().meta({ description: '(default: true)' }),
  min_budget_usd: UsdNumber.nullable().optional(),
  max_budget_usd: UsdNumber.nullable().optional(),
  categories: z.array(Category).max(MAX_CATEGORIES).optional().meta({ description: 'empty: all categories' }),
})
export type NotificationChange = z.output<typeof NotificationChange>

export const postingWritesApi = {
  createPosting: endpoint({
    path: '/v1/postings',
    body: jsonBody(NewPosting),
    reply: json(Posting),
    errors: ['conflict'],
    summary: 'create a request',
  }),

  cancelPosting: endpoint({
    method: 'POST',
    path: '/v1/postings/:id/cancel',
    access: key('poster'),
    reply: json(Posting),
    errors: ['not_found', 'invalid_transition'],
    summary: 'cancel an open request',
  }),
}

export const bidWritesApi = {
  createBid: endpoint({
    path: '/v1/postings/:id/bids',
    access: key('provider'),
    needsTerms: true,
    body: jsonBody(NewBid),
    reply: json(Bid),
    errors: ['not_found', 'conflict', 'invalid_transition'],
    summary: 'bid',
  }),

  withdrawBid: endpoint({
    method: 'DELETE',
    path: '/v1/postings/:id/bids/:bidId',
    access: key('provider'),
    needsTerms: true,
    reply: json(Bid),
    errors: ['not_found', 'invalid_transition'],
    summary: 'withdraw a bid',
  }),

  awardPosting: endpoint({
    path: '/v1/postings/:id/award',
    access: paid('varies', { role: 'poster' }),
    pricedByBody: true,
    // Only a call for a quote may omit `bid_id`. Its 402 quotes the budget and shows no bid.
    body: jsonBody({ bid_id: idOf('bid').optional() }),
    reply: json({
      posting_id: idOf('posting'),
      bid_id: idOf('bid'),
      job_id: idOf('job'),
      thread_id: idOf('thread'),
      status: z.literal('dispatched'),
      service_id: idOf('service'),
      status_url: z.string(),
      amount: Amount,
      receipt_id: idOf('receipt'),
    }),
    errors: ['not_found', 'invalid_transition', 'registration_required'],
    summary: 'award: pays into escrow, opens a job',
  }),
}

export const postingNotificationsApi = {
  setPostingNotifications: endpoint({
    method: 'PUT',
    path: '/v1/postings/notifications',
    access: key('provider'),
    body: jsonBody(NotificationChange),
    reply: json(PostingNotifications),
    summary: 'opt in, set filters',
  }),

  endPostingNotifications: endpoint({
    method: 'DELETE',
    path: '/v1/postings/notifications',
    access: key('provider'),
    reply: json(PostingNotifications),
    summary: 'opt out',
  }),
}
