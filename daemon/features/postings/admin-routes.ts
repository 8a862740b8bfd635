import { postingFields } from '../../../src/api/endpoint/list-fields.ts'
import type { marketAdminApi } from '../../../src/api/sections/admin-market.ts'
import { DEFAULT_PAGE } from '../../../src/core/limits.ts'
import type { FreeHandler, FreeHandlers } from '../../endpoint/handler.ts'
import { participants } from '../../kernel/rows.ts'
import type { ReadTx } from '../../store/port.ts'
import { listedPage } from '../../store/searched-page.ts'
import { type PostingRow, postings } from './rows.ts'
import { postingView } from './view.ts'

const listAllPostings: FreeHandler<typeof marketAdminApi.listAllPostings> = async ({ query }, { ctx, now }) => {
  const { limit = DEFAULT_PAGE, offset = 0, status = 'open' } = query
  const place = { rows: postings, index: 'newest', prefix: [status] }
  const list = { ...place, fields: postingFields, factsOf: factsIn(ctx.store) }
  const { rows, ...found } = await listedPage(ctx.store, list, { ...query, limit, offset, now })
  const shown = await ctx.store.read((t) =>
    Promise.all(rows.map(async (row) => ({ ...postingView(row, now), poster_name: await posterName(t, row) }))),
  )
  return { postings: shown, ...found, limit, offset }
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
