import type { z } from 'zod'
import type { Bid, Posting, PostingNotifications } from '../../../src/api/sections/postings.ts'
import { split } from '../ledger/split.ts'
import type { ServiceRow } from '../listings/rows.ts'
import { saleKind } from '../listings/versions.ts'
import { bidStatusAt, postingStatusAt } from './machine.ts'
import type { BidRow, OptInRow, PostingRow } from './rows.ts'

/** Public view of a request, with its status at `now`. */
export function postingView(row: PostingRow, now: number): z.output<typeof Posting> {
  return {
    id: row.id,
    posting_id: row.id,
    poster_id: row.poster_id,
    title: row.title,
    brief: row.brief,
    category: row.category,
    budget_min_usd: row.budget_min,
    budget_max_usd: row.budget_max,
    deadline: row.deadline,
    status: postingStatusAt(row, now),
    expires_at: row.expires_at,
    is_subcontract: row.parent_job_id !== null,
    bid_count: row.bid_count,
    created_at: row.created_at,
    updated_at: row.updated_at,
  }
}

type Around = { readonly posting: PostingRow; readonly service: ServiceRow; readonly now: number }

/** A bid as the poster and the bidder see it. */
export function bidView(row: BidRow, { posting, service, now }: Around): z.output<typeof Bid> {
  return {
    id: row.id,
    bid_id: row.id,
    posting_id: row.posting_id,
    provider_id: row.provider_id,
    service_id: row.service_id,
    price_usd: row.price,
    agent_price_usd: row.shares?.agent ?? split(saleKind(service), row.price).agent,
    eta_hours: row.eta_hours,
    pitch: row.pitch,
    status: bidStatusAt(row, { posting, now }),
    created_at: row.created_at,
    updated_at: row.updated_at,
  }
}

export function optInView(id: string, row: OptInRow | undefined): z.output<typeof PostingNotifications> {
  return {
    participant_id: id,
    enabled: row?.enabled ?? false,
    min_budget_usd: row?.min_budget ?? null,
    max_budget_usd: row?.max_budget ?? null,
    categories: row?.categories ?? [],
    consecutive_failures: row?.consecutive_failures ?? 0,
  }
}
