import { defineCommand } from '../../src/cli/command.ts'
import { productArg } from '../../src/cli/nouns/products.ts'
import { green } from '../../src/text/text.ts'

export const command = defineCommand({
  name: 'products delete',
  summary: 'delete a product; buyers keep their files',
  description: 'Asks for confirmation; skip it with --yes.',
  args: productArg,
  examples: [
    'souk products delete prod_0123456789abcdef --yes',
    'souk products delete prod_0123456789abcdef --yes --json',
  ],
  prints: 'deleteProduct',
  async run(context) {
    const { product: id } = context.args
    const session = await context.session()
    await context.io.confirm(`Delete ${id}? It cannot be sold again.`)
    return session.call('deleteProduct', { params: { id } })
  },
  view: ({ product_id }, io) => io.line(`${green('✓')} ${product_id} deleted`),
})
