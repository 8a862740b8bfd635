import { defineCommand } from '../../src/cli/command.ts'
import { usage } from '../../src/cli/exit.ts'
import { sending } from '../../src/cli/files/transfer.ts'
import { productArg, productOptions } from '../../src/cli/nouns/products.ts'
import * as z from '../../src/cli/params.ts'
import { compact } from '../../src/core/record.ts'
import { fileWords } from '../../src/nouns/products.ts'
import { green } from '../../src/text/text.ts'

export const command = defineCommand({
  name: 'products edit',
  summary: 'edit a product, or put a draft up for sale',
  description: 'The file of a product for sale cannot be changed.',
  args: productArg,
  options: z.object({
    ...productOptions,
    status: z.enum(['active', 'inactive']).optional().meta({ description: 'put up for sale or withdraw' }),
  }),
  examples: [
    'souk products edit prod_0123456789abcdef --price 6.00',
    'souk products edit prod_0123456789abcdef --status inactive --json',
  ],
  prints: 'updateProduct',
  async run(context) {
    const { upload, ...changes } = context.options
    const body = compact(changes)
    if (upload === undefined && Object.keys(body).length === 0) throw usage('Say what changes: --price, --upload, …')
    const session = await context.session()
    const sent = upload === undefined ? undefined : sending(context, upload)
    try {
      return await session.call('updateProduct', { params: { id: context.args.product }, body, file: sent?.file })
    } finally {
      sent?.done()
    }
  },
  view: (product, io) =>
    io.line(
      `${green('✓')} ${product.id} ${product.status}   ${product.name}   buyers pay $${product.agent_price}   ${fileWords(product)}`,
    ),
})
