import { defineCommand } from '../../src/cli/command.ts'
import { usage } from '../../src/cli/exit.ts'
import { DOCUMENT, readObjectFile, unjudged } from '../../src/cli/files/document.ts'
import { exampleOf, exampleOption } from '../../src/cli/files/examples.ts'
import { sending } from '../../src/cli/files/transfer.ts'
import { productOptions } from '../../src/cli/nouns/products.ts'
import * as z from '../../src/cli/params.ts'
import type { SentBody } from '../../src/client/call.ts'
import { compact } from '../../src/core/record.ts'
import { fileWords } from '../../src/nouns/products.ts'
import { bold, cyan, green } from '../../src/text/text.ts'

export const command = defineCommand({
  name: 'products create',
  summary: 'create a product: sell a file',
  description: 'Without --upload it is a draft. Put it up for sale with `souk products edit ID --upload FILE`.',
  args: z.object({}),
  options: z.object({
    file: z
      .string()
      .optional()
      .meta({ short: 'f', description: `${DOCUMENT} of what it says of itself, - for stdin`, value: 'file' }),
    example: exampleOption,
    ...productOptions,
  }),
  examples: [
    'souk products create --example',
    'souk products create --name "A book" --price 5.00 --upload book.pdf',
    'souk products create --name "A map" --price 0.50 --category maps --json',
  ],
  async run(context) {
    const { file, example, upload, ...said } = context.options
    if (example) return { example: exampleOf('product').trimEnd().split('\n') }
    const given = file === undefined ? {} : await readObjectFile(context.io, file, 'the product')
    const body: Readonly<Record<string, unknown>> = { ...given, ...compact(said) }
    if (body['name'] === undefined || body['price'] === undefined) throw usage('A product needs --name and --price.')
    const session = await context.session()
    const sent = upload === undefined ? undefined : sending(context, upload)
    try {
      return await session.call('createProduct', { body: unjudged<SentBody<'createProduct'>>(body), file: sent?.file })
    } finally {
      sent?.done()
    }
  },
  view(product, io) {
    if ('example' in product) {
      for (const line of product.example) io.line(line)
      return
    }
    const state = product.status === 'active' ? 'for sale' : 'is a draft'
    io.line(`${green('✓')} ${bold(product.id)} ${state}   ${product.name}   you get $${product.provider_net_price}`)
    io.line(`  file      ${fileWords(product)}`)
    const next = product.file === null ? `edit ${product.id} --upload FILE` : `view ${product.id}`
    io.note(`  next      ${cyan(io.hint(`souk products ${next}`))}`)
  },
})
