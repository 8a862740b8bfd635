import type { WireAnswer } from '../../src/api/endpoint/define.ts'
import type { Api } from '../../src/api/index.ts'
import { defineCommand } from '../../src/cli/command.ts'
import { type Column, printRows } from '../../src/cli/output.ts'
import * as z from '../../src/cli/params.ts'
import { byteSize } from '../../src/text/text.ts'

const PAGE_ROWS = 20
const PAGE_ROWS_MAX = 100

type Purchase = WireAnswer<Api['listPurchases']>['purchases'][number]

const columns: readonly Column<Purchase>[] = [
  { title: 'ID', value: ({ id }) => id },
  { title: 'PRODUCT', value: ({ product_id }) => product_id, drop: 2 },
  { title: 'NAME', value: ({ product_name }) => product_name, flexible: true },
  { title: 'FILE', value: ({ file }) => file.name, flexible: true, drop: 3 },
  {
    title: 'SIZE',
    value: ({ file }) => byteSize(file.size_bytes),
    plain: ({ file }) => file.size_bytes,
    align: 'right',
    drop: 4,
  },
  { title: 'PAID', value: ({ amount }) => `$${amount}`, plain: ({ amount }) => amount, align: 'right' },
  { title: 'WHEN', value: ({ created_at }) => created_at, drop: 1 },
]

export const command = defineCommand({
  name: 'purchases list',
  summary: 'list products that you bought',
  args: z.object({}),
  options: z.object({
    limit: z.int().min(1).max(PAGE_ROWS_MAX).default(PAGE_ROWS).meta({ description: 'rows per page' }),
    page: z.int().min(1).default(1).meta({ description: 'page number' }),
  }),
  examples: ['souk purchases list', 'souk purchases list --json --fields product_id,amount'],
  async run(context) {
    const { limit, page } = context.options
    const session = await context.session()
    return session.call('listPurchases', { query: { limit: String(limit), offset: String((page - 1) * limit) } })
  },
  rows: ({ purchases }) => purchases,
  columns,
  view({ purchases, total, offset, limit }, io) {
    io.note(`Showing ${purchases.length} of ${total} purchases`)
    printRows(io, columns, purchases)
    if (offset + purchases.length < total) io.note(`  next page: --page ${offset / limit + 2}`)
    const [first] = purchases
    if (first) io.note(`  download: ${io.hint(`souk products download ${first.product_id}`)}`)
  },
})
