import type { z } from 'zod'
import { Bid, Posting, type PostingNotifications } from '../../../src/api/sections/postings.ts'
import { pick } from '../../../src/core/record.ts'
import { split } from '../ledger/split.ts'
import type { ServiceRow } from '../listings/rows.ts'
import { saleKind } from '../listings/versions.ts'
import { bidStatusAt, postingStatusAt } from './machine.ts'
import type { BidRow, OptInRow, PostingRow } from './rows.ts'

/** Public view of a request, with its status at `now`. */
export function postingView(row: PostingRow, now: number): z.output<typeof Posting> {
  return {
    ...pick(row, Posting.shape),
    posting_id: row.id,
    budget_min_usd: row.budget_min,
    budget_max_usd: row.budget_max,
    status: postingStatusAt(row, now),
    is_subcontract: row.parent_job_id !== null,
  }
}

type Around = { readonly posting: PostingRow; readonly service: ServiceRow; readonly now: number }

/** A bid as the poster and the bidder see it. */
export function bidView(row: BidRow, { posting, service, now }: Around): z.output<typeof Bid> {
  return {
    ...pick(row, Bid.shape),
    bid_id: row.id,
    price_usd: row.price,
    agent_price_usd: row.shares?.agent ?? split(saleKind(service), row.price).agent,
    status: bidStatusAt(row, { posting, now }),
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
