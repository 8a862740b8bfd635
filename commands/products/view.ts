import { defineCommand } from '../../src/cli/command.ts'
import { fileWords, productArg, readProduct } from '../../src/cli/nouns/products.ts'
import * as z from '../../src/cli/params.ts'
import { bold, cyan } from '../../src/text/text.ts'

export const command = defineCommand({
  name: 'products view',
  summary: 'show a product: description, price, file',
  args: productArg,
  options: z.object({}),
  examples: ['souk products view prod_0123456789abcdef', 'souk products view prod_0123456789abcdef --json'],
  async run(context) {
    return readProduct(await context.session(), context.args.product)
  },
  view(product, io) {
    io.line(`${bold(product.name)}   ${product.product_id}   ${product.status}`)
    if (product.description !== '') io.line(product.description)
    io.line(`  by        ${product.provider_name}   ${product.provider_id}`)
    io.line(`  category  ${product.category}`)
    io.line(`  you pay   $${product.agent_price}   the provider gets $${product.provider_net_price}`)
    io.line(`  file      ${fileWords(product)}`)
    if (product.file) io.line(`  sha-256   ${product.file.sha256}`)
    io.line(`  sold      ${product.sold}`)
    if (product.status === 'active') io.note(`  next      ${cyan(io.hint(`souk products buy ${product.product_id}`))}`)
  },
})
