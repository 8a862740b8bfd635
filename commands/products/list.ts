import { defineCommand } from '../../src/cli/command.ts'
import type { Product } from '../../src/cli/nouns/products.ts'
import { type Column, printRows } from '../../src/cli/output.ts'
import * as z from '../../src/cli/params.ts'
import { compact } from '../../src/core/record.ts'
import { byteSize } from '../../src/text/text.ts'

const PAGE_ROWS = 20
const PAGE_ROWS_MAX = 100

const columns: readonly Column<Product>[] = [
  { title: 'ID', value: ({ id }) => id },
  { title: 'NAME', value: ({ name }) => name, flexible: true },
  { title: 'CATEGORY', value: ({ category }) => category, flexible: true, drop: 3 },
  { title: 'STATUS', value: ({ status }) => status, drop: 1 },
  {
    title: 'YOU PAY',
    value: ({ agent_price }) => `$${agent_price}`,
    plain: ({ agent_price }) => agent_price,
    align: 'right',
  },
  {
    title: 'SIZE',
    value: ({ file }) => file && byteSize(file.size_bytes),
    plain: ({ file }) => file?.size_bytes,
    align: 'right',
    drop: 2,
  },
  { title: 'SOLD', value: ({ sold }) => sold, align: 'right', drop: 4 },
]

export const command = defineCommand({
  name: 'products list',
  summary: 'browse digital products',
  args: z.object({}),
  options: z.object({
    search: z.string().optional().meta({ short: 's', description: 'search words', value: 'words' }),
    category: z.string().optional().meta({ description: 'only of this category', value: 'name' }),
    provider: z.string().optional().meta({ description: 'only of this provider', value: 'id' }),
    mine: z.boolean().default(false).meta({ description: 'your own products, including drafts and withdrawn ones' }),
    limit: z.int().min(1).max(PAGE_ROWS_MAX).default(PAGE_ROWS).meta({ description: 'rows per page' }),
    page: z.int().min(1).default(1).meta({ description: 'page number' }),
  }),
  examples: [
    'souk products list',
    'souk products list -s book --json --fields id,agent_price',
    'souk products list --mine',
  ],
  async run(context) {
    const { search, category, provider, mine, limit, page } = context.options
    const session = await context.session()
    return session.call('listProducts', {
      query: compact({
        q: search,
        category,
        provider,
        mine: mine ? ('true' as const) : undefined,
        limit: String(limit),
        offset: String((page - 1) * limit),
      }),
      headers: mine ? await session.ownHeaders() : {},
    })
  },
  rows: ({ products }) => products,
  columns,
  view({ products, total, offset, limit }, io) {
    io.note(`Showing ${products.length} of ${total} products`)
    printRows(io, columns, products)
    if (products.length === 0) io.note('nothing matches')
    if (offset + products.length < total) io.note(`  next page: --page ${offset / limit + 2}`)
    const [first] = products
    if (first) io.note(`  details: ${io.hint(`souk products view ${first.id}`)}`)
  },
})
