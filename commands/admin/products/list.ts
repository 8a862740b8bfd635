import { productFields } from '../../../src/api/endpoint/list-fields.ts'
import { defineCommand } from '../../../src/cli/command.ts'
import type { Product } from '../../../src/cli/nouns/products.ts'
import { listNote, searchedPage, searchedPageOptions } from '../../../src/cli/nouns/searching.ts'
import { type Column, printRows } from '../../../src/cli/output.ts'
import * as z from '../../../src/cli/params.ts'

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
  summary: 'list all products; filter and sort by any field',
  description: 'Needs the admin key of the instance.',
  args: z.object({}),
  options: z.object({
    ...searchedPageOptions(productFields),
  }),
  examples: ['souk admin products list', 'souk admin products list --filter "status:draft" --sort -price --json'],
  async run(context) {
    return (await context.session()).call('listAllProducts', { query: searchedPage(context.options) })
  },
  rows: ({ products }) => products,
  columns,
  view(page, io) {
    printRows(io, columns, page.products)
    io.note(listNote(page, page.products.length, 'no such product'))
  },
})
