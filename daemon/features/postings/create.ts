import type { NewPosting } from '../../../src/api/sections/posting-writes.ts'
import { AppError, invalidField } from '../../../src/core/error.ts'
import { formatPrice, ZERO } from '../../../src/core/money.ts'
import { MAX_PRICE, MIN_PRICE } from '../../../src/core/price.ts'
import { DAY_MS } from '../../../src/core/time.ts'
import { refuseSuspendedNow } from '../../kernel/participant.ts'
import { nextNumber, type ParticipantRow } from '../../kernel/rows.ts'
import type { Draw } from '../../store/draw.ts'
import type { ReadTx, Tx } from '../../store/port.ts'
import { jobs } from '../jobs/rows.ts'
import { emitPosting, fanouts, type PostingRow, postings } from './rows.ts'

/** How long a request stays open. */
export const POSTING_LIFE_MS = 30 * DAY_MS
/** Maximum open requests per poster. */
export const MAX_OPEN_POSTINGS = 100
export const MAX_BRIEF_BYTES = 16 * 1024
const NO_CATEGORY = 'other'
/** Id of the counter that numbers requests, without gaps, in commit order. */
const POSTING_COUNTER = 'postings'

type CreateParams = { readonly body: NewPosting; readonly poster: ParticipantRow; readonly now: number }

/** @throws AppError 400 that names the field */
export function checkPosting({ body, now }: Pick<CreateParams, 'body' | 'now'>): void {
  const { budget_min_usd: min = ZERO, budget_max_usd: max, deadline, brief } = body
  if (max < MIN_PRICE || max > MAX_PRICE) {
    throw invalidField('budget_max_usd', `must be from ${formatPrice(MIN_PRICE)} to ${formatPrice(MAX_PRICE)}`)
  }
  if (min > max) throw invalidField('budget_min_usd', 'must not be above budget_max_usd')
  if (deadline !== undefined && deadline !== null && deadline <= now) throw invalidField('deadline', 'has passed')
  if (Buffer.byteLength(JSON.stringify(brief)) > MAX_BRIEF_BYTES) {
    throw invalidField('brief', `must be at most ${MAX_BRIEF_BYTES} bytes of JSON`)
  }
}

/** Writes a request and queues its notifications. @throws AppError 400, 403, 409 */
export async function insertPosting(t: Tx, draw: Draw, { body, poster, now }: CreateParams): Promise<PostingRow> {
  await refuseSuspendedNow(t, poster.id)
  if ((await t.table(postings).count('poster_open', [poster.id])) >= MAX_OPEN_POSTINGS) {
    throw new AppError('conflict', `You have ${MAX_OPEN_POSTINGS} open requests: award or cancel one first.`)
  }
  if (body.parent_job_id !== undefined) await checkParent(t, body.parent_job_id, poster)
  const expires_at = now + POSTING_LIFE_MS
  const posting = await t.table(postings).insert({
    id: draw.id('posting'),
    number: await nextNumber(t, POSTING_COUNTER),
    poster_id: poster.id,
    poster_wallet: poster.wallet,
    title: body.title,
    brief: body.brief,
    category: body.category ?? NO_CATEGORY,
    budget_min: body.budget_min_usd ?? ZERO,
    budget_max: body.budget_max_usd,
    deadline: body.deadline ?? null,
    status: 'open',
    open: true,
    expires_at: Math.min(body.deadline ?? expires_at, expires_at),
    parent_job_id: body.parent_job_id ?? null,
    bid_count: 0,
    awarded_bid_id: null,
    job_id: null,
    created_at: now,
    updated_at: now,
  })
  await t.table(fanouts).insert({ id: posting.id, after: null, told: 0, at: now })
  await emitPosting(t, draw, { posting, type: 'posting.created', at: now })
  return posting
}

/** A job that the poster does not sell gets the same error as an unknown job, so that its provider stays private. */
async function checkParent(t: ReadTx, jobId: string, poster: ParticipantRow): Promise<void> {
  const job = await t.table(jobs).get(jobId)
  if (job?.provider_id !== poster.id) throw invalidField('parent_job_id', 'must be one of your jobs as provider')
}
