import { listCommand } from '../../src/cli/nouns/lists.ts'
import * as column from '../../src/nouns/columns.ts'
import { listing, rowsOf } from '../../src/nouns/noun.ts'
import { byteSize } from '../../src/text/text.ts'

const purchases = listing({
  list: 'listPurchases',
  rows: 'purchases',
  none: 'no purchases yet',
  columns: [
    column.id('ID', ({ id: own }) => own),
    column.word('PRODUCT', ({ product_id }) => product_id, { drop: 2 }),
    column.name('NAME', ({ product_name }) => product_name),
    column.name('FILE', ({ file }) => file.name, { drop: 3 }),
    column.count('SIZE', ({ file }) => byteSize(file.size_bytes), { plain: ({ file }) => file.size_bytes, drop: 4 }),
    column.money('PAID', ({ amount }) => `$${amount}`, { plain: ({ amount }) => amount }),
    column.time('WHEN', ({ created_at }) => created_at, { drop: 1 }),
  ],
})

export const command = listCommand(purchases, {
  name: 'purchases list',
  summary: 'list products that you bought',
  examples: ['souk purchases list', 'souk purchases list --json --fields product_id,amount'],
  note(page, io) {
    const [first] = rowsOf<{ readonly product_id: string }>(page)
    if (first) io.note(`  download: ${io.hint(`souk products download ${first.product_id}`)}`)
  },
})
