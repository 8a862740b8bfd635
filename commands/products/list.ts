import { listCommand } from '../../src/cli/nouns/lists.ts'
import * as z from '../../src/cli/params.ts'
import { rowsOf } from '../../src/nouns/noun.ts'
import { type Product, product } from '../../src/nouns/products.ts'

export const command = listCommand(product, {
  name: 'products list',
  summary: 'browse digital products',
  list: 'listProducts',
  options: {
    search: z.string().optional().meta({ short: 's', description: 'search words', value: 'words' }),
    category: z.string().optional().meta({ description: 'only of this category', value: 'name' }),
    provider: z.string().optional().meta({ description: 'only of this provider', value: 'id' }),
    mine: z.boolean().default(false).meta({ description: 'your own products, including drafts and withdrawn ones' }),
  },
  examples: [
    'souk products list',
    'souk products list -s book --json --fields id,agent_price',
    'souk products list --mine',
  ],
  note(page, io) {
    const [first] = rowsOf<Product>(page)
    if (first) io.note(`  details: ${io.hint(`souk products view ${first.id}`)}`)
  },
})
