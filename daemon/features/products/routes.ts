import { productFields } from '../../../src/api/endpoint/list-fields.ts'
import type { marketAdminApi } from '../../../src/api/sections/admin-market.ts'
import type { NewProduct, ProductChange, productsApi } from '../../../src/api/sections/products.ts'
import type { StoredFile } from '../../../src/core/codecs.ts'
import { AppError, notFound } from '../../../src/core/error.ts'
import { DEFAULT_PAGE } from '../../../src/core/limits.ts'
import { parsePrice } from '../../../src/core/price.ts'
import { compact } from '../../../src/core/record.ts'
import { productStatuses } from '../../../src/model/words.ts'
import type { FreeHandler, FreeHandlers } from '../../endpoint/handler.ts'
import { defineMachine, transition } from '../../kernel/machine.ts'
import { notYours } from '../../kernel/parties.ts'
import { type ParticipantRow, providerOf, refuseSuspendedNow, shownStatus } from '../../kernel/rows.ts'
import { commit } from '../../store/draw.ts'
import { eachPage, type OffsetPage, type OffsetSlice, offsetPage } from '../../store/each-page.ts'
import type { ReadTx } from '../../store/port.ts'
import { listedPage } from '../../store/searched-page.ts'
import { windowAfter } from '../listings/quote-window.ts'
import { announceOffer } from '../listings/write.ts'
import { type ProductRow, products } from './rows.ts'
import { productSplit, productView } from './sale-routes.ts'

export const productAdminRoutes: FreeHandlers<Pick<typeof marketAdminApi, 'listAllProducts'>> = {
  listAllProducts: async ({ query }, { ctx, now }) => {
    const place = { rows: products, index: 'newest', prefix: [] }
    const list = { ...place, fields: productFields, factsOf: factsIn(ctx.store) }
    const { rows, ...found } = await listedPage(ctx.store, list, { ...query, now })
    const shown = await ctx.store.read((t) => viewsOf(t, rows))
    return { products: shown, ...found }
  },
}

const factsIn = (t: ReadTx) => async (row: ProductRow, uses: (field: keyof typeof productFields) => boolean) => {
  const owner = uses('provider') || uses('price') ? await providerOf(t, row) : undefined
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

/**
 * Product state machine (decisions §9). A draft waits for its file; `publish` sets the file once. Buyers keep the file
 * in every state. Suspending a provider suspends its active products, reinstating it reactivates them.
 */
export const productMachine = defineMachine({
  noun: 'product',
  states: productStatuses,
  transitions: [
    { event: 'publish', from: ['draft'], to: 'active', by: ['provider'], effects: ['list'] },
    { event: 'withdraw', from: ['active'], to: 'inactive', by: ['provider'], effects: [] },
    { event: 'offer', from: ['inactive'], to: 'active', by: ['provider'], effects: [] },
    { event: 'delete', from: ['draft', 'active', 'inactive'], to: 'deleted', by: ['provider'], effects: [] },
    { event: 'suspend', from: ['active'], to: 'suspended', by: ['admin'], effects: [] },
    { event: 'reinstate', from: ['suspended'], to: 'active', by: ['admin'], effects: [] },
  ],
})

/** Maximum products per provider, except deleted ones. */
const MAX_PRODUCTS = 500
/** Maximum rows that a text search reads, newest first. Older products are found by category or provider. */
const MAX_SEARCHED_ROWS = 10_000
const SEARCH_PAGE_ROWS = 1_000
const NO_CATEGORY = 'other'

type Query = Parameters<FreeHandler<typeof productsApi.listProducts>>[0]['query']
type Caller = Parameters<FreeHandler<typeof productsApi.listProducts>>[1]['caller']

export const productRoutes: FreeHandlers<typeof productsApi> = {
  listProducts: async ({ query }, { ctx, caller }) => {
    const { wanted, ...place } = placeOf(query, caller)
    const slice = { limit: query.limit, offset: query.offset, ...place }
    return ctx.store.read(async (t) => {
      const { rows, ...page } = wanted ? await search(t, slice, wanted) : await offsetPage(t.table(products), slice)
      return { products: await viewsOf(t, rows), ...page }
    })
  },

  createProduct: {
    async check({ body }, { ctx, caller }) {
      parsePrice(body.price)
      await ctx.store.read((t) => refuseTooMany(t, caller))
    },

    async run({ body, file }, { ctx, caller, now }) {
      return commit(ctx, async (t, draw) => {
        await refuseSuspendedNow(t, caller.id)
        await refuseTooMany(t, caller)
        const row = await t.table(products).insert({
          ...fieldsOf(body),
          id: draw.id('product'),
          provider_id: caller.id,
          status: 'draft',
          file: null,
          file_sha256: null,
          kept: true,
          sold: 0,
          created_at: now,
          listed_at: now,
          updated_at: now,
        })
        const product = file ? await t.table(products).put(published(row, { file, now })) : row
        await announceOffer(t, draw, { type: 'product.created', offer: product })
        return viewOf(t, product)
      })
    },
  },

  /** Only the owner sees a draft. */
  getProduct: async ({ params }, { ctx, caller }) =>
    ctx.store.read(async (t) => {
      const row = await t.table(products).get(params.id)
      if (!row?.kept || (row.status === 'draft' && row.provider_id !== caller?.id)) throw notFound('The product')
      return viewOf(t, row)
    }),

  /** Uploading a file publishes a draft. Published products keep their file. */
  updateProduct: {
    async check({ params, body, hasFile }, { ctx, caller }) {
      const row = ownedBy(caller, await ctx.store.table(products).get(params.id))
      if (hasFile) transition(productMachine, { event: 'publish', from: row.status, by: 'provider' })
      if (body.price !== undefined) parsePrice(body.price)
    },

    async run({ params, body, file }, { ctx, caller, now, wall }) {
      return commit(ctx, async (t, draw) => {
        await refuseSuspendedNow(t, caller.id)
        const locked = ownedBy(caller, await t.table(products).getForUpdate(params.id))
        const row = file ? published(locked, { file, now }) : locked
        const product = await t.table(products).put(withWindow(locked, changed(row, body, now), wall))
        await announceOffer(t, draw, { type: 'product.updated', offer: product })
        return viewOf(t, product)
      })
    },
  },

  /** The row stays with status `deleted`, because purchases refer to it and buyers keep the file. */
  deleteProduct: async ({ params }, { ctx, caller, now }) => {
    await commit(ctx, async (t, draw) => {
      const locked = ownedBy(caller, await t.table(products).getForUpdate(params.id))
      const { to } = transition(productMachine, { event: 'delete', from: locked.status, by: 'provider' })
      const product = await t.table(products).put({ ...locked, status: to, kept: false, updated_at: now })
      await announceOffer(t, draw, { type: 'product.deleted', offer: product })
    })
    return { id: params.id, product_id: params.id, deleted: true }
  },
}

type ProductFilter = (row: ProductRow) => boolean
type ProductIndex = Pick<OffsetSlice, 'index' | 'prefix'> & { readonly wanted: ProductFilter | undefined }

/** The index that serves a query best, and a filter for its other parts. @throws AppError 401 for `mine` without key */
function placeOf({ q, category, provider, mine }: Query, caller: Caller): ProductIndex {
  const words = (q ?? '').toLowerCase().split(/\s+/).filter(Boolean)
  const hasWords: ProductFilter = (row) => {
    const text = `${row.name}\n${row.description}\n${row.category}`.toLowerCase()
    return words.every((word) => text.includes(word))
  }
  const isOf: ProductFilter = (row) =>
    (category === undefined || row.category === category) && (provider === undefined || row.provider_id === provider)
  const both: ProductFilter = (row) => isOf(row) && hasWords(row)
  const search = words.length > 0 ? hasWords : undefined
  if (mine) {
    if (!caller) throw new AppError('unauthorized', 'Your own products need your key: send X-API-Key.')
    return { index: 'own', prefix: [caller.id], wanted: (category ?? provider) ? both : search }
  }
  if (provider !== undefined) {
    return { index: 'provider', prefix: [provider, 'active'], wanted: category === undefined ? search : both }
  }
  if (category !== undefined) return { index: 'category', prefix: ['active', category], wanted: search }
  return { index: 'status', prefix: ['active'], wanted: search }
}

async function search(
  t: ReadTx,
  { index, prefix, limit = DEFAULT_PAGE, offset = 0 }: OffsetSlice,
  wanted: ProductFilter,
): Promise<OffsetPage<ProductRow>> {
  const found: ProductRow[] = []
  let seen = 0
  for await (const rows of eachPage(t.table(products), { index, prefix, limit: SEARCH_PAGE_ROWS })) {
    found.push(...rows.filter(wanted))
    seen += SEARCH_PAGE_ROWS
    if (seen >= MAX_SEARCHED_ROWS) break
  }
  return { rows: found.slice(offset, offset + limit), total: found.length, limit, offset }
}

async function viewsOf(t: ReadTx, rows: readonly ProductRow[]) {
  return Promise.all(rows.map((row) => viewOf(t, row)))
}

async function viewOf(t: ReadTx, row: ProductRow) {
  return productView(row, await providerOf(t, row))
}

/** @throws AppError conflict over `MAX_PRODUCTS`. */
async function refuseTooMany(t: ReadTx, { id }: ParticipantRow): Promise<void> {
  if ((await t.table(products).count('own', [id])) >= MAX_PRODUCTS) {
    throw new AppError('conflict', `A provider can have at most ${MAX_PRODUCTS} products: delete one first.`)
  }
}

function fieldsOf({ name, description = '', price, category = NO_CATEGORY }: NewProduct) {
  return { name, description, price: parsePrice(price), category }
}

function published(row: ProductRow, { file, now }: { readonly file: StoredFile; readonly now: number }): ProductRow {
  const { to } = transition(productMachine, { event: 'publish', from: row.status, by: 'provider' })
  return { ...row, status: to, file, file_sha256: file.sha256, listed_at: now }
}

/** Opens a quote window after an edit. Drafts have no quote window. */
function withWindow(held: ProductRow, product: ProductRow, wall: number): ProductRow {
  if (held.status === 'draft') return product
  const [before, after] = [{ price: held.price }, { price: product.price }]
  const previous = windowAfter({ before, after, previous: held.previous, wall })
  return previous === undefined ? product : { ...product, previous }
}

function changed(row: ProductRow, { price, status, ...rest }: ProductChange, now: number): ProductRow {
  return {
    ...row,
    ...compact(rest),
    price: price === undefined ? row.price : parsePrice(price),
    status: status === undefined ? row.status : movedTo(row.status, status),
    updated_at: now,
  }
}

function movedTo(from: ProductRow['status'], to: 'active' | 'inactive'): ProductRow['status'] {
  const event = to === 'active' ? 'offer' : 'withdraw'
  return from === to ? from : transition(productMachine, { event, from, by: 'provider' }).to
}

/** @throws AppError 404 for an unknown product or another owner's draft, 403 for any other product of another owner */
function ownedBy(caller: ParticipantRow, row: ProductRow | undefined): ProductRow {
  if (!row?.kept) throw notFound('The product')
  if (row.provider_id !== caller.id) throw row.status === 'draft' ? notFound('The product') : notYours('The product')
  return row
}
