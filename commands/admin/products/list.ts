import { productFields } from '../../../src/api/endpoint/list-fields.ts'
import { listCommand } from '../../../src/cli/nouns/lists.ts'
import { searchOptions } from '../../../src/cli/nouns/search-options.ts'
import { product } from '../../../src/nouns/products.ts'

export const command = listCommand(product, {
  name: 'admin products list',
  search: searchOptions(productFields),
  summary: 'list all products; filter and sort by any field',
  examples: ['souk admin products list', 'souk admin products list --filter "status:draft" --sort -price --json'],
})
