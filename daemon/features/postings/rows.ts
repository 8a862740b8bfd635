import { notFound } from '../../../src/core/error.ts'
import type { ParticipantRow } from '../../../src/model/participant.ts'
import type { BidRow, PostingRow } from '../../../src/model/posting.ts'
import { bids, postings } from '../../store/collections.ts'
import type { ReadTx, Tx } from '../../store/port.ts'
import { notYours } from '../jobs/access.ts'

/** @throws AppError 404 */
export async function postingById(t: ReadTx, id: string): Promise<PostingRow> {
  const posting = await t.table(postings).get(id)
  if (!posting) throw notFound('The request')
  return posting
}

/** A posting that is there for everybody. @throws AppError 404 */
export async function shownPosting(t: ReadTx, id: string): Promise<PostingRow> {
  const posting = await postingById(t, id)
  refuseHidden(posting)
  return posting
}

/** @throws AppError 404 for that of a poster who is suspended, as if it were not there */
export function refuseHidden({ poster_suspended: isHidden }: PostingRow): void {
  if (isHidden) throw notFound('The request')
}

/** Holds a posting for this transaction. @throws AppError 404 */
export async function holdPosting(t: Tx, id: string): Promise<PostingRow> {
  const posting = await t.table(postings).getForUpdate(id)
  if (!posting) throw notFound('The request')
  return posting
}

/** @throws AppError 404 where there is no such bid on the posting */
export async function bidById(t: ReadTx, { id, postingId }: { id: string; postingId: string }): Promise<BidRow> {
  const bid = await t.table(bids).get(id)
  if (bid?.posting_id !== postingId) throw notFound('The bid')
  return bid
}

/** @throws AppError 403 for anybody but the poster */
export function refuseUnlessPoster(posting: PostingRow, caller: Pick<ParticipantRow, 'id'>): void {
  if (posting.poster_id !== caller.id) throw notYours('The request')
}

/** What acts on one posting at once takes turns under this key; see `createTurns`. */
export function turnOf(postingId: string): string {
  return `posting:${postingId}`
}
