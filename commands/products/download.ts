import { defineCommand } from '../../src/cli/command.ts'
import { downloadProduct, outputOption, productArg } from '../../src/cli/nouns/products.ts'
import * as z from '../../src/cli/params.ts'
import { byteSize, green } from '../../src/text/text.ts'

export const command = defineCommand({
  name: 'products download',
  summary: 'download a product that you bought or sell',
  description: 'The file is checked against its hash. A damaged file is deleted.',
  args: productArg,
  options: z.object({ output: outputOption }),
  examples: [
    'souk products download prod_0123456789abcdef -o ./downloads --yes',
    'souk products download prod_0123456789abcdef -o ./downloads --yes --json',
  ],
  async run(context) {
    const { product: id } = context.args
    const { output } = context.options
    const session = await context.session()
    return { product_id: id, ...(await downloadProduct(context, session, { id, output })) }
  },
  view({ file, size_bytes }, io) {
    if (file !== null) io.line(`${green('✓')} saved ${io.path(file)}   ${byteSize(size_bytes)}   sha-256 is right`)
  },
})
