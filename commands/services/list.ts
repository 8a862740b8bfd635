import type { WireAnswer } from '../../src/api/index.ts'
import { defineCommand, watchOptions } from '../../src/cli/command.ts'
import { usage } from '../../src/cli/exit.ts'
import { columnsOf, PAGE_ROWS_MAX, pageOptions } from '../../src/cli/nouns/lists.ts'
import { printGroups, type RowGroup } from '../../src/cli/output.ts'
import { allRows, type NextPage, nextOffset } from '../../src/cli/paging.ts'
import * as z from '../../src/cli/params.ts'
import { compact } from '../../src/core/record.ts'
import { type CatalogListing, hookOf, service } from '../../src/nouns/services.ts'
import { dim } from '../../src/text/text.ts'

type Catalog = WireAnswer<'getCatalog'>

const columns = columnsOf(service, 'own')

/** If the rows of each category are adjacent, as in catalog order, gives each category a heading. */
function grouped(services: readonly CatalogListing[]): readonly RowGroup<CatalogListing>[] {
  const firsts = services.filter((row, at) => row.category !== services[at - 1]?.category)
  const isTogether = new Set(firsts.map(({ category }) => category)).size === firsts.length
  if (!isTogether || firsts.length < 2) return [{ rows: services }]
  return firsts.map(({ category }) => ({
    heading: category,
    rows: services.filter((row) => row.category === category),
  }))
}

export const command = defineCommand({
  name: 'services list',
  summary: 'browse the catalog',
  options: z.object({
    mine: z.flag({ description: 'your own listings, active or not; allows no filters' }),
    search: z.text({ short: 's', description: 'search words', value: 'words' }),
    verified: z.flag({ description: 'only of identity-verified providers' }),
    category: z.text({ description: 'only of this category', value: 'name' }),
    kind: z.choice(['instant', 'automated', 'human'], { description: 'only of this fulfillment type' }),
    minPrice: z.text({ description: 'lowest price to pay', value: 'usd' }),
    maxPrice: z.text({ description: 'highest price to pay', value: 'usd' }),
    minRep: z.text({ description: 'lowest reputation of the provider', value: '0-100' }),
    tag: z.text({ description: 'only with this tag', value: 'tag' }),
    sort: z.choice(['relevance', 'price_asc', 'price_desc', 'reputation', 'newest'], {
      description: 'sort order',
      value: 'sort order',
    }),
    ...pageOptions,
    all: z.flag({ description: 'fetch all pages' }),
    ...watchOptions,
  }),
  examples: [
    'souk services list',
    'souk services list --all --json --fields id,name',
    'souk services list -s qr --json --fields id,agent_price',
    'souk services list --sort price_asc',
    'souk services list --mine',
  ],
  like: 'getCatalog',
  async run(context) {
    const { mine, search, verified, kind, minPrice, maxPrice, minRep, limit, page, all } = context.options
    const { category, tag, sort } = context.options
    if (all && page > 1) throw usage('--all and --page cannot be combined.')
    const query = compact({
      category,
      tag,
      sort,
      mine: mine ? ('true' as const) : undefined,
      q: search,
      verified_only: verified ? ('true' as const) : undefined,
      fulfillment_type: kind,
      min_price: minPrice,
      max_price: maxPrice,
      min_reputation: minRep,
    })
    const session = await context.session()
    const headers = mine ? await session.ownHeaders() : {}
    const ask = (rows: number, offset: number) =>
      session.call('getCatalog', { query: { ...query, limit: String(rows), offset: String(offset) }, headers })
    if (!all) return ask(limit, (page - 1) * limit)
    const pages = {
      ask: (at?: NextPage) => ask(PAGE_ROWS_MAX, at && 'offset' in at ? at.offset : 0),
      rowsOf: (catalog: Catalog) => catalog.services,
      nextOf: (catalog: Catalog) => nextOffset(catalog, catalog.services.length),
    }
    const services = await allRows(pages, ({ id }) => id)
    return { services: [...services], total: services.length, limit: services.length, offset: 0 }
  },
  rows: ({ services }) => services,
  columns,
  view(catalog, io) {
    const { services, total, offset, limit } = catalog
    io.note(`Showing ${services.length} of ${total} services`)
    printGroups(io, columns, grouped(services))
    if (services.length === 0) io.note('nothing matches')
    for (const line of legend(services)) io.note(dim(line))
    if (offset + services.length < total) io.note(`  next page: --page ${offset / limit + 2}`)
    const [first] = services
    if (first) io.note(`  details: ${io.hint(`souk services view ${first.id}`)}`)
  },
})

function legend(services: readonly CatalogListing[]): readonly string[] {
  const isNew = services.some(({ provider_reputation: score }) => typeof score === 'object' && score?.is_new)
  const isPolled = services.some(({ webhook_status: status }) => status === 'polling')
  return [
    ...(isNew ? ['  REP 75n: n stands for new, fewer than 5 rated jobs'] : []),
    ...(isPolled ? [`  HOOK polls: ${hookOf('polling').words}`] : []),
  ]
}
