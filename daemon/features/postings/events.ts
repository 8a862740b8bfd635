import { formatAmount } from '../../../src/core/money.ts'
import type { EventType } from '../../../src/model/event-types.ts'
import type { JsonObject } from '../../../src/model/service.ts'
import { emit } from '../../events/event-log.ts'
import type { Draw } from '../../store/draw.ts'
import type { Tx } from '../../store/port.ts'
import type { BidRow, PostingRow } from './rows.ts'

type Told = { readonly posting: PostingRow; readonly type: EventType; readonly at: number }

/** The poster's own event: `posting.<what happened>`. */
export async function emitPosting(t: Tx, draw: Draw, { posting, type, at }: Told): Promise<void> {
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

/** `bid.<what happened>`: to the poster what a bidder did, to the bidder what became of it. */
export async function emitBid(t: Tx, draw: Draw, { bid, type, to, at }: BidTold): Promise<void> {
  const { posting_id, provider_id, service_id, price, status } = bid
  const data: JsonObject = { posting_id, provider_id, service_id, price: formatAmount(price), status }
  await emit(t, draw, { type, participantId: to, subject: { kind: 'bid', id: bid.id }, data, at })
}
