import { postingFields } from '../../../src/api/endpoint/list-fields.ts'
import type { marketAdminApi } from '../../../src/api/sections/admin-market.ts'
import type {
  NewPosting,
  NotificationChange,
  postingNotificationsApi,
  postingWritesApi,
} from '../../../src/api/sections/posting-writes.ts'
import type { postingsApi } from '../../../src/api/sections/postings.ts'
import { AppError, invalidField } from '../../../src/core/error.ts'
import { DEFAULT_PAGE } from '../../../src/core/limits.ts'
import { formatPrice, ZERO } from '../../../src/core/money.ts'
import { MAX_PRICE, MIN_PRICE } from '../../../src/core/price.ts'
import { DAY_MS } from '../../../src/core/time.ts'
import type { FreeHandlers } from '../../endpoint/handler.ts'
import { nextNumber, type ParticipantRow, participants, refuseSuspendedNow } from '../../kernel/rows.ts'
import { commit } from '../../store/draw.ts'
import type { Draft, Draw, ReadTx, Tx } from '../../store/port.ts'
import { listedPage } from '../../store/searched-page.ts'
import { jobs } from '../jobs/rows.ts'
import { optInView, postingView } from './bid-routes.ts'
import { stepPosting } from './close.ts'
import { startTelling } from './posting-notify-retries.ts'
import {
  emitPosting,
  fanouts,
  lockPosting,
  mutexKey,
  type OptInRow,
  optIns,
  type PostingRow,
  postings,
  refuseUnlessPoster,
  shownPosting,
} from './rows.ts'
import { postingSearch } from './search.ts'

export const postingAdminRoutes: FreeHandlers<Pick<typeof marketAdminApi, 'listAllPostings'>> = {
  listAllPostings: async ({ query }, { ctx, now }) => {
    const { status = 'open' } = query
    const place = { rows: postings, index: 'newest', prefix: [status] }
    const list = { ...place, fields: postingFields, factsOf: factsIn(ctx.store) }
    const { rows, ...found } = await listedPage(ctx.store, list, { ...query, now })
    const shown = await ctx.store.read((t) =>
      Promise.all(rows.map(async (row) => ({ ...postingView(row, now), poster_name: await posterName(t, row) }))),
    )
    return { postings: shown, ...found }
  },
}

const factsIn = (t: ReadTx) => async (row: PostingRow, uses: (field: keyof typeof postingFields) => boolean) => ({
  id: row.id,
  title: row.title,
  category: row.category,
  poster: [row.poster_id, row.poster_wallet, ...(uses('poster') ? [await posterName(t, row)] : [])],
  budget: row.budget_max,
  bids: BigInt(row.bid_count),
  subcontract: row.parent_job_id !== null,
  age: row.created_at,
})

async function posterName(t: ReadTx, { poster_id }: PostingRow): Promise<string> {
  return (await t.table(participants).get(poster_id))?.name ?? ''
}

type Change = { readonly id: string; readonly body: NotificationChange; readonly now: number }

/** Applies the given settings, and opts in unless `enabled` is false. Opting in again resets the number of failures. */
async function changeOptIn(t: Tx, { id, body, now }: Change): Promise<OptInRow> {
  const locked = (await t.table(optIns).getForUpdate(id)) ?? fresh(id, now)
  const enabled = body.enabled ?? true
  const changed = {
    ...locked,
    enabled,
    min_budget: body.min_budget_usd === undefined ? locked.min_budget : body.min_budget_usd,
    max_budget: body.max_budget_usd === undefined ? locked.max_budget : body.max_budget_usd,
    categories: body.categories === undefined ? locked.categories : [...new Set(body.categories)],
    consecutive_failures: enabled && !locked.enabled ? 0 : locked.consecutive_failures,
    updated_at: now,
  }
  const { min_budget: min, max_budget: max } = changed
  if (min !== null && max !== null && min > max)
    throw invalidField('min_budget_usd', 'must not be above max_budget_usd')
  return t.table(optIns).put(changed)
}

function fresh(id: string, now: number): Draft<OptInRow> {
  return {
    id,
    enabled: false,
    min_budget: null,
    max_budget: null,
    categories: [],
    consecutive_failures: 0,
    updated_at: now,
  }
}

/** Cursor before the first row. */
const START = '0'

export const postingRoutes: FreeHandlers<
  typeof postingWritesApi & typeof postingNotificationsApi & typeof postingsApi
> = {
  createPosting: async ({ body }, { ctx, caller, now }) => {
    checkPosting({ body, now })
    const posting = await commit(ctx, (t, draw) => insertPosting(t, draw, { body, poster: caller, now }))
    startTelling(ctx, posting.id)
    return postingView(posting, now)
  },

  cancelPosting: ({ params }, { ctx, caller, now }) =>
    ctx.mutex.run(mutexKey(params.id), async () => {
      const posting = await commit(ctx, async (t, draw) => {
        const locked = await lockPosting(t, params.id)
        refuseUnlessPoster(locked, caller)
        return stepPosting(t, draw, { posting: locked, event: 'cancel', by: 'poster', at: now })
      })
      return postingView(posting, now)
    }),

  setPostingNotifications: async ({ body }, { ctx, caller, now }) =>
    optInView(caller.id, await commit(ctx, (t) => changeOptIn(t, { id: caller.id, body, now }))),

  endPostingNotifications: async (_input, { ctx, caller, now }) => {
    const row = await commit(ctx, (t) => changeOptIn(t, { id: caller.id, body: { enabled: false }, now }))
    return optInView(caller.id, row)
  },

  listPostings: async ({ query }, { ctx, now }) => {
    const { q, cursor, status, category, created_after, limit = DEFAULT_PAGE, offset = 0 } = query
    const isSearch = q !== undefined && q.trim() !== ''
    if (cursor !== undefined) {
      if (q !== undefined) throw invalidField('cursor', 'cannot be combined with `q`: searches are not chronological')
      if (query.offset !== undefined) throw invalidField('cursor', 'cannot be combined with `offset`')
    }
    const { ids, total } = postingSearch.of(ctx).query({
      q,
      status,
      category,
      created_after,
      min_budget: query.min_budget_usd,
      max_budget: query.max_budget_usd,
      after: cursor === undefined ? undefined : Number(cursor),
      now,
      limit,
      offset,
    })
    const rows = await ctx.store.table(postings).getMany(ids)
    const last = rows.at(-1)
    return {
      postings: rows.map((row) => postingView(row, now)),
      total,
      limit,
      offset,
      // A cursor is returned even past the end, so that a poller can resume there.
      next_cursor: isSearch ? null : String(last?.number ?? cursor ?? START),
    }
  },

  getPostingNotifications: async (_input, { ctx, caller }) =>
    optInView(caller.id, await ctx.store.table(optIns).get(caller.id)),

  getPosting: async ({ params }, { ctx, now }) =>
    postingView(await ctx.store.read((t) => shownPosting(t, params.id)), now),
}

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
function checkPosting({ body, now }: Pick<CreateParams, 'body' | 'now'>): void {
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
