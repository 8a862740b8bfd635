import { postingFields } from '../../../src/api/endpoint/list-fields.ts'
import type { marketAdminApi } from '../../../src/api/sections/admin-market.ts'
import type {
  NotificationChange,
  postingNotificationsApi,
  postingWritesApi,
} from '../../../src/api/sections/posting-writes.ts'
import type { postingsApi } from '../../../src/api/sections/postings.ts'
import { invalidField } from '../../../src/core/error.ts'
import { DEFAULT_PAGE } from '../../../src/core/limits.ts'
import type { FreeHandler, FreeHandlers } from '../../endpoint/handler.ts'
import { participants } from '../../kernel/rows.ts'
import { commit } from '../../store/draw.ts'
import type { Draft, ReadTx, Tx } from '../../store/port.ts'
import { listedPage } from '../../store/searched-page.ts'
import { stepPosting } from './close.ts'
import { checkPosting, insertPosting } from './create.ts'
import { startTelling } from './notify.ts'
import {
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
import { optInView, postingView } from './view.ts'

const listAllPostings: FreeHandler<typeof marketAdminApi.listAllPostings> = async ({ query }, { ctx, now }) => {
  const { status = 'open' } = query
  const place = { rows: postings, index: 'newest', prefix: [status] }
  const list = { ...place, fields: postingFields, factsOf: factsIn(ctx.store) }
  const { rows, ...found } = await listedPage(ctx.store, list, { ...query, now })
  const shown = await ctx.store.read((t) =>
    Promise.all(rows.map(async (row) => ({ ...postingView(row, now), poster_name: await posterName(t, row) }))),
  )
  return { postings: shown, ...found }
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

export const postingAdminRoutes: FreeHandlers<Pick<typeof marketAdminApi, 'listAllPostings'>> = { listAllPostings }

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

const listPostings: FreeHandler<typeof postingsApi.listPostings> = async ({ query }, { ctx, now }) => {
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
}

const getPosting: FreeHandler<typeof postingsApi.getPosting> = async ({ params }, { ctx, now }) =>
  postingView(await ctx.store.read((t) => shownPosting(t, params.id)), now)

const createPosting: FreeHandler<typeof postingWritesApi.createPosting> = async ({ body }, { ctx, caller, now }) => {
  checkPosting({ body, now })
  const posting = await commit(ctx, (t, draw) => insertPosting(t, draw, { body, poster: caller, now }))
  startTelling(ctx, posting.id)
  return postingView(posting, now)
}

const cancelPosting: FreeHandler<typeof postingWritesApi.cancelPosting> = ({ params }, { ctx, caller, now }) =>
  ctx.mutex.run(mutexKey(params.id), async () => {
    const posting = await commit(ctx, async (t, draw) => {
      const locked = await lockPosting(t, params.id)
      refuseUnlessPoster(locked, caller)
      return stepPosting(t, draw, { posting: locked, event: 'cancel', by: 'poster', at: now })
    })
    return postingView(posting, now)
  })

const getPostingNotifications: FreeHandler<typeof postingsApi.getPostingNotifications> = async (
  _input,
  { ctx, caller },
) => optInView(caller.id, await ctx.store.table(optIns).get(caller.id))

const setPostingNotifications: FreeHandler<typeof postingNotificationsApi.setPostingNotifications> = async (
  { body },
  { ctx, caller, now },
) => optInView(caller.id, await commit(ctx, (t) => changeOptIn(t, { id: caller.id, body, now })))

const endPostingNotifications: FreeHandler<typeof postingNotificationsApi.endPostingNotifications> = async (
  _input,
  { ctx, caller, now },
) => {
  const row = await commit(ctx, (t) => changeOptIn(t, { id: caller.id, body: { enabled: false }, now }))
  return optInView(caller.id, row)
}

export const postingRoutes: FreeHandlers<
  typeof postingWritesApi & typeof postingNotificationsApi & typeof postingsApi
> = {
  createPosting,
  cancelPosting,
  setPostingNotifications,
  endPostingNotifications,
  listPostings,
  getPostingNotifications,
  getPosting,
}
