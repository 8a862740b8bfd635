import { defineCommand } from '../../src/cli/command.ts'
import { showNoun } from '../../src/cli/nouns/lists.ts'
import { productArg, readProduct } from '../../src/cli/nouns/products.ts'
import { product } from '../../src/nouns/products.ts'

export const command = defineCommand({
  name: 'products view',
  summary: 'show a product: description, price, file',
  args: productArg,
  examples: ['souk products view prod_0123456789abcdef', 'souk products view prod_0123456789abcdef --json'],
  prints: 'getProduct',
  run: async (context) => readProduct(await context.session(), context.args.product),
  view: (row, io) => showNoun(product, row, io),
})
