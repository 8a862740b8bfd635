import { productFields } from '../../../src/api/endpoint/list-fields.ts'
import { defineCommand } from '../../../src/cli/command.ts'
import type { Product } from '../../../src/cli/nouns/products.ts'
import { listNote, searchOptions } from '../../../src/cli/nouns/searching.ts'
import { type Column, printRows } from '../../../src/cli/output.ts'
import * as z from '../../../src/cli/params.ts'
import { watchOptions } from '../../../src/cli/run/watched.ts'
import { compact } from '../../../src/core/record.ts'

const PAGE_ROWS_MAX = 100

const columns: readonly Column<Product>[] = [
  { title: 'PRODUCT', value: ({ id }) => id },
  { title: 'NAME', value: ({ name }) => name, flexible: true },
  { title: 'PROVIDER', value: ({ provider_name }) => provider_name, drop: 2 },
  { title: 'STATUS', value: ({ status }) => status },
  {
    title: 'BUYER PAYS',
    value: ({ agent_price }) => `$${agent_price}`,
    plain: ({ agent_price }) => agent_price,
    align: 'right',
  },
  { title: 'SOLD', value: ({ sold }) => sold, align: 'right' },
  { title: 'CATEGORY', value: ({ category }) => category, drop: 1 },
]

export const command = defineCommand({
  name: 'admin products list',
  summary: 'list the products of everybody, narrowed and sorted by any of their fields',
  description: 'Needs the admin key of the instance.',
  args: z.object({}),
  options: z.object({
    ...searchOptions(productFields),
    limit: z.int().min(1).max(PAGE_ROWS_MAX).default(20).meta({ description: 'rows of a page' }),
    page: z.int().min(1).default(1).meta({ description: 'which page' }),
    ...watchOptions,
  }),
  examples: ['souk admin products list', 'souk admin products list --filter "status:draft" --sort -price --json'],
  async run(context) {
    const { limit, page, filter, sort } = context.options
    return (await context.session()).call('listAllProducts', {
      query: { limit: String(limit), offset: String((page - 1) * limit), ...compact({ filter, sort }) },
    })
  },
  rows: ({ products }) => products,
  columns,
  view(page, io) {
    printRows(io, columns, page.products)
    io.note(listNote(page, page.products.length, 'no such product'))
  },
})
