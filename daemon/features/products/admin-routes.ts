import { productFields } from '../../../src/api/endpoint/list-fields.ts'
import type { marketAdminApi } from '../../../src/api/sections/admin-market.ts'
import { DEFAULT_PAGE } from '../../../src/core/limits.ts'
import type { FreeHandler, FreeHandlers } from '../../endpoint/handler.ts'
import { shownStatus } from '../../kernel/participant.ts'
import { type ParticipantRow, participants } from '../../kernel/rows.ts'
import type { ReadTx } from '../../store/port.ts'
import { listedPage } from '../../store/searched-page.ts'
import { type ProductRow, products } from './rows.ts'
import { productSplit, productView } from './view.ts'

const listAllProducts: FreeHandler<typeof marketAdminApi.listAllProducts> = async ({ query }, { ctx, now }) => {
  const { limit = DEFAULT_PAGE, offset = 0 } = query
  const place = { rows: products, index: 'newest', prefix: [] }
  const list = { ...place, fields: productFields, factsOf: factsIn(ctx.store) }
  const { rows, ...found } = await listedPage(ctx.store, list, { ...query, limit, offset, now })
  const shown = await ctx.store.read((t) =>
    Promise.all(rows.map(async (row) => productView(row, await ownerOf(t, row)))),
  )
  return { products: shown, ...found, limit, offset }
}

const factsIn = (t: ReadTx) => async (row: ProductRow, uses: (field: keyof typeof productFields) => boolean) => {
  const owner = uses('provider') || uses('price') ? await ownerOf(t, row) : undefined
  return {
    id: row.id,
    name: row.name,
    provider: [row.provider_id, ...(owner === undefined ? [] : [owner.name])],
    category: row.category,
    status: shownStatus(row.status),
    price: owner === undefined ? null : productSplit(row, owner).agent,
    sold: BigInt(row.sold),
    age: row.listed_at,
  }
}

async function ownerOf(t: ReadTx, { id, provider_id }: ProductRow): Promise<ParticipantRow> {
  const owner = await t.table(participants).get(provider_id)
  if (!owner) throw new Error(`${id} has no provider`)
  return owner
}

export const productAdminRoutes: FreeHandlers<Pick<typeof marketAdminApi, 'listAllProducts'>> = { listAllProducts }
